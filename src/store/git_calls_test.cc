// The store on a git remote where any one call fails, of git or of the disk: whatever it then says
// is true, and once all is well again nothing is missing.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "store/git_store.h"
#include "testing/fake_clock.h"
#include "testing/git_site.h"
#include "testing/local_site.h"
#include "testing/nth_failure.h"
#include "testing/seeded_random.h"

namespace dibs {
namespace {

/// What fails.
enum class What { git_does_not_start, git_ends_badly, files };

struct Case {
  std::string layout;
  What what;

  [[nodiscard]] std::string name() const {
    const std::string name = layout == "refs"          ? "Refs"
                             : layout == "lock-branch" ? "LockBranch"
                                                       : "Branches";
    if (what == What::files) return name + "AndFiles";
    return name + (what == What::git_ends_badly ? "AndGitThatFails" : "AndGit");
  }
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name(); }

std::string name_of_case(const testing::TestParamInfo<Case>& one) { return one.param.name(); }

class AnyRemoteCall : public testing::TestWithParam<Case> {
 protected:
  AnyRemoteCall() {
    (void)clock_.now();
    const auto store = site_.open("one", &clock_);
    for (const char* key : {"item:held", "item:gone"})
      EXPECT_TRUE(is_committed(put(*store, random_, key, "1")));
    EXPECT_TRUE(is_committed(put(*store, random_, "item:gone", std::nullopt)));
    other_ = site_.open("two", &clock_);
    site_.files().before_each([this](const std::string& path) {
      return GetParam().what == What::files ? failure_.next(path) : Done{};
    });
    site_.programs().before_each([this](const ProgramCall&) -> std::optional<Result<ProgramEnd>> {
      if (GetParam().what == What::files || !failure_.strikes()) return std::nullopt;
      if (GetParam().what == What::git_ends_badly)
        return ProgramEnd{.exit_code = 128, .out = {}, .err = "fatal: out of memory\n"};
      return fail(ErrorKind::internal, "git cannot be started");
    });
  }

  // As a new process would have it; an error when that fails already.
  Result<std::unique_ptr<GitStore>> open() {
    return GitStore::open(site_.parts_with(clock_), site_.place_in("one"),
                          [](const std::string&) {});
  }
  bool is_there(const std::string& key) {
    failure_.is_over();
    const Result<View> view = other_->read(Selection::of({{key}}));
    EXPECT_TRUE(view) << view.error().message;
    return view && !view->records.empty();
  }
  void expect_true(const Result<Outcome>& outcome, bool before, bool after,
                   const std::string& key) {
    const bool there = is_there(key);
    if (!outcome) {
      EXPECT_EQ(there, before) << outcome.error().message;
    } else if (is_committed(outcome)) {
      EXPECT_EQ(there, after);
    }
  }

