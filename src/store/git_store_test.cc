// What the store on a git remote makes of a remote that turns its changes down, is not there, or is
// not as it was; on whichever layout.
#include "store/git_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "git/branch_files.h"
#include "store/log_line.h"
#include "testing/fake_clock.h"
#include "testing/git_site.h"
#include "testing/local_site.h"
#include "testing/seeded_random.h"

namespace dibs {
namespace {

Transaction too_long_a_change(Random& random) {
  Transaction large{.nonce = random.nonce()};
  for (int i = 0; i < 20; ++i)
    large.writes.push_back(
        {.key = {"item:" + std::to_string(i)}, .value = '"' + std::string(60'000, 'v') + '"'});
  return large;
}

using Words = std::vector<std::string>;

bool is_call(const ProgramCall& call, const std::string& subcommand) {
  return std::ranges::find(call.command, subcommand) != call.command.end();
}

class RemoteTrouble : public testing::Test {
 protected:
  explicit RemoteTrouble(const std::string& layout = "refs") : site_("sha1", layout) {
    (void)clock_.now();
  }

  std::unique_ptr<GitStore> open(const std::string& clone) { return site_.open(clone, &clock_); }
  Result<Outcome> write(GitStore& store, const std::string& key,
                        const std::optional<std::string>& value) {
    return put(store, random_, key, value);
  }
  std::string on_remote(const Words& arguments) {
    return std::string(
        trim(site_.git()
                 .output_of({.git_dir = site_.remote(), .arguments = arguments, .input = {}},
                            ErrorKind::internal)
                 .value_or("")));
  }
  void set_on_remote(const std::string& ref, const std::string& commit) {
    ASSERT_TRUE(run_git(site_.remote(), {"update-ref", ref, commit}));
  }
  // A commit of the remote's with this message.
  std::string commit_saying(const std::string& message) {
    const std::string tree = on_remote({"hash-object", "-t", "tree", "-w", "/dev/null"});
    write_bytes(site_.remote() + "/message", message);
    EXPECT_TRUE(run_git(site_.remote(), {"update-ref", "refs/made", tree}));
    const Result<std::string> commit = site_.git().output_of(
        {.git_dir = site_.remote(),
         .arguments = {"commit-tree", tree, "-F", site_.remote() + "/message"},
         .input = {},
         .environment = {"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a",
                         "GIT_COMMITTER_EMAIL=a"}},
        ErrorKind::internal);
    EXPECT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/made"}));
    return std::string(trim(commit.value_or("")));
  }
  void refuse_everything() {
    const std::string hook = site_.remote() + "/hooks/pre-receive";
    ASSERT_TRUE(run_git(site_.remote(), {"config", "core.hooksPath", site_.remote() + "/hooks"}));
    ASSERT_TRUE(site_.files().make_directory(site_.remote() + "/hooks", 0755));
    write_bytes(hook, "#!/bin/sh\nexit 1\n");
    ASSERT_TRUE(site_.files().change_mode(hook, 0755));
  }
  // Answers every push with what a remote may say about the ref of item:1.
  void answer_pushes(const std::string& summary) {
    site_.programs().before_each(
        [this, summary](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
          if (!is_call(call, "push")) return std::nullopt;
          ++pushes_;
          ProgramEnd end{.exit_code = 1, .out = "To somewhere\n", .err = "error: failed to push\n"};
          for (const std::string& word : call.command) {
            if (contains(word, ":refs/") && !word.starts_with("--"))
              end.out += "!\t" + word + "\t" + summary + "\n";
          }
          return end;
        });
  }
  static ErrorKind kind(const Result<Outcome>& outcome) {
    EXPECT_FALSE(outcome);
    return outcome ? ErrorKind::internal : outcome.error().kind;
  }

  FakeClock clock_;
  GitSite site_;
  SeededRandom random_{7};
  int pushes_ = 0;
};

TEST_F(RemoteTrouble, ARemoteThatRefusesIsSaidToRefuse) {
  const auto store = open("one");
  refuse_everything();
  EXPECT_EQ(kind(write(*store, "item:1", "1")), ErrorKind::refused);
  const std::vector<Finding> findings = store->inspect();
  EXPECT_FALSE(findings.empty());
}

TEST_F(RemoteTrouble, ARemoteThatLetsNobodyInIsUnreachableAndNothingHappened) {
  const auto store = open("one");
  site_.programs().before_each([](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
    if (!is_call(call, "push")) return std::nullopt;
    return ProgramEnd{.exit_code = 128, .err = "fatal: Authentication failed for 'x'\n"};
  });
  EXPECT_EQ(kind(write(*store, "item:1", "1")), ErrorKind::unreachable);
  site_.programs().before_each({});
  EXPECT_TRUE(contents_of(*open("two"))->empty());
}

TEST_F(RemoteTrouble, ARemoteThatCannotKeepWhatItIsSentIsTriedSomeTimesAndThenUnreachable) {
  const auto store = open("one");
  answer_pushes("[remote rejected] (unpacker error)");
  EXPECT_EQ(kind(write(*store, "item:1", "1")), ErrorKind::unreachable);
  EXPECT_EQ(pushes_, 5);
}

TEST_F(RemoteTrouble, ALockThatSomebodyLeftIsNamedWithItsRemedy) {
  const auto store = open("one");
  answer_pushes("[remote rejected] (cannot lock ref: Unable to create '/x.lock': File exists.)");
  const Result<Outcome> outcome = write(*store, "item:1", "1");
  ASSERT_EQ(kind(outcome), ErrorKind::contended);
  EXPECT_TRUE(contains(outcome.error().hint, "remove it on the remote")) << outcome.error().hint;
  EXPECT_LT(pushes_, 20) << "nobody moved anything meanwhile";
}

TEST_F(RemoteTrouble, WhoeverIsAlwaysTooLateHearsSoInTheEnd) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  const std::string first = on_remote({"rev-parse", "refs/dibs/r/item_3a1"});
  ASSERT_TRUE(is_committed(write(*store, "item:1", "2")));
  const std::string second = on_remote({"rev-parse", "refs/dibs/r/item_3a1"});
  site_.programs().before_each([&](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
    if (is_call(call, "push"))
      set_on_remote("refs/dibs/r/item_3a1", ++pushes_ % 2 == 0 ? second : first);
    return std::nullopt;
  });
  const Result<Outcome> outcome = write(*store, "item:1", "3");
  ASSERT_EQ(kind(outcome), ErrorKind::contended);
  EXPECT_GT(pushes_, 50);
  EXPECT_EQ(outcome.error().hint, "run the command again");
}

// --- refs of the user's that move along ---

TEST_F(RemoteTrouble, ABranchThatIsElsewhereIsSaidAndALostRaceCountsForMore) {
  const auto store = open("one");
  const auto other = open("two");
  const std::string clone = site_.clone("one");
  for (const char* branch : {"main", "work"}) {
    ASSERT_TRUE(run_git(clone, {"commit", "--quiet", "--allow-empty", "-m", branch}));
    ASSERT_TRUE(
        run_git(clone, {"push", "--quiet", "origin", std::string("HEAD:refs/heads/") + branch}));
  }
  const std::string work = on_remote({"rev-parse", "refs/heads/work"});
  const auto landing = [&](const std::optional<Version>& seen) {
    Transaction transaction = writing(random_, "item:1", "landed");
    transaction.expectations = {{.key = {"item:1"}, .version = seen}};
    transaction.refs = {{.name = "refs/heads/main", .from = "", .to = work}};
    return transaction;
  };
  const Result<Outcome> elsewhere = store->commit(landing(std::nullopt));
  ASSERT_TRUE(elsewhere);
  EXPECT_TRUE(std::holds_alternative<RefsMoved>(*elsewhere));
  ASSERT_TRUE(is_committed(put(*other, random_, "item:1", "theirs")));
  const Result<Outcome> race = store->commit(landing(std::nullopt));
  ASSERT_TRUE(race);
  EXPECT_TRUE(std::holds_alternative<LostRace>(*race));
  const Result<View> now = store->read(Selection::of({{"item:1"}}));
  ASSERT_TRUE(now && now->records.size() == 1U);
  site_.programs().before_each([&](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
    if (pushes_ > 0) return fail(ErrorKind::internal, "git cannot be started");
    if (is_call(call, "push")) ++pushes_;
    return std::nullopt;
  });
  EXPECT_FALSE(store->commit(landing(now->records[0].version))) << "which of the two is not known";
}

// --- numbers ---

TEST_F(RemoteTrouble, TheFileOfTheHighestNumberDoesNotGrowForEver) {
  const auto store = open("one");
  const std::string path = site_.memory_of("one") + "/dibs-highest";
  write_bytes(path, std::string(5000, '\n') + "41\n");
  const Result<Outcome> outcome = write(*store, "item:1", "1");
  ASSERT_TRUE(is_committed(outcome));
  EXPECT_EQ(std::get<Committed>(*outcome).fence, Fence{42});
  EXPECT_LT(read_bytes(path).size(), 100U);
}

TEST_F(RemoteTrouble, ALedgerThatNobodyUnderstandsStopsEveryoneAndOneThatIsLostNobody) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  const std::string ledger = on_remote({"rev-parse", "refs/dibs/ledger"});
  set_on_remote("refs/dibs/ledger", commit_saying("whatever"));
  ASSERT_FALSE(contents_of(*open("one")) && is_committed(write(*open("one"), "item:2", "1")));
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/dibs/ledger"}));
  EXPECT_EQ(contents_of(*open("one"))->size(), 1U);
  EXPECT_EQ(open("one")->tidy(), 0U) << "without one nothing is put away";
  EXPECT_TRUE(is_committed(write(*open("one"), "item:2", "1")));
}

TEST_F(RemoteTrouble, WhatIsKeptOfTheLedgerIsAskedForAgainWhenItCannotBeRead) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  const std::string kept = site_.memory_of("one") + "/dibs-ledger";
  write_bytes(kept, on_remote({"rev-parse", "refs/dibs/ledger"}) + " x");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "2")));
  EXPECT_FALSE(read_bytes(kept).ends_with("x"));
}

