// Who gets a lease: free, held, shared, taken over, without a time limit.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "rules/claim.h"
#include "rules/claim_fixture.h"

namespace dibs {
namespace {

using Acquire = Rules;

TEST_F(Acquire, GrantsAFreeItemUntilItsTtlIsOver) {
  const Result<Grants> grants = take(request(kOne, {"1"}, 600));
  ASSERT_TRUE(grants);
  const Lease& lease = grants->front().lease;
  EXPECT_FALSE(grants->front().already_held);
  EXPECT_EQ(lease.session, kOne.session);
  EXPECT_EQ(lease.worktree, kOne.worktree);
  EXPECT_EQ(lease.branch, "main");
  EXPECT_EQ(lease.fence, Fence{1});
  EXPECT_EQ(lease.expires, later_by(board_.now, 600'000));
  EXPECT_EQ(on("1"), (std::vector<Lease>{lease})) << "the reply is what the record says";
  EXPECT_EQ(ops(), (Ops{Op::acquire}));
}

TEST_F(Acquire, RefusesAnItemHeldByAnotherSession) {
  const Lease held = taken(kOne, "1");
  const Result<Grants> refused = take(request(kTwo, {"1"}));
  ASSERT_EQ(kind(refused), ErrorKind::held);
  const Error& error = refused.error();
  EXPECT_TRUE(contains(error.message, "item:1 is held by agent:one for another 10 min"))
      << error.message;
  EXPECT_TRUE(contains(error.hint, "--wait 600"));
  std::map<std::string, std::string> fields;
  for (const ErrorField& field : error.fields) fields[field.name] = field.json;
  EXPECT_EQ(fields["holder"], "\"agent:one\"");
  EXPECT_EQ(fields["lease_id"], "\"" + held.id.text + "\"");
  EXPECT_EQ(fields["expires_at"], "\"" + rfc3339(held.expires->unix_ms) + "\"");
  EXPECT_EQ(fields["fence"], "1");
  EXPECT_EQ(on("1"), (std::vector<Lease>{held}));
}

TEST_F(Acquire, GivesTheSameSessionItsOwnLeaseBack) {
  const Lease first = taken(kOne, "1");
  pass(kMinute);
  const Result<Grants> again = take(request(kOne, {"1"}));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->front().already_held);
  EXPECT_EQ(again->front().lease, first) << "same id, fence and expiry";
  EXPECT_EQ(seq_, 1U) << "nothing was written";
}

TEST_F(Acquire, RefusesAnotherSessionOfTheSameAgent) {
  taken(kOne, "1");
  const Result<Grants> refused = take(request(kOneElsewhere, {"1"}));
  ASSERT_EQ(kind(refused), ErrorKind::held);
  EXPECT_TRUE(contains(refused.error().message, "in another session")) << refused.error().message;
}

TEST_F(Acquire, LetsManyShareAndKeepsWritersOut) {
  taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  EXPECT_EQ(on("1").size(), 2U);
  EXPECT_EQ(kind(take(request(kThree, {"1"}))), ErrorKind::held);
}

TEST_F(Acquire, KeepsReadersOutWhileAWriterHolds) {
  taken(kOne, "1");
  EXPECT_EQ(kind(take(shared(kTwo, {"1"}))), ErrorKind::held);
}

TEST_F(Acquire, AnExclusiveLeaseCoversASharedRequestButNotTheOtherWayRound) {
  const Lease writer = taken(kOne, "1");
  EXPECT_EQ(take(shared(kOne, {"1"}))->front().lease, writer);
  taken_shared(kTwo, "2");
  const Result<Grants> refused = take(request(kTwo, {"2"}));
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().hint, "dibs claim upgrade item:2"));
}

TEST_F(Acquire, TakesSeveralOrNone) {
  taken(kTwo, "2");
  EXPECT_EQ(kind(take(request(kOne, {"1", "2", "3"}))), ErrorKind::held);
  EXPECT_TRUE(on("1").empty());
  EXPECT_TRUE(on("3").empty());
  const Result<Grants> grants = take(request(kOne, {"1", "3", "4"}));
  ASSERT_TRUE(grants);
  EXPECT_EQ(grants->size(), 3U);
  for (const HeldLease& held : *grants) EXPECT_EQ(held.lease.fence, Fence{seq_});
}

TEST_F(Acquire, ExpectsWhatItHoldsAlreadyWhenItTakesMore) {
  taken(kOne, "1");
  const Result<Decision<Grants>> decision = acquire(board_, request(kOne, {"1", "2"}));
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->changes.writes.size(), 1U);
  EXPECT_EQ(decision->changes.expectations.size(), 2U) << "or it could be told it holds both";
  EXPECT_TRUE(decision->reply[0].already_held);
  EXPECT_FALSE(decision->reply[1].already_held);
}

