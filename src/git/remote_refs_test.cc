// What a push says and what that means; and the real git, asked and pushed to.
#include "git/remote_refs.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "sys/tree_removal.h"
#include "testing/git_site.h"

namespace dibs {
namespace {

using PushKind = PushEnd::Kind;

const std::vector<RefMove> kOneMove{{.name = "refs/dibs/r/a", .from = "", .to = "1"}};
const std::vector<RefMove> kTwoMoves{{.name = "refs/dibs/r/a", .from = "", .to = "1"},
                                     {.name = "refs/dibs/r/b", .from = "2", .to = "1"}};

PushKind judged(const std::vector<RefMove>& moves, int exit_code, const std::string& lines,
                const std::string& complaint = "") {
  return judge_push({.exit_code = exit_code, .out = "To somewhere\n" + lines, .err = complaint},
                    moves)
      .kind;
}

TEST(PushReport, IsASuccessOnlyWhenEveryRefMoved) {
  EXPECT_EQ(judged(kOneMove, 0, "*\t1:refs/dibs/r/a\t[new reference]\nDone\n"), PushKind::moved);
  EXPECT_EQ(judged(kOneMove, 0, " \t1:refs/dibs/r/a\t2..1\nDone\n"), PushKind::moved);
  EXPECT_EQ(judged(kOneMove, 0, "+\t1:refs/dibs/r/a\t2...1 (forced update)\nDone\n"),
            PushKind::moved);
  EXPECT_EQ(judged(kTwoMoves, 0, "*\t1:refs/dibs/r/a\t[new reference]\nDone\n"), PushKind::unknown)
      << "nothing is said about the other";
  EXPECT_EQ(judged(kOneMove, 1, "*\t1:refs/dibs/r/a\t[new reference]\n"), PushKind::unknown);
}

TEST(PushReport, OfARefThatIsUpToDateIsALoss) {
  EXPECT_EQ(judged(kOneMove, 0, "=\t1:refs/dibs/r/a\t[up to date]\nDone\n"), PushKind::lost);
  EXPECT_EQ(
      judged(kTwoMoves, 0, "=\t1:refs/dibs/r/a\t[up to date]\n \t1:refs/dibs/r/b\t2..1\nDone\n"),
      PushKind::lost);
}

TEST(PushReport, TellsALostRaceFromARefusal) {
  EXPECT_EQ(judged(kOneMove, 1, "!\t1:refs/dibs/r/a\t[rejected] (stale info)\nDone\n"),
            PushKind::lost);
  EXPECT_EQ(
      judged(kOneMove, 1, "!\t1:refs/dibs/r/a\t[remote rejected] (failed to update ref)\nDone\n"),
      PushKind::lost);
  EXPECT_EQ(judged(kOneMove, 1,
                   "!\t1:refs/dibs/r/a\t[remote rejected] (unable to migrate objects to permanent "
                   "storage)\nDone\n"),
            PushKind::lost);
  EXPECT_EQ(judged(kTwoMoves, 1,
                   "!\t1:refs/dibs/r/a\t[rejected] (stale info)\n"
                   "!\t1:refs/dibs/r/b\t[rejected] (atomic push failed)\nDone\n"),
            PushKind::lost);
  EXPECT_EQ(judged(kOneMove, 1,
                   "!\t1:refs/dibs/r/a\t[remote rejected] (pre-receive hook declined)\nDone\n"),
            PushKind::refused);
  EXPECT_EQ(judged(kTwoMoves, 1,
                   "!\t1:refs/dibs/r/a\t[remote rejected] (atomic push failed)\n"
                   "!\t1:refs/dibs/r/b\t[remote rejected] (deny updating a hidden ref)\nDone\n"),
            PushKind::refused);
}

TEST(PushReport, OfALockedRefIsALossThatNamesTheLock) {
  const PushEnd end = judge_push(
      {.exit_code = 1,
       .out = "To x\n!\t1:refs/dibs/r/a\t[remote rejected] (atomic transaction failed)\nDone\n",
       .err = "remote: error: cannot lock ref 'refs/dibs/r/a': Unable to create "
              "'/srv/x.git/./refs/dibs/r/a.lock': File exists.        \n"},
      kOneMove);
  EXPECT_EQ(end.kind, PushKind::lost);
  EXPECT_TRUE(contains(end.why, "/srv/x.git/./refs/dibs/r/a.lock")) << end.why;
}

TEST(PushReport, OfARefThatIsToStayMustSayThatItDid) {
  const std::vector<RefMove> moves{{.name = "refs/dibs/r/a", .from = "", .to = "1"},
                                   {.name = "refs/dibs/ledger", .from = "9", .to = "9"}};
  const std::string stayed = "=\t9:refs/dibs/ledger\t[up to date]\n";
  EXPECT_EQ(judged(moves, 0, "*\t1:refs/dibs/r/a\t[new reference]\n" + stayed + "Done\n"),
            PushKind::moved);
  EXPECT_EQ(judged(moves, 1,
                   "!\t1:refs/dibs/r/a\t[remote rejected] (atomic transaction failed)\n" + stayed,
                   "remote: error: cannot lock ref 'refs/dibs/r/a': reference already exists\n"),
            PushKind::lost);
  EXPECT_EQ(judged(moves, 1,
                   "!\t1:refs/dibs/r/a\t[rejected] (atomic push failed)\n"
                   "!\t9:refs/dibs/ledger\t[rejected] (stale info)\n"),
            PushKind::lost);
}

TEST(PushReport, WithoutAtomicIsARefusal) {
  EXPECT_EQ(judged(kOneMove, 128, "", "fatal: the receiving end does not support --atomic push\n"),
            PushKind::refused);
}

TEST(PushReport, OfAServerThatMayOnlyBeReadIsARefusal) {
  EXPECT_EQ(judged(kOneMove, 128, "",
                   "fatal: unable to access 'http://host/x.git/': The requested URL returned "
                   "error: 403\n"),
            PushKind::refused);
  EXPECT_EQ(judged(kOneMove, 1, "",
                   "error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403\n"),
            PushKind::unknown)
      << "it was sent";
}

TEST(Complaint, ShowsNoPasswordAndNothingThatMovesTheCursor) {
  const auto said = [](const std::string& err) {
    return complaint_of({.exit_code = 128, .err = err});
  };
  EXPECT_EQ(said("fatal: unable to access 'https://me:secret@host.example/x.git/': 403\n"),
            "unable to access 'https://host.example/x.git/': 403");
  EXPECT_EQ(said("fatal: 'ssh://a:b@c@host/x' and 'http://host/@y'\n"),
            "'ssh://host/x' and 'http://host/@y'");
  EXPECT_EQ(said("hint: later\nremote: error: no\x1b[2J        \n"), "no\\x1b[2J");
  EXPECT_EQ(said(""), "exit 128");
  EXPECT_EQ(complaint_of({.exit_code = 137, .cut = ProgramEnd::Cut::timed_out}),
            "it took too long");
}

TEST(PushReport, ThatIsMissingIsUnknown) {
  EXPECT_EQ(judged(kOneMove, 128, "", "fatal: the remote end hung up unexpectedly\n"),
            PushKind::unknown);
  EXPECT_EQ(judge_push({.exit_code = 137, .cut = ProgramEnd::Cut::timed_out}, kOneMove).kind,
            PushKind::unknown);
}

class Remote : public testing::Test {
 protected:
  std::string commit(RemoteRefs& refs, const std::string& message) {
    return *refs.write_commit({}, message, 1'700'000'000'000);
  }
  PushKind push(RemoteRefs& refs, const RefMove& move) { return refs.push({move})->kind; }

