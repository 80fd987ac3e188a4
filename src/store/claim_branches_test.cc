// The layout with a branch a claim: whose branch it is, and where what was on it goes.
#include "store/claim_branches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "model/lease.h"
#include "store/git_store.h"
#include "testing/fake_clock.h"
#include "testing/git_site.h"
#include "testing/local_site.h"
#include "testing/nth_failure.h"
#include "testing/seeded_random.h"

namespace dibs {
namespace {

class ClaimBranch : public testing::Test {
 protected:
  ClaimBranch() { (void)clock_.now(); }

  std::unique_ptr<GitStore> open(const std::string& clone) { return site_.open(clone, &clock_); }
  static std::string held_in(const std::string& state) {
    Lease lease{.id = {"L1"}, .agent = {"agent:a"}, .session = {"s"}};
    lease.claim_state = state;
    return to_json(Holding{.leases = {lease}});
  }
  Transaction claim(const std::string& key, const std::string& value = "1") {
    Transaction transaction = writing(random_, key, value);
    transaction.expectations = {{.key = {key}, .version = std::nullopt}};
    return transaction;
  }
  // Somebody's claim ends, and another's begins, in one change.
  Transaction takeover(const std::string& key, const std::string& value, Op how) {
    Transaction transaction = writing(random_, key, value);
    Event ended = transaction.events.front();
    ended.op = how;
    transaction.events.insert(transaction.events.begin(), ended);
    return transaction;
  }
  std::string tip(const std::string& branch) {
    const Result<std::string> out = site_.git().output_of(
        {.git_dir = site_.remote(),
         .arguments = {"for-each-ref", "--format=%(objectname)", "refs/heads/" + branch},
         .input = {}},
        ErrorKind::internal);
    return std::string(trim(out.value_or("")));
  }
  std::size_t rescued() {
    const Result<std::string> out = site_.git().output_of(
        {.git_dir = site_.remote(),
         .arguments = {"for-each-ref", "--format=%(refname)", "refs/dibs/rescue/"},
         .input = {}},
        ErrorKind::internal);
    return static_cast<std::size_t>(std::ranges::count(out.value_or(""), '\n'));
  }
  // Somebody works on a branch, in another clone.
  void work_on(const std::string& branch) {
    const std::string clone = site_.clone("worker");
    ASSERT_TRUE(run_git(clone, {"fetch", "--quiet", "origin", branch}));
    ASSERT_TRUE(run_git(clone, {"checkout", "--quiet", "-B", "work", "FETCH_HEAD"}));
    ASSERT_TRUE(run_git(clone, {"commit", "--quiet", "--allow-empty", "-m", "work"}));
    ASSERT_TRUE(run_git(clone, {"push", "--quiet", "origin", "HEAD:refs/heads/" + branch}));
  }
  void make_by_hand(const std::string& branch) {
    ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "refs/heads/" + branch, "refs/heads/main"}));
  }

  FakeClock clock_;
  GitSite site_{"sha1", "branches"};
  SeededRandom random_{7};
};

TEST_F(ClaimBranch, IsThereWhileTheClaimIs) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(store->commit(claim("item:1"))));
  EXPECT_NE(tip("indevelopment-1"), "");
  ASSERT_TRUE(is_committed(put(*store, random_, "item:1", "2"))) << "renewed";
  ASSERT_TRUE(is_committed(put(*store, random_, "lock:1", "1"))) << "no item";
  ASSERT_TRUE(is_committed(put(*store, random_, "item:1", std::nullopt)));
  EXPECT_EQ(tip("indevelopment-1"), "");
  EXPECT_EQ(rescued(), 0U) << "there was nothing on it";
}

TEST_F(ClaimBranch, LeavesWhatWasPushedToItOnARescueRef) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(store->commit(claim("item:1"))));
  work_on("indevelopment-1");
  ASSERT_TRUE(is_committed(put(*store, random_, "item:1", std::nullopt)));
  EXPECT_EQ(tip("indevelopment-1"), "");
  EXPECT_EQ(rescued(), 1U);
}