TEST_F(Acquire, TakesWhatHasExpiredAndWritesThatDown) {
  const Lease old = taken(kOne, "1", 600);
  pass(599'999);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held) << "a millisecond early";
  pass(1);
  const Result<Grants> grants = take(request(kTwo, {"1"}));
  ASSERT_TRUE(grants);
  EXPECT_GT(grants->front().lease.fence, old.fence);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::acquire}));
  EXPECT_EQ(events_[0].lease, old.id);
  EXPECT_TRUE(contains(events_[0].reason, "expired"));
}

TEST_F(Acquire, WaitsOutTheMarginOfAStoreWhoseClockMayBeOff) {
  taken(kOne, "1", 600);
  board_.margin_ms = 5000;
  pass(604'999);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  EXPECT_EQ(kind(renewed(kOne, item("1"))), ErrorKind::lease_lost) << "the holder stops earlier";
  pass(1);
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(Acquire, IsNotFooledByAChangedWallClock) {
  taken(kOne, "1", 600);
  board_.now.unix_ms += 86'400'000;
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  board_.now.unix_ms -= 2 * std::int64_t{86'400'000};
  board_.now.boot_ms += 600'000;
  EXPECT_TRUE(take(request(kTwo, {"1"}))) << "ten minutes of the boot clock are over";
}

TEST_F(Acquire, GoesByTheWallClockAfterAReboot) {
  taken(kOne, "1", 600);
  reboot();
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  pass(540'000);
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(Acquire, AfterARebootTellsAgainWhatCountsOnTheNewBootClock) {
  const Lease old = taken(kOne, "1", 600);
  reboot();
  const Result<Grants> again = take(request(kOne, {"1"}));
  ASSERT_TRUE(again && again->front().already_held);
  EXPECT_EQ(again->front().lease, on("1")[0]);
  EXPECT_EQ(on("1")[0].id, old.id);
  EXPECT_EQ(on("1")[0].fence, old.fence);
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 540'000) << "no longer than before";
  board_.now.unix_ms += 86'400'000;
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  ASSERT_TRUE(take(request(kOne, {"1"})));
  EXPECT_TRUE(events_.empty()) << "the next time nothing has to be written";
}

TEST_F(Acquire, TakesWhatADeadProcessHeldAtOnce) {
  const Lease old = taken(kOne, "1");
  board_.gone[old.id] = "process 42 is gone";
  ASSERT_TRUE(take(request(kTwo, {"1"})));
  EXPECT_EQ(events_[0].op, Op::auto_evict);
  EXPECT_EQ(events_[0].reason, "process 42 is gone");
}

TEST_F(Acquire, GrantsItsOwnLapsedLeaseAnewWithANewFence) {
  const Lease old = taken(kOne, "1", 600);
  pass(600'000);
  const Result<Grants> grants = take(request(kOne, {"1"}));
  ASSERT_TRUE(grants);
  EXPECT_FALSE(grants->front().already_held);
  EXPECT_NE(grants->front().lease.id, old.id);
  EXPECT_GT(grants->front().lease.fence, old.fence);
}

TEST_F(Acquire, NeedsStealStaleToTakeWhatIsStale) {
  AcquireRequest endless = with(request(kOne, {"1"}, 0), Takeover::ended_only, "vendor");
  ASSERT_TRUE(take(endless));
  pass(policy_.stale_after_secs * 1000);
  EXPECT_EQ(kind(take(with(request(kTwo, {"1"}), Takeover::stale_too))), ErrorKind::held)
      << "not stale yet";
  pass(1);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  ASSERT_TRUE(take(with(request(kTwo, {"1"}), Takeover::stale_too)));
  EXPECT_EQ(events_[0].op, Op::auto_evict);
  EXPECT_TRUE(contains(events_[0].reason, "no heartbeat for 10 min"));
}

TEST_F(Acquire, StealStaleDoesNotTakeWhatIsLive) {
  taken(kOne, "1");
  EXPECT_EQ(kind(take(with(request(kTwo, {"1"}), Takeover::stale_too))), ErrorKind::held);
}

TEST_F(Acquire, ByForceEndsALiveLeaseAndSaysWhoAndWhy) {
  const Lease old = taken(kOne, "1");
  const Result<Grants> grants = take(with(request(kTwo, {"1"}), Takeover::any, "it hangs"));
  ASSERT_TRUE(grants);
  EXPECT_GT(grants->front().lease.fence, old.fence);
  ASSERT_EQ(ops(), (Ops{Op::force_evict, Op::acquire}));
  EXPECT_EQ(events_[0].agent, kOne.agent);
  EXPECT_EQ(events_[0].by, kTwo.agent);
  EXPECT_EQ(events_[0].reason, "it hangs");
}

TEST_F(Acquire, ByForceEndsAllReadersForAWriterAndNoneForAReader) {
  taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  ASSERT_TRUE(take(with(shared(kThree, {"1"}), Takeover::any, "why")));
  EXPECT_EQ(on("1").size(), 3U);
  ASSERT_TRUE(take(with(request(kOneElsewhere, {"1"}), Takeover::any, "why")));
  EXPECT_EQ(on("1").size(), 1U);
  EXPECT_EQ(std::ranges::count(ops(), Op::force_evict), 3);
}

TEST_F(Acquire, SweepsLapsedReadersAsideForANewOne) {
  taken_shared(kOne, "1", 60);
  const Lease stays = taken_shared(kTwo, "1", 600);
  pass(kMinute);
  const Lease added = taken_shared(kThree, "1");
  EXPECT_EQ(on("1"), (std::vector<Lease>{stays, added}));
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::acquire}));
}

TEST_F(Acquire, TellsOfNoEvictionThatItDoesNotMake) {
  taken_shared(kOne, "1", 60);
  taken_shared(kTwo, "1", 600);
  pass(kMinute);
  // The second holds 1 already; only 2 is written, so the record of 1 stays as it is.
  ASSERT_TRUE(take(shared(kTwo, {"1", "2"})));
  EXPECT_EQ(ops(), (Ops{Op::acquire}));
  EXPECT_EQ(on("1").size(), 2U);
}

TEST_F(Acquire, RefusesMoreReadersThanThereMayBe) {
  for (std::size_t i = 0; i < kSharedHoldersMax; ++i)
    taken_shared(someone("agent:reader-" + std::to_string(i)), "1");
  EXPECT_EQ(kind(take(shared(kOne, {"1"}))), ErrorKind::refused);
}

TEST_F(Acquire, KeepsUnknownMembersOfReadersThatStay) {
  taken_shared(kOne, "1");
  board_.seats[item("1").key()].holding.leases[0].unknown_members = R"("mood":"fine")";
  taken_shared(kTwo, "1");
  EXPECT_EQ(on("1")[0].unknown_members, R"("mood":"fine")");
}

TEST_F(Acquire, RemembersWhatEachBranchBeginsWith) {
  AcquireRequest asked = request(kOne, {"1", "2"});
  asked.claim_states = {"building", "checking"};
  ASSERT_TRUE(take(asked));
  EXPECT_EQ(on("1")[0].claim_state, "building");
  EXPECT_EQ(on("2")[0].claim_state, "checking");
  ASSERT_TRUE(renewed(kOne, item("1")));
  EXPECT_EQ(on("1")[0].claim_state, "building");
}

TEST_F(Acquire, GivesThoseWhoShareOneBranch) {
  AcquireRequest first = shared(kOne, {"1"});
  first.claim_states = {"building"};
  ASSERT_TRUE(take(first));
  AcquireRequest second = shared(kTwo, {"1"});
  second.claim_states = {"checking"};
  ASSERT_TRUE(take(second));
  EXPECT_EQ(on("1")[1].claim_state, "building");
  AcquireRequest by_force = with(request(kThree, {"1"}), Takeover::any, "gone");
  by_force.claim_states = {"checking"};
  ASSERT_TRUE(take(by_force));
  EXPECT_EQ(on("1")[0].claim_state, "checking");
}

// --- indefinite leases ---

class Indefinite : public Rules {
 protected:
  Result<Grants> endless(const Claimant& who, const std::vector<std::string>& names) {
    return take(with(request(who, names, 0), Takeover::ended_only, "reason"));
  }
  Result<Grants> endless_shared(const Claimant& who, const std::vector<std::string>& names) {
    return take(with(shared(who, names, 0), Takeover::ended_only, "reason"));
  }
};

TEST_F(Indefinite, LeasesDoNotExpire) {
  ASSERT_TRUE(endless(kOne, {"1"}));
  pass(365LL * 86'400'000);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  EXPECT_FALSE(on("1")[0].expires);
}

TEST_F(Indefinite, LeasesAreLimitedForEachAgent) {
  ASSERT_TRUE(endless(kOne, {"1"}));
  ASSERT_TRUE(endless(kOneElsewhere, {"2"}));
  const Result<Grants> refused = endless(kOne, {"3"});
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().message, "agent:one may hold at most 2"));
  EXPECT_TRUE(contains(refused.error().hint, "max_indefinite_per_agent 3"));
  EXPECT_TRUE(endless(kTwo, {"3"})) << "another agent has its own";
  EXPECT_TRUE(take(request(kOne, {"4"}, 600))) << "with a time limit there is no limit";
}

