// What holders do with a lease: keep it up, hand it over, share it.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "rules/claim.h"
#include "rules/claim_fixture.h"

namespace dibs {
namespace {

// --- renew and heartbeat ---

using Renew = Rules;

TEST_F(Renew, CountsTheTtlFromNow) {
  const Lease lease = taken(kOne, "1", 600);
  pass(kMinute);
  const Result<Grants> grants = renewed(kOne, lease.id);
  ASSERT_TRUE(grants);
  EXPECT_EQ(on("1")[0].expires, later_by(board_.now, 600'000));
  EXPECT_EQ(on("1")[0].id, lease.id);
  EXPECT_EQ(on("1")[0].fence, lease.fence) << "the same grant goes on";
  EXPECT_EQ(ops(), (Ops{Op::renew}));
}

TEST_F(Renew, TakesALeaseByItsResourceToo) {
  taken(kOne, "1");
  EXPECT_TRUE(renewed(kOne, item("1")));
}

TEST_F(Renew, NeverShortens) {
  const Lease lease = taken(kOne, "1", 600);
  ASSERT_TRUE(renewed(kOne, lease.id, 10));
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 600'000);
  pass(595'000);
  ASSERT_TRUE(renewed(kOne, lease.id)) << "with the ttl it has now";
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 10'000);
}

TEST_F(Renew, NeverRevives) {
  const Lease lease = taken(kOne, "1", 600);
  pass(600'000);
  const Result<Grants> refused = renewed(kOne, lease.id);
  ASSERT_EQ(kind(refused), ErrorKind::lease_lost);
  EXPECT_TRUE(contains(refused.error().message, "item:1 is lost: expired 0 s ago"))
      << refused.error().message;
  EXPECT_EQ(refused.error().hint, "take it again before you go on: dibs claim acquire item:1");
}

TEST_F(Renew, IsNotForADeadProcess) {
  const Lease lease = taken(kOne, "1");
  board_.gone[lease.id] = "process 42 is gone";
  EXPECT_EQ(kind(renewed(kOne, lease.id)), ErrorKind::lease_lost);
}

TEST_F(Renew, IsForTheHolderAlone) {
  const Lease lease = taken(kOne, "1");
  EXPECT_EQ(kind(renewed(kTwo, lease.id)), ErrorKind::held);
  EXPECT_EQ(kind(renewed(kOneElsewhere, lease.id)), ErrorKind::held);
  EXPECT_EQ(kind(renewed(kOne, LeaseId{"L99"})), ErrorKind::not_found);
  EXPECT_EQ(kind(renewed(kOne, item("9"))), ErrorKind::not_found);
}

TEST_F(Renew, DoesNotTurnALimitedLeaseIntoAnIndefiniteOneNorBack) {
  taken(kOne, "1", 600);
  EXPECT_EQ(kind(renewed(kOne, item("1"), 0)), ErrorKind::refused);
  ASSERT_TRUE(take(with(request(kOne, {"2"}, 0), Takeover::ended_only, "r")));
  EXPECT_EQ(kind(renewed(kOne, item("2"), 600)), ErrorKind::refused);
  EXPECT_TRUE(renewed(kOne, item("2")));
  EXPECT_TRUE(renewed(kOne, item("2"), 0));
}

TEST_F(Renew, AmongReadersChangesOnesOwnLeaseAlone) {
  const Lease other = taken_shared(kOne, "1", 600);
  taken_shared(kTwo, "1", 600);
  pass(kMinute);
  ASSERT_TRUE(renewed(kTwo, item("1")));
  EXPECT_EQ(on("1")[0], other);
  EXPECT_EQ(ms_until(*on("1")[1].expires, board_.now), 600'000);
}

TEST_F(Renew, AfterARebootCountsOnTheNewBootClock) {
  const Lease lease = taken(kOne, "1", 600);
  reboot();
  ASSERT_TRUE(renewed(kOne, lease.id));
  EXPECT_EQ(on("1")[0].expires->boot, BootId{"boot-2"});
  board_.now.unix_ms += 86'400'000;
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
}

using Heartbeat = Rules;

TEST_F(Heartbeat, ExtendsEveryLeaseOfTheSessionAndNoOther) {
  taken(kOne, "1", 600);
  taken_shared(kOne, "2", 600);
  const Lease other = taken_shared(kTwo, "2", 600);
  const Lease elsewhere = taken(kOneElsewhere, "3", 600);
  pass(kMinute);
  const Decision<HeartbeatReply> beat = heartbeat(board_, kOne);
  apply(beat.changes);
  EXPECT_EQ(beat.reply.extended.size(), 2U);
  EXPECT_TRUE(beat.reply.lost.empty());
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 600'000);
  EXPECT_EQ(on("2")[1], other);
  EXPECT_EQ(on("3")[0], elsewhere);
  EXPECT_EQ(ops(), (Ops{Op::heartbeat, Op::heartbeat}));
}

TEST_F(Heartbeat, RevivesNothingAndSaysWhatIsLost) {
  taken(kOne, "1", 60);
  const Lease kept = taken(kOne, "2", 600);
  const Lease dead = taken(kOne, "3", 600);
  board_.gone[dead.id] = "process 42 is gone";
  pass(kMinute);
  const Decision<HeartbeatReply> beat = heartbeat(board_, kOne);
  ASSERT_EQ(beat.reply.lost.size(), 2U);
  ASSERT_EQ(beat.reply.extended.size(), 1U);
  EXPECT_EQ(beat.reply.extended[0].lease.id, kept.id);
  EXPECT_EQ(beat.changes.writes.size(), 1U);
}

TEST_F(Heartbeat, GoesOnWhereOneChangeWasFull) {
  constexpr std::size_t kMany = 2 * kTransactionWritesMax + 1;
  for (std::size_t i = 0; i < kMany; ++i) taken(kOne, std::to_string(i), 600);
  std::size_t extended = 0;
  std::optional<Key> after;
  int changes = 0;
  do {
    const Decision<HeartbeatReply> beat = heartbeat(board_, kOne, after);
    EXPECT_LE(beat.changes.writes.size(), kTransactionWritesMax);
    extended += beat.reply.extended.size();
    after = beat.reply.goes_on_after;
    ++changes;
  } while (after);
  EXPECT_EQ(extended, kMany);
  EXPECT_EQ(changes, 3);
}

TEST_F(Heartbeat, OfSeveralSessionsIsOneChange) {
  taken(kOne, "1", 600);
  taken_shared(kOne, "2", 600);
  taken_shared(kTwo, "2", 600);
  const Lease elsewhere = taken(kOneElsewhere, "3", 600);
  pass(kMinute);
  const std::vector<SessionId> sessions{kTwo.session, kOne.session};
  const Decision<HeartbeatReply> beat = heartbeat(board_, sessions);
  apply(beat.changes);
  EXPECT_EQ(beat.changes.writes.size(), 2U);
  EXPECT_EQ(beat.reply.extended.size(), 3U);
  EXPECT_EQ(ms_until(*on("2")[0].expires, board_.now), 600'000);
  EXPECT_EQ(ms_until(*on("2")[1].expires, board_.now), 600'000);
  EXPECT_EQ(on("3")[0], elsewhere);
}

TEST_F(Heartbeat, OfNobodyWritesNothing) {
  taken(kOne, "1", 600);
  EXPECT_TRUE(heartbeat(board_, std::span<const SessionId>()).changes.writes.empty());
}

TEST_F(Heartbeat, SaysHowASessionsLeasesStandWithoutABeat) {
  taken(kOne, "1", 60);
  const Lease kept = taken(kOne, "2", 600);
  taken(kTwo, "3", 600);
  pass(kMinute);
  const HeartbeatReply reply = leases_of(board_, kOne.session);
  ASSERT_EQ(reply.lost.size(), 1U);
  ASSERT_EQ(reply.extended.size(), 1U);
  EXPECT_EQ(reply.extended[0].lease, kept);
}

TEST_F(Heartbeat, WritesNothingWhenThereIsNothingToExtend) {
  taken(kTwo, "1");
  EXPECT_TRUE(heartbeat(board_, kOne).changes.writes.empty());
}

// --- transfer ---

class TransferRule : public Rules {
 protected:
  Result<Grants> given(const Claimant& who, const LeaseRef& ref, const Claimant& to) {
    Result<Grants> grants =
        applied(transfer(board_, {.who = who, .lease = ref, .to = to, .new_id = {"L-new"}}));
    if (grants) stamp(*grants, Fence{seq_});
    return grants;
  }
};

TEST_F(TransferRule, IsANewGrantToTheOther) {
  const Lease old = taken(kOne, "1", 600);
  pass(kMinute);
  const Result<Grants> grants = given(kOne, old.id, kTwo);
  ASSERT_TRUE(grants);
  const Lease& lease = grants->front().lease;
  EXPECT_EQ(lease.id, LeaseId{"L-new"});
  EXPECT_GT(lease.fence, old.fence) << "the old holder's fence must no longer pass";
  EXPECT_EQ(lease.session, kTwo.session);
  EXPECT_EQ(lease.agent, kTwo.agent);
  EXPECT_EQ(on("1"), (std::vector<Lease>{lease}));
  ASSERT_EQ(ops(), (Ops{Op::transfer}));
  EXPECT_EQ(events_[0].lease, old.id);
  EXPECT_EQ(events_[0].to_lease, lease.id);
  EXPECT_EQ(events_[0].to_agent, kTwo.agent);
}

TEST_F(TransferRule, EndsTheRightOfTheOneWhoGaveIt) {
  const Lease old = taken(kOne, "1");
  ASSERT_TRUE(given(kOne, old.id, kTwo));
  EXPECT_EQ(kind(renewed(kOne, old.id)), ErrorKind::not_found);
  EXPECT_EQ(kind(renewed(kOne, item("1"))), ErrorKind::held);
  EXPECT_TRUE(renewed(kTwo, item("1")));
}

TEST_F(TransferRule, DoesNotTieTheNewHolderToTheOldOnesProcess) {
  Claimant tied = kOne;
  tied.process = ProcessTie{.host = "h", .boot = {"boot-1"}, .pid = 42, .start_ticks = 7};
  taken(tied, "1");
  EXPECT_TRUE(on("1")[0].process);
  ASSERT_TRUE(given(tied, item("1"), kTwo));
  EXPECT_FALSE(on("1")[0].process);
}

TEST_F(TransferRule, GivesASessionNoSecondLeaseOnWhatItShares) {
  const Lease mine = taken_shared(kOne, "1");
  const Lease theirs = taken_shared(kTwo, "1", 60);
  const Result<Grants> refused = given(kOne, mine.id, kTwo);
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().hint, "dibs claim release " + mine.id.text));
  pass(kMinute);
  ASSERT_TRUE(given(kOne, mine.id, kTwo)) << "its own has lapsed";
  ASSERT_EQ(on("1").size(), 1U);
  EXPECT_EQ(on("1")[0].session, kTwo.session);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::transfer}));
  EXPECT_EQ(events_[0].lease, theirs.id);
  EXPECT_TRUE(applied(upgrade(board_, kTwo, item("1"), policy_)))
      << "nothing of its own in the way";
}

TEST_F(TransferRule, IsForTheHolderOfALiveLease) {
  const Lease lease = taken(kOne, "1", 600);
  EXPECT_EQ(kind(given(kTwo, lease.id, kTwo)), ErrorKind::held);
  pass(600'000);
  EXPECT_EQ(kind(given(kOne, lease.id, kTwo)), ErrorKind::lease_lost);
}

// --- upgrade and downgrade ---

using Upgrade = Rules;

TEST_F(Upgrade, MakesTheOnlyReaderAWriterWithANewFence) {
  const Lease reader = taken_shared(kOne, "1", 600);
  pass(kMinute);
  Result<Grants> grants = applied(upgrade(board_, kOne, reader.id, policy_));
  ASSERT_TRUE(grants);
  EXPECT_EQ(on("1")[0].mode, Mode::exclusive);
  EXPECT_EQ(on("1")[0].id, reader.id);
  EXPECT_GT(on("1")[0].fence, reader.fence);
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 600'000);
  EXPECT_EQ(ops(), (Ops{Op::upgrade}));
  EXPECT_EQ(kind(take(shared(kTwo, {"1"}))), ErrorKind::held);
}

TEST_F(Upgrade, IsRefusedWhileAnotherReads) {
  taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  EXPECT_EQ(kind(applied(upgrade(board_, kOne, item("1"), policy_))), ErrorKind::held);
}

TEST_F(Upgrade, EndsReadersWhoseTimeIsOver) {
  taken_shared(kTwo, "1", 60);
  const Lease mine = taken_shared(kOne, "1", 600);
  pass(kMinute);
  ASSERT_TRUE(applied(upgrade(board_, kOne, mine.id, policy_)));
  EXPECT_EQ(on("1").size(), 1U);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::upgrade}));
}

TEST_F(Upgrade, OfAWriterAnswersTheSameAndWritesNothing) {
  const Lease lease = taken(kOne, "1");
  const Result<Decision<Grants>> decision = upgrade(board_, kOne, lease.id, policy_);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.writes.empty());
  EXPECT_TRUE(decision->reply[0].already_held);
}

TEST_F(Upgrade, OfAnExclusiveLeaseAfterARebootCountsOnTheNewBootClock) {
  taken(kOne, "1");
  reboot();
  ASSERT_TRUE(applied(upgrade(board_, kOne, item("1"), policy_)));
  EXPECT_EQ(on("1")[0].expires->boot, board_.now.boot);
}

using Downgrade = Rules;

TEST_F(Downgrade, LetsReadersIn) {
  const Lease lease = taken(kOne, "1");
  ASSERT_TRUE(applied(downgrade(board_, kOne, lease.id)));
  EXPECT_EQ(on("1")[0].mode, Mode::shared);
  EXPECT_EQ(ops(), (Ops{Op::downgrade}));
  EXPECT_TRUE(take(shared(kTwo, {"1"})));
}

TEST_F(Downgrade, OfAReaderAnswersTheSameAndWritesNothing) {
  const Lease lease = taken_shared(kOne, "1");
  const Result<Decision<Grants>> decision = downgrade(board_, kOne, lease.id);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.writes.empty());
  EXPECT_TRUE(decision->reply[0].already_held);
}