TEST_F(RemoteTrouble, ALedgerThatGoesWhileItIsLookedUpIsNotTakenForNone) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  const std::string memory = site_.memory_of("one");
  write_bytes(memory + "/dibs-ledger", "");
  bool went = false;
  site_.files().before_each([&](const std::string& path) {
    if (path == memory + "/dibs-ledger" && !went)
      went = run_git(memory, {"update-ref", "-d", "refs/dibs/ledger"});
    return Done{};
  });
  EXPECT_FALSE(is_committed(write(*store, "item:1", "2")));
  EXPECT_TRUE(went);
}

TEST_F(RemoteTrouble, PutsAwaySoManyAtOnceAndTheRestNextTime) {
  const auto store = open("one");
  for (int batch = 0; batch < 7; ++batch) {
    Transaction removals{.nonce = random_.nonce()};
    for (int i = 0; i < 64; ++i)
      removals.writes.push_back(
          {.key = {"item:" + std::to_string(64 * batch + i)}, .value = std::nullopt});
    ASSERT_TRUE(is_committed(store->commit(removals)));
  }
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/dibs/r/item_3a0"}));
  clock_.advance_ms(20LL * 60'000);
  EXPECT_EQ(store->tidy(), 400U);
  EXPECT_EQ(store->tidy(), 47U) << "and not the one that the remote has lost";
}

TEST_F(RemoteTrouble, WhatCannotBeWrittenDownIsNotPutAway) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", std::nullopt)));
  clock_.advance_ms(20LL * 60'000);
  const std::string memory = site_.memory_of("one");
  site_.files().before_each([&](const std::string& path) {
    const bool is_object = path.starts_with(memory) && contains(path, "/objects/");
    return is_object ? Done(fail(ErrorKind::internal, "no space left")) : Done{};
  });
  EXPECT_FALSE(store->tidy());
  site_.files().before_each({});
  EXPECT_EQ(store->tidy(), 1U);
}

TEST_F(RemoteTrouble, WhoeverAsksForAllIsNotAnsweredFromAnOldLook) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*open("two"), "item:1", "1")));
  Selection all = Selection::everything();
  all.last_look_will_do = true;
  const Result<View> view = store->read(all);
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->last_look);
  EXPECT_EQ(view->records.size(), 1U);
}