TEST_F(Indefinite, LeasesAreLimitedForTheRepository) {
  policy_.indefinite_per_repository = 2;
  ASSERT_TRUE(endless(kOne, {"1"}));
  ASSERT_TRUE(endless(kTwo, {"2"}));
  const Result<Grants> refused = endless(kThree, {"3"});
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().hint, "max_indefinite_per_repository 3"));
}

TEST_F(Indefinite, SeveralInOneCallCountEach) {
  EXPECT_EQ(kind(endless(kOne, {"1", "2", "3"})), ErrorKind::refused);
  EXPECT_TRUE(on("1").empty());
  EXPECT_TRUE(endless(kOne, {"1", "2"}));
}

TEST_F(Indefinite, TakingAgainWhatIsHeldCountsOnce) {
  ASSERT_TRUE(endless(kOne, {"1", "2"}));
  EXPECT_TRUE(endless(kOne, {"1", "2"}));
  policy_.indefinite_per_agent = 3;
  EXPECT_TRUE(endless(kOne, {"1", "2", "3"}));
}

TEST_F(Indefinite, SharingDoesNotEvadeTheLimits) {
  policy_.indefinite_per_repository = 2;
  ASSERT_TRUE(endless_shared(kOne, {"1"}));
  ASSERT_TRUE(endless_shared(kTwo, {"1"}));
  EXPECT_EQ(kind(endless_shared(kThree, {"1"})), ErrorKind::refused);
  policy_ = {.indefinite_per_agent = 1};
  EXPECT_EQ(kind(endless_shared(kOneElsewhere, {"1"})), ErrorKind::refused);
}

