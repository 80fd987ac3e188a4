// Landing: the lease goes back and the refs move, in one change.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "rules/claim.h"
#include "rules/claim_fixture.h"

namespace dibs {
namespace {

class LandRule : public Rules {
 protected:
  static Landing landing() {
    return {.target = "main",
            .commit = "c0ffee",
            .work = "beef",
            .refs = {{.name = "refs/heads/main", .from = "0ld", .to = "c0ffee"}}};
  }
  Result<Grants> landed(const Claimant& who, const LeaseRef& ref) {
    return applied(land(board_, who, ref, landing()));
  }
};

TEST_F(LandRule, OfSeveralIsOneChangeToo) {
  const Lease one = taken(kOne, "1");
  const Lease two = taken(kTwo, "2");
  Decision<Grants> all;
  add_to(all, *land(board_, kOne, one.id, landing()));
  add_to(all, *land(board_, kTwo, two.id, {.target = "main", .commit = "c2", .work = "w2"}));
  EXPECT_TRUE(all.changes.gives_back);
  EXPECT_EQ(all.changes.refs, landing().refs);
  apply(all.changes);
  EXPECT_TRUE(on("1").empty() && on("2").empty());
  ASSERT_EQ(ops(), (Ops{Op::land, Op::land}));
  EXPECT_EQ(events_[1].reason, "c2 on main from w2");
}

// On a full disk there is room for giving back alone.
TEST_F(LandRule, TogetherWithAClaimIsNotOnlyGivingBack) {
  const Lease one = taken(kOne, "1");
  const Lease two = taken(kOne, "2");
  Decision<Grants> claim_first = *acquire(board_, request(kTwo, {"3"}));
  add_to(claim_first, *land(board_, kOne, one.id, landing()));
  EXPECT_FALSE(claim_first.changes.gives_back);
  Decision<Grants> claim_last = *land(board_, kOne, two.id, landing());
  add_to(claim_last, *acquire(board_, request(kTwo, {"3"})));
  EXPECT_FALSE(claim_last.changes.gives_back);
}

TEST_F(LandRule, GivesTheLeaseBackAndMovesTheRefsInOneChange) {
  const Lease lease = taken(kOne, "1");
  const Result<Decision<Grants>> decision = land(board_, kOne, lease.id, landing());
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->changes.refs, landing().refs);
  EXPECT_TRUE(decision->changes.gives_back) << "must work on a full disk";
  ASSERT_EQ(decision->changes.expectations.size(), 1U);
  EXPECT_EQ(decision->changes.expectations[0].key, item("1").key());
  EXPECT_EQ(decision->reply.front().lease, lease);
  apply(decision->changes);
  EXPECT_FALSE(board_.seats.contains(item("1").key()));
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(LandRule, SaysWhatLandedWhere) {
  const Lease lease = taken(kOne, "1");
  ASSERT_TRUE(landed(kOne, lease.id));
  ASSERT_EQ(ops(), (Ops{Op::land}));
  EXPECT_EQ(events_.front().reason, "c0ffee on main from beef");
  EXPECT_EQ(events_.front().lease, lease.id);
  EXPECT_EQ(events_.front().session, kOne.session);
}

TEST_F(LandRule, IsForTheHolderAlone) {
  const Lease lease = taken(kOne, "1");
  EXPECT_EQ(kind(landed(kTwo, lease.id)), ErrorKind::held);
  EXPECT_EQ(kind(landed(kTwo, item("1"))), ErrorKind::held);
  EXPECT_EQ(kind(landed(kOneElsewhere, lease.id)), ErrorKind::held);
  EXPECT_EQ(on("1"), (std::vector<Lease>{lease}));
}

TEST_F(LandRule, RefusesALapsedLeaseEvenIfNobodyTookIt) {
  const Lease lease = taken(kOne, "1", 600);
  pass(599'999);
  EXPECT_TRUE(land(board_, kOne, lease.id, landing()));
  pass(1);
  EXPECT_EQ(kind(landed(kOne, lease.id)), ErrorKind::lease_lost);
}

TEST_F(LandRule, RefusesALeaseWhoseProcessIsGone) {
  const Lease lease = taken(kOne, "1");
  board_.gone.emplace(lease.id, "process 7 is gone");
  const Result<Grants> refused = landed(kOne, lease.id);
  EXPECT_EQ(kind(refused), ErrorKind::lease_lost);
  EXPECT_TRUE(contains(refused.error().message, "process 7 is gone"));
}

TEST_F(LandRule, DoesNotLandUnderALaterGrant) {
  const Lease old = taken(kOne, "1", 600);
  pass(600'000);
  const Lease later = taken(kOne, "1");
  EXPECT_EQ(kind(landed(kOne, old.id)), ErrorKind::not_found);
  EXPECT_EQ(on("1"), (std::vector<Lease>{later}));
}

TEST_F(LandRule, RefusesWhoeverWasTakenOver) {
  const Lease lease = taken(kOne, "1", 600);
  pass(600'000);
  taken(kTwo, "1");
  EXPECT_EQ(kind(landed(kOne, lease.id)), ErrorKind::not_found);
  EXPECT_EQ(kind(landed(kOne, item("1"))), ErrorKind::held);
}

TEST_F(LandRule, RefusesASharedLeaseAndSaysHowToGoOn) {
  const Lease lease = taken_shared(kOne, "1");
  const Result<Grants> refused = landed(kOne, lease.id);
  EXPECT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().hint, "dibs claim upgrade " + lease.id.text));
  ASSERT_TRUE(applied(upgrade(board_, kOne, lease.id, policy_)));
  EXPECT_TRUE(landed(kOne, lease.id));
}

TEST_F(LandRule, LeavesOtherItemsAlone) {
  const Lease lease = taken(kOne, "1");
  const Lease other = taken(kOne, "2");
  ASSERT_TRUE(landed(kOne, lease.id));
  EXPECT_EQ(on("2"), (std::vector<Lease>{other}));
}

TEST_F(LandRule, HappensOnce) {
  const Lease lease = taken(kOne, "1");
  ASSERT_TRUE(landed(kOne, lease.id));
  EXPECT_EQ(kind(landed(kOne, lease.id)), ErrorKind::not_found);
}

}  // namespace
}  // namespace dibs