// --- what others put there ---

TEST_F(RemoteTrouble, VeryManyRefsThatSayNothingAreCountedAndHideNothing) {
  ASSERT_TRUE(is_committed(write(*open("one"), "item:1", "1")));
  const std::string commit = commit_saying("whatever");
  std::string commands;
  for (int i = 0; i < 520; ++i)
    commands += "create refs/dibs/r/strange" + std::to_string(i) + " " + commit + "\n";
  ASSERT_TRUE(site_.git().output_of(
      {.git_dir = site_.remote(), .arguments = {"update-ref", "--stdin"}, .input = commands},
      ErrorKind::internal));
  std::vector<std::string> notices;
  const auto store = GitStore::open(site_.parts_with(clock_), site_.place_in("one"),
                                    [&](const std::string& notice) { notices.push_back(notice); });
  ASSERT_TRUE(store);
  EXPECT_EQ(contents_of(**store)->size(), 1U);
  EXPECT_LT(notices.size(), 30U);
  EXPECT_TRUE(contains(notices.back(), "more like that"));
  // Every so often a change also puts away what is not needed, where there are many.
  write_bytes(site_.memory_of("one") + "/dibs-highest", "31\n");
  const Result<Outcome> outcome = write(**store, "item:2", "1");
  ASSERT_TRUE(is_committed(outcome));
  EXPECT_EQ(std::get<Committed>(*outcome).fence.value % 32, 0U);
}

