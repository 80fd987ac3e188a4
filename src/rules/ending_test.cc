// How leases end: given back, taken away, cleared up; and what is said of one that is gone.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "rules/claim.h"
#include "rules/claim_fixture.h"

namespace dibs {
namespace {

// --- release ---

using Release = Rules;

TEST_F(Release, FreesTheItem) {
  const Lease lease = taken(kOne, "1");
  const Result<Decision<Grants>> decision = release(board_, kOne, lease.id);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.gives_back) << "must work on a full disk";
  apply(decision->changes);
  EXPECT_FALSE(board_.seats.contains(item("1").key()));
  EXPECT_EQ(ops(), (Ops{Op::release}));
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(Release, LeavesOtherReadersIn) {
  taken_shared(kOne, "1");
  const Lease other = taken_shared(kTwo, "1");
  ASSERT_TRUE(applied(release(board_, kOne, item("1"))));
  EXPECT_EQ(on("1"), (std::vector<Lease>{other}));
}

TEST_F(Release, IsForTheHolderAlone) {
  const Lease lease = taken(kOne, "1");
  EXPECT_EQ(kind(applied(release(board_, kTwo, lease.id))), ErrorKind::held);
  EXPECT_EQ(kind(applied(release(board_, kOneElsewhere, lease.id))), ErrorKind::held);
  EXPECT_EQ(on("1").size(), 1U);
}

TEST_F(Release, OfALapsedLeaseSaysThatItWasLost) {
  const Lease lease = taken(kOne, "1", 600);
  pass(600'000);
  EXPECT_EQ(kind(applied(release(board_, kOne, lease.id))), ErrorKind::lease_lost);
}

TEST_F(Release, DoesNotFreeALaterGrant) {
  const Lease old = taken(kOne, "1", 600);
  pass(600'000);
  taken(kOne, "1");
  EXPECT_EQ(kind(applied(release(board_, kOne, old.id))), ErrorKind::not_found);
  EXPECT_EQ(on("1").size(), 1U);
}

// --- force-evict ---

using ForceEvict = Rules;

TEST_F(ForceEvict, EndsAnyLeaseAndSaysWhoAndWhy) {
  const Lease lease = taken(kOne, "1");
  const Result<Decision<Grants>> decision = force_evict(board_, kTwo.agent, lease.id, "it hangs");
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.gives_back);
  apply(decision->changes);
  EXPECT_TRUE(on("1").empty());
  ASSERT_EQ(ops(), (Ops{Op::force_evict}));
  EXPECT_EQ(events_[0].agent, kOne.agent);
  EXPECT_EQ(events_[0].by, kTwo.agent);
  EXPECT_EQ(events_[0].reason, "it hangs");
  EXPECT_GT(taken(kTwo, "1").fence, lease.fence);
}

TEST_F(ForceEvict, ByResourceEndsAllReadersByLeaseOne) {
  const Lease one = taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  ASSERT_TRUE(applied(force_evict(board_, kThree.agent, one.id, "r")));
  EXPECT_EQ(on("1").size(), 1U);
  taken_shared(kOne, "1");
  ASSERT_EQ(applied(force_evict(board_, kThree.agent, item("1"), "r"))->size(), 2U);
  EXPECT_TRUE(on("1").empty());
}

TEST_F(ForceEvict, OfNothingIsNotFound) {
  EXPECT_EQ(kind(applied(force_evict(board_, kOne.agent, item("1"), "r"))), ErrorKind::not_found);
}

// --- cleanup ---

using CleanupRule = Rules;

TEST_F(CleanupRule, EndsWhatIsLapsedDeadOrStaleAndSaysWhy) {
  taken(kOne, "lapsed", 60);
  const Lease dead = taken(kOne, "dead", 86'400);
  ASSERT_TRUE(take(with(request(kOne, {"stale"}, 0), Takeover::ended_only, "r")));
  taken(kTwo, "live", 86'400);
  board_.gone[dead.id] = "process 42 is gone";
  pass(policy_.stale_after_secs * 1000 + 1);
  const Decision<std::vector<Ended>> decision = cleanup(board_, policy_, 0);
  EXPECT_EQ(decision.reply.size(), 3U);
  EXPECT_TRUE(decision.changes.gives_back);
  for (const Ended& ended : decision.reply) EXPECT_FALSE(ended.standing.why.empty());
  apply(decision.changes);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::auto_evict, Op::auto_evict}));
  EXPECT_EQ(on("live").size(), 1U);
  EXPECT_TRUE(on("lapsed").empty() && on("dead").empty() && on("stale").empty());
}

TEST_F(CleanupRule, LeavesWhatGaveASignOfLifeRecently) {
  taken(kOne, "1", 60);
  pass(kMinute);
  EXPECT_TRUE(ended_leases(board_, policy_, 61).empty());
  EXPECT_EQ(ended_leases(board_, policy_, 60).size(), 1U);
}

TEST_F(CleanupRule, OfOneResourceKeepsTheReadersThatAreLive) {
  taken_shared(kOne, "1", 60);
  taken_shared(kTwo, "1", 60);
  const Lease live = taken_shared(kThree, "1", 600);
  pass(kMinute);
  const Decision<std::vector<Ended>> decision = cleanup(board_, policy_, 0);
  EXPECT_EQ(decision.reply.size(), 2U);
  EXPECT_EQ(decision.changes.writes.size(), 1U);
  apply(decision.changes);
  EXPECT_EQ(on("1"), (std::vector<Lease>{live}));
}

TEST_F(CleanupRule, LeavesWhatAnotherToolHoldsForWhoeverWantsIt) {
  Claimant other_tool = kOne;
  other_tool.session = {std::string(kAnotherTool) + "human:eve"};
  ASSERT_TRUE(take(request(other_tool, {"1"}, 0)));
  pass(policy_.stale_after_secs * 1000 + 1);
  EXPECT_TRUE(ended_leases(board_, policy_, 0).empty());
  EXPECT_TRUE(take(with(request(kTwo, {"1"}), Takeover::stale_too, "it is left")));
}

TEST_F(CleanupRule, EndsAllThatHasEndedOnTheLastResourceThatFits) {
  for (std::size_t i = 0; i < kTransactionWritesMax - 1; ++i) taken(kOne, std::to_string(i), 60);
  taken_shared(kOne, "z", 60);
  taken_shared(kTwo, "z", 60);
  pass(kMinute);
  const Decision<std::vector<Ended>> decision = cleanup(board_, policy_, 0);
  EXPECT_EQ(decision.changes.writes.size(), kTransactionWritesMax);
  EXPECT_EQ(decision.reply.size(), kTransactionWritesMax + 1);
}

TEST_F(CleanupRule, DoesAsMuchAtOnceAsOneEntryHoldsAndTheRestNextTime) {
  for (std::size_t i = 0; i < kTransactionWritesMax + 10; ++i) taken(kOne, std::to_string(i), 60);
  pass(kMinute);
  const Decision<std::vector<Ended>> first = cleanup(board_, policy_, 0);
  EXPECT_EQ(first.changes.writes.size(), kTransactionWritesMax);
  EXPECT_EQ(first.reply.size(), kTransactionWritesMax);
  apply(first.changes);
  const Decision<std::vector<Ended>> second = cleanup(board_, policy_, 0);
  EXPECT_EQ(second.reply.size(), 10U);
  apply(second.changes);
  EXPECT_TRUE(cleanup(board_, policy_, 0).reply.empty());
}

// --- what became of a lease that is gone ---

class Absence : public Rules {
 protected:
  // Remembers what the last change said, as history would.
  void note() {
    for (const Event& event : events_)
      past_.push_back({.seq = seq_, .unix_ms = board_.now.unix_ms, .event = event});
  }
  std::vector<PastEvent> past_;
};

TEST_F(Absence, AfterOnesOwnReleaseIsAReleaseAgain) {
  const Lease lease = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(release(board_, kOne, lease.id)));
  note();
  for (const LeaseRef& ref : {LeaseRef(lease.id), LeaseRef(item("1"))}) {
    const PastEvent* before = own_release(past_, kOne, ref);
    ASSERT_NE(before, nullptr);
    EXPECT_EQ(before->event.lease, lease.id);
  }
  EXPECT_EQ(own_release(past_, kTwo, lease.id), nullptr);
  EXPECT_EQ(own_release(past_, kTwo, item("1")), nullptr);
}

TEST_F(Absence, AfterALaterLeaseOfOnesOwnGoesByTheLast) {
  const Lease first = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(release(board_, kOne, first.id)));
  note();
  const Lease second = taken(kOne, "1", 600);
  note();
  pass(600'000);
  ASSERT_TRUE(take(request(kTwo, {"1"})));
  note();
  EXPECT_NE(own_release(past_, kOne, first.id), nullptr);
  EXPECT_EQ(own_release(past_, kOne, item("1")), nullptr) << "the last one was not released";
  EXPECT_EQ(explain_absence(past_, kOne, item("1")).kind, ErrorKind::lease_lost);
  EXPECT_EQ(explain_absence(past_, kOne, second.id).kind, ErrorKind::lease_lost);
}

TEST_F(Absence, IsExplainedByHowItEnded) {
  const Lease evicted = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(force_evict(board_, kTwo.agent, evicted.id, "it hangs")));
  note();
  const Error error = explain_absence(past_, kOne, evicted.id);
  EXPECT_EQ(error.kind, ErrorKind::lease_lost);
  EXPECT_TRUE(contains(error.message, "agent:two evicted it: it hangs")) << error.message;
  EXPECT_EQ(error.hint, "take it again before you go on: dibs claim acquire item:1");
}