  FakeClock clock_;
  GitSite site_{"sha1", GetParam().layout};
  SeededRandom random_{7};
  std::unique_ptr<GitStore> other_;
  NthFailure failure_;
};

TEST_P(AnyRemoteCall, ThatFailsMakesNothingLookFree) {
  failure_.at_every_call([&] {
    const auto store = open();
    if (!store) return;
    Selection asked = Selection::of({{"item:held"}});
    asked.last_look_will_do = true;
    const Result<View> view = (*store)->read(asked);
    EXPECT_TRUE(!view || view->records.size() == 1U);
    const Result<Contents> all = contents_of(**store);
    EXPECT_TRUE(!all || all->size() == 1U);
    const Result<History> past = (*store)->history({.resource = Key{"item:gone"}});
    EXPECT_TRUE(!past || past->events.size() == 2U);
    const Result<Cursor> cursor = (*store)->wait({}, 0);
    EXPECT_TRUE(!cursor || cursor->seq >= 3U);
    Transaction confirming{.nonce = random_.nonce()};
    confirming.expectations = {{.key = {"item:held"}, .version = std::nullopt}};
    EXPECT_FALSE(is_committed((*store)->commit(confirming))) << "it is held";
  });
}

TEST_P(AnyRemoteCall, ThatFailsMakesAndEndsNoClaimThatOthersSeeOtherwise) {
  int trial = 0;
  failure_.at_every_call([&] {
    const std::string key = "item:" + std::to_string(++trial);
    const auto store = open();
    if (!store) return;
    Transaction claim = writing(random_, key, "1");
    claim.expectations = {{.key = {key}, .version = std::nullopt},
                          {.key = {"item:gone"}, .version = std::nullopt}};
    const Result<Outcome> claimed = (*store)->commit(claim);
    if (!is_committed(claimed)) return expect_true(claimed, false, true, key);
    expect_true((*store)->commit(writing(random_, key, std::nullopt)), true, false, key);
  });
}

TEST_P(AnyRemoteCall, ThatFailsWhileTidyingOrInspectingCostsNothing) {
  clock_.advance_ms(20LL * 60'000);
  failure_.at_every_call([&] {
    const auto store = open();
    if (!store) return;
    (void)(*store)->tidy();
    EXPECT_FALSE((*store)->inspect().empty());
    EXPECT_TRUE(is_there("item:held"));
  });
  const auto store = site_.open("three", &clock_);
  const Result<Outcome> outcome = put(*store, random_, "item:gone", "2");
  ASSERT_TRUE(is_committed(outcome));
  EXPECT_GT(std::get<Committed>(*outcome).fence, Fence{3});
}

// The first of all clones begins what the others find.
TEST_P(AnyRemoteCall, ThatFailsInSettingUpIsAnErrorAndTheNextTrySucceeds) {
  int trial = 0;
  failure_.at_every_call([&] {
    for (const char* name : {"refs/dibs/ledger", "refs/heads/aitask-locks"})
      ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", name}));
    const GitStorePlace place = site_.place_in("first-" + std::to_string(++trial));
    (void)GitStore::create(site_.parts_with(clock_), place);
    failure_.is_over();
    const Done again = GitStore::create(site_.parts_with(clock_), place);
    EXPECT_TRUE(again) << again.error().message;
  });
}

INSTANTIATE_TEST_SUITE_P(Layouts, AnyRemoteCall,
                         testing::Values(Case{"refs", What::git_does_not_start},
                                         Case{"refs", What::git_ends_badly},
                                         Case{"refs", What::files},
                                         Case{"branches", What::git_does_not_start},
                                         Case{"lock-branch", What::git_does_not_start},
                                         Case{"lock-branch", What::files}),
                         name_of_case);

Transaction claim_of_free(Random& random, const std::string& key, const std::string& value) {
  Transaction claim = writing(random, key, value);
  claim.expectations = {{.key = {key}, .version = std::nullopt}};
  return claim;
}

class Beside : public testing::TestWithParam<std::string> {};

// Who claims must not take what another of its clone has seen meanwhile for what itself has seen.
TEST_P(Beside, AnyoneWhoLooksOneOfTwoGetsIt) {
  FakeClock clock;
  (void)clock.now();
  GitSite site("sha1", GetParam());
  SeededRandom random(7);
  const auto store = site.open("one", &clock);
  const auto other = site.open("two", &clock);
  NthFailure moment;
  int trial = 0;
  bool theirs = false;
  site.files().before_each([&](const std::string& path) {
    if (!path.starts_with(site.clone("one")) || !moment.strikes()) return Done{};
    const std::string key = "item:" + std::to_string(trial);
    theirs = is_committed(other->commit(claim_of_free(random, key, "theirs")));
    EXPECT_TRUE(run_git(
        site.memory_of("one"),
        {"fetch", "--quiet", "origin", "+refs/dibs/*:refs/dibs/*", "+refs/heads/*:refs/heads/*"}));
    return Done{};
  });
  moment.at_every_call([&] {
    const std::string key = "item:" + std::to_string(++trial);
    theirs = false;
    const bool ours = is_committed(store->commit(claim_of_free(random, key, "ours")));
    moment.is_over();
    EXPECT_FALSE(ours && theirs);
    const Result<View> view = other->read(Selection::of({{key}}));
    ASSERT_TRUE(view && view->records.size() == 1U);
    EXPECT_EQ(view->records[0].value, theirs ? "theirs" : "ours");
  });
}

INSTANTIATE_TEST_SUITE_P(Layouts, Beside, testing::Values("refs", "lock-branch"),
                         [](const auto& layout) {
                           return layout.param == "refs" ? std::string("Refs")
                                                         : std::string("LockBranch");
                         });

}  // namespace
}  // namespace dibs