TEST_F(RemoteTrouble, ARefThatIsDamagedOrAnothersIsNeverFree) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  set_on_remote("refs/dibs/r/item_3a2", on_remote({"rev-parse", "refs/dibs/r/item_3a1"}));
  std::string line = encode_line({}, {.writes = {{.key = {"item:3"}, .value = "1"}}});
  line[line.find("item:3")] = 'I';
  set_on_remote("refs/dibs/r/item_3a3", commit_saying(line));
  for (const char* key : {"item:2", "item:3"})
    EXPECT_EQ(store->read(Selection::of({{key}})).error().kind, ErrorKind::unreachable) << key;
  EXPECT_EQ(contents_of(*store)->size(), 1U);
}

TEST_F(RemoteTrouble, ARefThatTheRemoteHasLostIsReported) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  ASSERT_TRUE(is_committed(write(*store, "item:2", "1")));
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/dibs/r/item_3a1"}));
  const std::vector<Finding> findings = store->inspect();
  EXPECT_TRUE(std::ranges::any_of(
      findings, [](const Finding& finding) { return contains(finding.what, "ref of item:1"); }));
}

TEST_F(RemoteTrouble, AChangeThatIsTooLongIsRefused) {
  const auto store = open("one");
  EXPECT_EQ(kind(store->commit(too_long_a_change(random_))), ErrorKind::refused);
}

TEST_F(RemoteTrouble, WhatIsOnlyExpectedNotToBeThereIsCompared) {
  const auto store = open("one");
  const auto other = open("two");
  ASSERT_TRUE(is_committed(write(*store, "item:2", "1")));
  ASSERT_TRUE(is_committed(write(*store, "item:2", std::nullopt)));
  Transaction claim = writing(random_, "item:1", "1");
  claim.expectations = {{.key = {"item:1"}, .version = std::nullopt},
                        {.key = {"item:2"}, .version = std::nullopt},
                        {.key = {"item:3"}, .version = std::nullopt}};
  ASSERT_TRUE(is_committed(put(*other, random_, "item:3", "theirs")));
  EXPECT_FALSE(is_committed(store->commit(claim)));
  ASSERT_TRUE(is_committed(put(*other, random_, "item:3", std::nullopt)));
  EXPECT_TRUE(is_committed(store->commit(claim)));
}

// --- following others ---