TEST_F(ClaimBranch, LeavesNothingBehindWhenWhatIsOnItLands) {
  const auto store = open("worker");
  ASSERT_TRUE(is_committed(store->commit(claim("item:1"))));
  work_on("indevelopment-1");
  Transaction landing = writing(random_, "item:1", std::nullopt);
  landing.events.front().op = Op::land;
  ASSERT_TRUE(is_committed(store->commit(landing)));
  EXPECT_EQ(rescued(), 0U) << "whoever lands has it";
}

TEST_F(ClaimBranch, BeginsAnewForWhoeverTakesOver) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(store->commit(claim("item:1"))));
  for (const Op how : {Op::auto_evict, Op::force_evict}) {
    work_on("indevelopment-1");
    const std::string before = tip("indevelopment-1");
    ASSERT_TRUE(is_committed(store->commit(takeover("item:1", "2", how))));
    EXPECT_NE(tip("indevelopment-1"), before);
  }
  EXPECT_EQ(rescued(), 2U);
  Transaction only_ends = takeover("item:1", "3", Op::auto_evict);
  only_ends.events.pop_back();
  const std::string before = tip("indevelopment-1");
  ASSERT_TRUE(is_committed(store->commit(only_ends)));
  EXPECT_EQ(tip("indevelopment-1"), before) << "a reader's end is not the branch's";
}

TEST_F(ClaimBranch, IsCalledByTheStateThatItsLeaseSays) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(store->commit(claim("item:1", held_in("testing")))));
  EXPECT_NE(tip("testing-1"), "");
  ASSERT_TRUE(
      is_committed(store->commit(takeover("item:1", held_in("indevelopment"), Op::auto_evict))));
  EXPECT_EQ(tip("testing-1"), "");
  EXPECT_NE(tip("indevelopment-1"), "");
}

TEST_F(ClaimBranch, ThatWasRemovedByHandIsMissedByNobody) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(store->commit(claim("item:1"))));
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/heads/indevelopment-1"}));
  EXPECT_TRUE(is_committed(put(*store, random_, "item:1", std::nullopt)));
}