  GitSite site_;
  PosixFileSystem files_;
};

TEST_F(Remote, TakesTheFirstAndTellsTheSecond) {
  RemoteRefs one = site_.refs("one");
  RemoteRefs two = site_.refs("two");
  const std::string ref = "refs/dibs/r/a";
  EXPECT_EQ(push(one, {.name = ref, .from = "", .to = commit(one, "1")}), PushKind::moved);
  EXPECT_EQ(push(two, {.name = ref, .from = "", .to = commit(two, "2")}), PushKind::lost);
  EXPECT_TRUE(two.seen_below("r/")->empty()) << "not asked yet";
  EXPECT_EQ(push(two, {.name = ref, .from = "", .to = commit(two, "1")}), PushKind::lost)
      << "the very same commit: up to date is not ours";
  ASSERT_TRUE(two.look({ref}));
  ASSERT_EQ(two.seen_below("r/")->size(), 1U);
  EXPECT_EQ(two.seen_below("r/")->front().message, "1");
}

TEST_F(Remote, MovesAllOrNothing) {
  RemoteRefs refs = site_.refs("one");
  const std::string taken = commit(refs, "taken");
  ASSERT_EQ(push(refs, {.name = "refs/dibs/r/b", .from = "", .to = taken}), PushKind::moved);
  const std::string next = commit(refs, "next");
  const Result<PushEnd> both = refs.push({{.name = "refs/dibs/r/a", .from = "", .to = next},
                                          {.name = "refs/dibs/r/b", .from = "", .to = next}});
  EXPECT_EQ(both->kind, PushKind::lost);
  ASSERT_TRUE(refs.look({"refs/dibs/"}));
  EXPECT_EQ(refs.seen_below("r/")->size(), 1U);
}

TEST_F(Remote, ForgetsWhatIsGone) {
  RemoteRefs one = site_.refs("one");
  RemoteRefs two = site_.refs("two");
  const std::string made = commit(one, "1");
  ASSERT_EQ(push(one, {.name = "refs/dibs/r/a", .from = "", .to = made}), PushKind::moved);
  ASSERT_TRUE(two.look({"refs/dibs/"}));
  ASSERT_EQ(push(one, {.name = "refs/dibs/r/a", .from = made, .to = ""}), PushKind::moved);
  ASSERT_TRUE(two.look({"refs/dibs/r/a"}));
  EXPECT_TRUE(two.seen_below("r/")->empty());
}

TEST_F(Remote, HasManyRefsThatArePackedHereAndSeenAsBefore) {
  constexpr std::size_t kMany = 70;
  RemoteRefs one = site_.refs("one");
  RemoteRefs two = site_.refs("two");
  const std::string made = commit(one, "1");
  const auto ref = [](std::size_t i) { return "refs/dibs/r/" + std::to_string(i); };
  std::vector<RefMove> moves;
  for (std::size_t i = 0; i < kMany; ++i) moves.push_back({.name = ref(i), .from = "", .to = made});
  ASSERT_EQ(one.push(moves)->kind, PushKind::moved);
  ASSERT_TRUE(two.look({"refs/dibs/r/"}));
  EXPECT_EQ(RefFiles(files_, two.place().directory).loose_in("refs/dibs/r/"), 0U);
  EXPECT_EQ(two.most_below("r/"), kMany);
  EXPECT_EQ(two.seen_below("r/")->size(), kMany);
  EXPECT_EQ(*two.commit_at(ref(3)), made);

  const std::string next = commit(one, "2");
  ASSERT_EQ(push(one, {.name = ref(3), .from = made, .to = next}), PushKind::moved);
  ASSERT_EQ(push(one, {.name = ref(4), .from = made, .to = ""}), PushKind::moved);
  const auto gone = two.look({"refs/dibs/r/"});
  ASSERT_TRUE(gone);
  ASSERT_EQ(gone->size(), 1U);
  EXPECT_EQ(gone->front().name, ref(4));
  EXPECT_EQ(*two.commit_at(ref(3)), next) << "the newer one of two";
  EXPECT_EQ(*two.commit_at(ref(4)), "");
  EXPECT_GE(two.most_below("r/"), kMany - 1);
}

TEST_F(Remote, ThatLostRefsIsRememberedWithoutAGitForEach) {
  RemoteRefs one = site_.refs("one");
  RemoteRefs two = site_.refs("two");
  const std::string made = commit(one, "1");
  ASSERT_EQ(push(one, {.name = "refs/dibs/r/a", .from = "", .to = made}), PushKind::moved);
  ASSERT_TRUE(two.look({"refs/dibs/r/"}));
  ASSERT_EQ(push(one, {.name = "refs/dibs/r/a", .from = made, .to = ""}), PushKind::moved);
  const auto gone = two.look({"refs/dibs/r/"});
  ASSERT_TRUE(gone);
  ASSERT_TRUE(two.keep_gone(*gone));
  int started = 0;
  site_.programs().before_each([&](const ProgramCall&) -> std::optional<Result<ProgramEnd>> {
    ++started;
    return std::nullopt;
  });
  const auto remembered = two.gone();
  site_.programs().before_each(nullptr);
  ASSERT_TRUE(remembered && remembered->size() == 1);
  EXPECT_TRUE(remembered->front().message.starts_with("1")) << remembered->front().message;
  EXPECT_EQ(started, 0);
}

TEST_F(Remote, ThatLostARefWhichWasNoCommitIsReadAllTheSame) {
  const std::string empty_tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  RemoteRefs one = site_.refs("one");
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "refs/dibs/r/evil", empty_tree}));
  ASSERT_TRUE(one.look({"refs/dibs/r/"}));
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/dibs/r/evil"}));
  const auto gone = one.look({"refs/dibs/r/"});
  ASSERT_TRUE(gone);
  ASSERT_TRUE(one.keep_gone(*gone));
  const auto remembered = one.gone();
  ASSERT_TRUE(remembered) << remembered.error().message;
  ASSERT_EQ(remembered->size(), 1U);
  EXPECT_EQ(remembered->front().message, "");
  EXPECT_TRUE(one.gone({"refs/dibs/r/another"})->empty());
}