TEST_F(RemoteTrouble, AWaitEndsWhenSomethingComesThatHasNoHigherNumber) {
  const auto store = open("one");
  ASSERT_TRUE(contents_of(*store));
  ASSERT_TRUE(is_committed(write(*open("two"), "item:1", "1")));
  EXPECT_LT(store->wait(Cursor{1'000}, 60'000)->seq, 1'000U);
  EXPECT_EQ(clock_.slept_ms(), 0);
}

TEST_F(RemoteTrouble, HistoryLeavesForTheNextTimeWhatCameWhileItWasRead) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  const auto beside = open("one");
  bool came = false;
  site_.programs().before_each([&](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
    if (is_call(call, "log") && !came) {
      came = true;
      EXPECT_TRUE(is_committed(write(*beside, "item:2", "1")));
    }
    return std::nullopt;
  });
  const Result<History> history = store->history({});
  ASSERT_TRUE(history);
  EXPECT_EQ(history->events.size(), 1U);
  EXPECT_EQ(store->history({.since = history->cursor})->events.size(), 1U);
}

// --- setting up ---

TEST_F(RemoteTrouble, SettingUpNamesWhatIsWrong) {
  const GitStorePlace place = site_.place_in("new");
  const auto kind_of = [&](const GitStorePlace& other) {
    const Done made = GitStore::create(site_.parts_with(clock_), other);
    return made ? ErrorKind::internal : made.error().kind;
  };
  GitStorePlace wrong = place;
  wrong.remote = "nowhere";
  EXPECT_EQ(kind_of(wrong), ErrorKind::not_set_up);
  for (const char* prefix : {"dibs/", "refs/dibs"}) {
    wrong = place;
    wrong.prefix = prefix;
    EXPECT_EQ(kind_of(wrong), ErrorKind::usage) << prefix;
  }
  wrong = place;
  wrong.layout = kLockBranch;
  wrong.lock_branch = "a..b";
  EXPECT_EQ(kind_of(wrong), ErrorKind::usage);
}

TEST_F(RemoteTrouble, SettingUpOnARemoteThatRefusesSaysWhatMayHelp) {
  refuse_everything();
  GitStorePlace place = site_.place_in("new");
  const Done refs = GitStore::create(site_.parts_with(clock_), place);
  ASSERT_FALSE(refs);
  EXPECT_TRUE(contains(refs.error().hint, "store.ref_prefix")) << refs.error().hint;
  place.layout = kLockBranch;
  const Done branch = GitStore::create(site_.parts_with(clock_), place);
  ASSERT_FALSE(branch);
  EXPECT_FALSE(contains(branch.error().hint, "store.ref_prefix")) << branch.error().hint;
}

TEST_F(RemoteTrouble, SettingUpOnARemoteThatIsNotThereOrDoesNotAnswerIsUnreachable) {
  for (const std::string& said : {std::string("fatal: Authentication failed for 'x'\n"),
                                  std::string("fatal: the remote end hung up\n")}) {
    site_.programs().before_each([&](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
      if (!is_call(call, "push")) return std::nullopt;
      return ProgramEnd{.exit_code = 128, .err = said};
    });
    const Done made = GitStore::create(site_.parts_with(clock_), site_.place_in("new"));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::unreachable);
  }
}

TEST_F(RemoteTrouble, OfTwoWhoSetUpAtOnceBothSucceed) {
  bool began = false;
  site_.programs().before_each([&](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
    if (!is_call(call, "push") || std::exchange(began, true)) return std::nullopt;
    EXPECT_TRUE(GitStore::create(site_.parts_with(clock_), site_.place_in("other")));
    return std::nullopt;
  });
  EXPECT_TRUE(GitStore::create(site_.parts_with(clock_), site_.place_in("new")));
  EXPECT_TRUE(is_committed(write(*open("new"), "item:1", "1")));
}

TEST_F(RemoteTrouble, WhoSetsUpAndCannotSeeWhatAnotherBeganSaysSo) {
  enum { before, meanwhile, after } stage = before;
  site_.programs().before_each([&](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
    if (stage == after) return fail(ErrorKind::internal, "git cannot be started");
    if (stage == before && is_call(call, "push")) {
      stage = meanwhile;
      EXPECT_TRUE(GitStore::create(site_.parts_with(clock_), site_.place_in("other")));
      const Result<ProgramEnd> end = PosixPrograms().run(call);
      stage = after;
      return end;
    }
    return std::nullopt;
  });
  EXPECT_FALSE(GitStore::create(site_.parts_with(clock_), site_.place_in("new")));
}

TEST_F(RemoteTrouble, ARepositoryHasRemotesUnlessGitSaysThatThereIsNone) {
  const std::string common_dir = site_.clone("one") + "/.git";
  EXPECT_TRUE(GitStore::has_remotes(site_.git(), common_dir));
  ASSERT_TRUE(run_git(site_.clone("one"), {"remote", "remove", "origin"}));
  EXPECT_FALSE(GitStore::has_remotes(site_.git(), common_dir));
  EXPECT_TRUE(GitStore::has_remotes(site_.git(), common_dir + "/nowhere"));
  for (const Result<ProgramEnd>& answer :
       {Result<ProgramEnd>(ProgramEnd{.exit_code = 128}),
        Result<ProgramEnd>(fail(ErrorKind::internal, "git cannot be started"))}) {
    site_.programs().before_each([&](const ProgramCall&) { return std::optional(answer); });
    EXPECT_TRUE(GitStore::has_remotes(site_.git(), common_dir));
  }
}

// --- the layout on one branch ---

class BranchTrouble : public RemoteTrouble {
 protected:
  BranchTrouble() : RemoteTrouble("lock-branch") {}

  std::string tip() { return on_remote({"rev-parse", kBranch}); }
  void changed(std::vector<FileChange> changes, const std::string& message = "ait: a lock") {
    const Result<std::string> commit = files_.write(
        {.parent = tip(), .changes = std::move(changes), .message = message, .unix_ms = 0});
    ASSERT_TRUE(commit);
    set_on_remote(kBranch, *commit);
  }