TEST_F(Indefinite, OnesThatAreTakenOverDoNotCountAgainstTheTaker) {
  policy_.indefinite_per_repository = 1;
  ASSERT_TRUE(endless(kOne, {"1"}));
  EXPECT_TRUE(take(with(request(kTwo, {"1"}, 0), Takeover::any, "it hangs")));
}

TEST_F(Indefinite, ClaimsShareAGuardSoThatTwoCannotBothPassTheLimit) {
  const Result<Decision<Grants>> one = acquire(board_, request(kOne, {"1"}, 0));
  const Result<Decision<Grants>> two = acquire(board_, request(kOne, {"2"}, 0));
  for (const auto& decision : {one, two}) {
    ASSERT_TRUE(decision);
    EXPECT_EQ(
        std::ranges::count(decision->changes.expectations, indefinite_guard(), &Expectation::key),
        1);
    EXPECT_EQ(std::ranges::count(decision->changes.writes, indefinite_guard(), &Write::key), 1);
  }
}

TEST_F(Indefinite, LeasesStayLiveByHeartbeats) {
  ASSERT_TRUE(endless(kOne, {"1"}));
  pass(policy_.stale_after_secs * 1000);
  apply(heartbeat(board_, kOne).changes);
  pass(policy_.stale_after_secs * 1000);
  EXPECT_EQ(standing_of(on("1")[0], board_, policy_).condition, Condition::live);
  pass(1);
  EXPECT_EQ(standing_of(on("1")[0], board_, policy_).condition, Condition::stale);
  EXPECT_TRUE(standing_of(on("1")[0], board_, policy_).held());
  EXPECT_TRUE(renewed(kOne, item("1"))) << "stale is not lost";
}

TEST_F(Indefinite, OnesOfTheDeadAndOfOtherToolsDoNotCount) {
  policy_.indefinite_per_repository = 1;
  ASSERT_TRUE(endless(kOne, {"1"}));
  board_.gone[on("1")[0].id] = "process 42 is gone";
  EXPECT_TRUE(endless(kTwo, {"2"}));
  board_.gone[on("2")[0].id] = "process 43 is gone";
  Claimant other_tool = kThree;
  other_tool.session = {std::string(kAnotherTool) + "human:eve"};
  ASSERT_TRUE(endless(other_tool, {"3"}));
  EXPECT_TRUE(endless(kOne, {"4"}));
}

TEST_F(Indefinite, OnesOwnSharedLeaseCountsOnceWhenMoreIsTakenWithIt) {
  policy_.indefinite_per_agent = 2;
  ASSERT_TRUE(endless_shared(kOne, {"1"}));
  EXPECT_TRUE(endless_shared(kOne, {"1", "2"}));
  EXPECT_EQ(on("1").size(), 1U);
}

}  // namespace
}  // namespace dibs