TEST_F(Absence, IsExplainedByExpiryAndByTransfer) {
  const Lease lapsed = taken(kOne, "1", 60);
  note();
  pass(2 * kMinute);
  ASSERT_TRUE(take(request(kTwo, {"1"})));
  note();
  EXPECT_TRUE(contains(explain_absence(past_, kOne, lapsed.id).message, "expired 1 min ago"));
  const Lease given = taken(kOne, "2");
  note();
  ASSERT_TRUE(
      applied(transfer(board_, {.who = kOne, .lease = given.id, .to = kTwo, .new_id = {"L-new"}})));
  note();
  EXPECT_TRUE(contains(explain_absence(past_, kOne, given.id).message, "handed over to agent:two"));
}

TEST_F(Absence, IsExplainedToOthersByReleaseAndByLanding) {
  const Lease released = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(release(board_, kOne, released.id)));
  note();
  EXPECT_TRUE(contains(explain_absence(past_, kTwo, released.id).message, "agent:one released it"));
  const Lease landed = taken(kOne, "2");
  note();
  ASSERT_TRUE(applied(land(board_, kOne, landed.id,
                           {.target = "main", .commit = "c0ffee", .work = "beef", .refs = {}})));
  note();
  EXPECT_TRUE(contains(explain_absence(past_, kOne, item("2")).message,
                       "agent:one landed it: c0ffee on main from beef"));
  EXPECT_EQ(explain_absence(past_, kOne, item("3")).kind, ErrorKind::not_found);
}

// As a dibs may have written it that says less.
TEST_F(Absence, IsExplainedAlsoWhereItIsNotSaidByWhom) {
  const Lease lease = taken(kOne, "1");
  PastEvent past{.seq = 1, .unix_ms = 0, .event = events_.front()};
  past.event.op = Op::transfer;
  EXPECT_TRUE(contains(explain_absence({&past, 1}, kOne, lease.id).message, "to another agent"));
  past.event.op = Op::force_evict;
  EXPECT_TRUE(contains(explain_absence({&past, 1}, kOne, lease.id).message, "someone evicted it"));
}

TEST_F(Absence, OfWhatNeverWasIsNotFound) {
  EXPECT_EQ(explain_absence({}, kOne, LeaseId{"L1"}).kind, ErrorKind::not_found);
  EXPECT_EQ(explain_absence({}, kOne, item("1")).kind, ErrorKind::not_found);
  EXPECT_EQ(own_release({}, kOne, item("1")), nullptr);
}

TEST_F(Absence, OfAnothersLeaseIsNotOnesOwnLoss) {
  const Lease lease = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(release(board_, kOne, lease.id)));
  note();
  EXPECT_EQ(explain_absence(past_, kTwo, item("1")).kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace dibs