  const std::string kBranch = "refs/heads/aitask-locks";
  BranchFiles files_{site_.git(), site_.remote()};
};

TEST_F(BranchTrouble, NumbersInMessagesThatAreNotOursAreNotTakenUp) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  changed({{"dibs", std::nullopt}}, R"({"schema_version":1,"seq":0,"crc":"00000000"})");
  changed({{"x", "1"}}, R"({"schema_version":1,"seq":18446744073709551615,"crc":"00000000"})");
  changed({{"x", "2"}}, R"({"schema_version":1,"seq":77,"crc":"00000000"})");
  const Result<Outcome> outcome = write(*open("two"), "item:2", "1");
  ASSERT_TRUE(is_committed(outcome));
  EXPECT_EQ(std::get<Committed>(*outcome).fence, Fence{2});
}

TEST_F(BranchTrouble, WhatIsNoFileIsNeverFree) {
  const auto store = open("one");
  changed({{"t42_lock.yaml/x", "a folder"}});
  EXPECT_EQ(store->read(Selection::of({{"item:42"}})).error().kind, ErrorKind::unreachable);
  EXPECT_TRUE(contents_of(*store));
}

TEST_F(BranchTrouble, VeryManyFilesAreReadAndThoseThatSayNothingCounted) {
  std::vector<FileChange> many;
  for (int i = 0; i < 4200; ++i)
    many.push_back({"t" + std::to_string(i) + "_lock.yaml", "nothing " + std::to_string(i)});
  (void)open("one");
  changed(std::move(many));
  std::vector<std::string> notices;
  const auto store = GitStore::open(site_.parts_with(clock_), site_.place_in("one"),
                                    [&](const std::string& notice) { notices.push_back(notice); });
  ASSERT_TRUE(store);
  EXPECT_TRUE(contents_of(**store)->empty());
  EXPECT_LT(notices.size(), 30U);
  EXPECT_TRUE(contains(notices.back(), "more like that"));
  changed({{"t1_lock.yaml", std::nullopt}});
  EXPECT_TRUE(contents_of(**store)->empty()) << "read again, with what was kept";
  EXPECT_GT((*store)->inspect().size(), 20U);
}

TEST_F(BranchTrouble, ABranchThatTheRemoteHasLostIsReportedAndBroughtBackBySettingUp) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", kBranch}));
  const std::vector<Finding> findings = store->inspect();
  EXPECT_TRUE(std::ranges::any_of(
      findings, [](const Finding& finding) { return contains(finding.what, "has lost"); }));
  ASSERT_TRUE(GitStore::create(site_.parts_with(clock_), site_.place_in("one")));
  EXPECT_EQ(contents_of(*open("two"))->size(), 1U);
}

TEST_F(BranchTrouble, AChangeThatIsTooLongIsRefused) {
  const auto store = open("one");
  EXPECT_EQ(kind(store->commit(too_long_a_change(random_))), ErrorKind::refused);
}

TEST_F(BranchTrouble, WhereNobodySetUpTheFirstClaimBeginsTheBranch) {
  const GitStorePlace place = site_.place_in("one");
  for (const char* below : {"", "/remotes", "/locks"})
    ASSERT_TRUE(site_.files().make_directory(place.directory + below, kPrivateDirectory));
  const auto store = GitStore::open(site_.parts_with(clock_), place, [](const std::string&) {});
  ASSERT_TRUE(store);
  EXPECT_TRUE(is_committed(write(**store, "item:1", "1")));
  EXPECT_EQ(contents_of(*open("two"))->size(), 1U);
}

TEST_F(BranchTrouble, ALostBranchThatCannotBeRememberedIsNeverAnEmptyOne) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", kBranch}));
  site_.files().before_each([](const std::string& path) {
    return path.ends_with("/dibs-gone") ? Done(fail(ErrorKind::internal, path)) : Done{};
  });
  EXPECT_FALSE(contents_of(*store));
}

TEST_F(BranchTrouble, NumbersThatCannotBeLookedUpAreNotBegunAnew) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(write(*store, "item:1", "1")));
  changed({{"dibs/seq", std::nullopt}});
  site_.programs().before_each([](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
    if (is_call(call, "log")) return fail(ErrorKind::internal, "git cannot be started");
    return std::nullopt;
  });
  EXPECT_FALSE(is_committed(write(*open("two"), "item:2", "1")));
}

}  // namespace
}  // namespace dibs