TEST_F(ClaimBranch, ThatNoLeaseStandsBehindIsSomebodysClaim) {
  const auto store = open("one");
  make_by_hand("indevelopment-1");
  const Result<Outcome> refused = store->commit(claim("item:1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::held);
  EXPECT_TRUE(contains(refused.error().hint, "--delete indevelopment-1"));
  ASSERT_TRUE(is_committed(store->commit(claim("item:2"))));
  ASSERT_TRUE(is_committed(put(*store, random_, "item:2", std::nullopt)));
  make_by_hand("indevelopment-2");
  EXPECT_EQ(store->commit(claim("item:2")).error().kind, ErrorKind::held) << "also once released";
}

// The remote shows refs one after the other.
TEST_F(ClaimBranch, ThatIsTheFirstHalfOfAnothersClaimIsALostRace) {
  for (const bool was_held_before : {false, true}) {
    const std::string key = was_held_before ? "item:2" : "item:1";
    const auto store = open("one");
    const auto other = open("two");
    if (was_held_before) {
      ASSERT_TRUE(is_committed(store->commit(claim(key))));
      ASSERT_TRUE(is_committed(put(*store, random_, key, std::nullopt)));
    }
    // In the way of the first try, and gone when the second one looks.
    make_by_hand("indevelopment-" + key.substr(5));
    int asked = 0;
    site_.programs().before_each([&](const ProgramCall& call) -> std::optional<Result<ProgramEnd>> {
      const bool asks = std::ranges::find(call.command, "ls-remote") != call.command.end();
      if (asks && ++asked == 1) {
        EXPECT_TRUE(run_git(site_.remote(),
                            {"update-ref", "-d", "refs/heads/indevelopment-" + key.substr(5)}));
        EXPECT_TRUE(is_committed(other->commit(claim(key, "theirs"))));
      }
      return std::nullopt;
    });
    const Result<Outcome> outcome = store->commit(claim(key));
    site_.programs().before_each({});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(std::holds_alternative<LostRace>(*outcome));
  }
}

TEST_F(ClaimBranch, StartsFromTheTargetOrFromWhatIsUsual) {
  GitStorePlace place = site_.place_in("one");
  (void)open("one");
  place.target = "nowhere";
  auto store = GitStore::open(site_.parts_with(clock_), place, [](const std::string&) {});
  ASSERT_TRUE(store);
  const Result<Outcome> outcome = (*store)->commit(claim("item:1"));
  ASSERT_FALSE(outcome);
  EXPECT_TRUE(contains(outcome.error().hint, "landing.target")) << outcome.error().hint;
  place.target = "main";
  store = GitStore::open(site_.parts_with(clock_), place, [](const std::string&) {});
  EXPECT_TRUE(is_committed((*store)->commit(claim("item:1"))));
  EXPECT_EQ(tip("main").empty(), false);
}

// With work on it and another name, so that every step is needed.
TEST_F(ClaimBranch, AtAnyCallThatFailsIsThereIfTheClaimIs) {
  const auto store = open("one");
  const auto other = open("two");
  NthFailure failure;
  int trial = 0;
  failure.at_every_call([&] {
    const std::string number = std::to_string(++trial);
    ASSERT_TRUE(is_committed(other->commit(claim("item:" + number))));
    work_on("indevelopment-" + number);
    ASSERT_TRUE(store->read(Selection::of({{"item:" + number}})));
    const Transaction change = takeover("item:" + number, held_in("testing"), Op::auto_evict);
    site_.programs().before_each([&](const ProgramCall&) -> std::optional<Result<ProgramEnd>> {
      if (!failure.strikes()) return std::nullopt;
      return fail(ErrorKind::internal, "git cannot be started");
    });
    const bool taken = is_committed(store->commit(change));
    site_.programs().before_each({});
    EXPECT_EQ(tip("testing-" + number).empty(), !taken);
    EXPECT_EQ(tip("indevelopment-" + number).empty(), taken);
  });
}

TEST_F(ClaimBranch, ThatIsInTheWayIsSaidSoOrAnErrorAtAnyCallThatFails) {
  const auto store = open("one");
  make_by_hand("indevelopment-1");
  NthFailure failure;
  site_.programs().before_each([&](const ProgramCall&) -> std::optional<Result<ProgramEnd>> {
    if (!failure.strikes()) return std::nullopt;
    return fail(ErrorKind::internal, "git cannot be started");
  });
  failure.at_every_call([&] { EXPECT_FALSE(store->commit(claim("item:1"))); });
}

TEST_F(ClaimBranch, OfSeveralItemsComesForEach) {
  const auto store = open("one");
  Transaction both = claim("item:1");
  const Transaction more = claim("item:2");
  both.expectations.push_back(more.expectations.front());
  both.writes.push_back(more.writes.front());
  both.events.push_back(more.events.front());
  ASSERT_TRUE(is_committed(store->commit(both)));
  EXPECT_NE(tip("indevelopment-1"), "");
  EXPECT_NE(tip("indevelopment-2"), "");
}

TEST_F(ClaimBranch, WithACommitThatOnlyLooksLikeOursHasWorkOnIt) {
  const auto store = open("one");
  ASSERT_TRUE(is_committed(store->commit(claim("item:1"))));
  const std::string clone = site_.clone("worker");
  ASSERT_TRUE(run_git(clone, {"commit", "--quiet", "--allow-empty", "-m", "Claim that works"}));
  ASSERT_TRUE(
      run_git(clone, {"push", "--quiet", "--force", "origin", "HEAD:refs/heads/indevelopment-1"}));
  ASSERT_TRUE(is_committed(put(*store, random_, "item:1", std::nullopt)));
  EXPECT_EQ(rescued(), 1U);
}

}  // namespace
}  // namespace dibs