TEST_F(Downgrade, OfAReaderAfterARebootCountsOnTheNewBootClock) {
  const Lease old = taken_shared(kOne, "1");
  reboot();
  const Result<Grants> again = applied(downgrade(board_, kOne, item("1")));
  ASSERT_TRUE(again && again->front().already_held);
  EXPECT_EQ(again->front().lease, on("1")[0]);
  EXPECT_EQ(on("1")[0].id, old.id);
  EXPECT_EQ(on("1")[0].expires->boot, board_.now.boot);
}

TEST_F(Downgrade, IsForTheHolderAlone) {
  taken(kOne, "1");
  EXPECT_EQ(kind(applied(downgrade(board_, kTwo, item("1")))), ErrorKind::held);
  EXPECT_EQ(kind(applied(upgrade(board_, kTwo, item("1"), policy_))), ErrorKind::held);
}

// --- standing ---

TEST(Standing, OfALiveLeaseSaysNothing) {
  Board board;
  board.now = {.unix_ms = 1000, .boot_ms = 1000, .boot = {"b"}};
  Lease lease;
  lease.ttl_secs = 1;
  lease.beat = board.now;
  lease.expires = later_by(board.now, 1000);
  const Standing standing = standing_of(lease, board, {});
  EXPECT_EQ(standing.condition, Condition::live);
  EXPECT_EQ(standing.why, "");
  EXPECT_TRUE(holder_may_act(lease, board));
}

TEST(Standing, TheHolderMayNotActAtTheVeryEnd) {
  Board board;
  board.now = {.unix_ms = 1000, .boot_ms = 1000, .boot = {"b"}};
  Lease lease;
  lease.ttl_secs = 1;
  lease.expires = board.now;
  EXPECT_FALSE(holder_may_act(lease, board));
  EXPECT_FALSE(standing_of(lease, board, {}).held());
}

TEST(Stamp, GivesTheFenceToNewGrantsAlone) {
  Grants grants(2);
  grants[0].lease.fence = {3};
  stamp(grants, {9});
  EXPECT_EQ(grants[0].lease.fence, Fence{3});
  EXPECT_EQ(grants[1].lease.fence, Fence{9});
}

TEST_F(Renew, SaysOfALeaseWhetherItIsOnesOwn) {
  const Lease lease = taken(kOne, "1");
  const Result<HeldLease> own = own_lease(board_, kOne, item("1"));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->lease.id, lease.id);
  EXPECT_EQ(own_lease(board_, kTwo, lease.id).error().kind, ErrorKind::held);
}

}  // namespace
}  // namespace dibs