TEST_F(Remote, ThatCannotBeReadLeavesNothingUnfinished) {
  RemoteRefs refs = site_.refs("one");
  const std::string objects = refs.place().directory + "/objects/";
  for (const char* name : {"tmp_obj_a", "pack/tmp_pack_b"}) write_bytes(objects + name, "half");
  ASSERT_TRUE(remove_tree(site_.remote()));
  ASSERT_FALSE(refs.look({"refs/dibs/r/"}));
  for (const char* name : {"tmp_obj_a", "pack/tmp_pack_b"})
    EXPECT_FALSE(files_.status(objects + name)->has_value()) << name;
}

TEST_F(Remote, ThatIsGoneIsUnreachableAndNotEmpty) {
  RemoteRefs refs = site_.refs("one");
  move_tree(site_.remote(), site_.remote() + ".away");
  const auto looked = refs.look({"refs/dibs/"});
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().kind, ErrorKind::unreachable);
  EXPECT_EQ(push(refs, {.name = "refs/dibs/r/a", .from = "", .to = commit(refs, "1")}),
            PushKind::unknown);
}

TEST_F(Remote, ShowsNothingOfItselfInTheUsersRepository) {
  RemoteRefs refs = site_.refs("one");
  ASSERT_EQ(push(refs, {.name = "refs/dibs/r/a", .from = "", .to = commit(refs, "1")}),
            PushKind::moved);
  const Result<std::string> all = site_.git().output_of(
      {.git_dir = site_.clone("one") + "/.git", .arguments = {"for-each-ref"}, .input = {}},
      ErrorKind::internal);
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, "");
}

TEST(RemoteOfSha256, WorksTheSame) {
  GitSite site("sha256");
  RemoteRefs refs = site.refs("one");
  const Result<std::string> made = refs.write_commit({}, "1", 1'700'000'000'000);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(refs.push({{.name = "refs/dibs/r/a", .from = "", .to = *made}})->kind, PushKind::moved);
}

}  // namespace
}  // namespace dibs
