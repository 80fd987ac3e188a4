#include "rules/lease_history.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

PastEvent past(Op op, const std::string& resource, const std::string& lease,
               const std::string& agent) {
  return {.seq = 0,
          .unix_ms = 0,
          .event = {.op = op, .resource = {resource}, .lease = {lease}, .agent = {agent}}};
}

TEST(LeaseHistory, HasOneHolderAtATime) {
  const std::vector<PastEvent> history{past(Op::acquire, "item:a", "1", "agent:one"),
                                       past(Op::acquire, "item:b", "2", "agent:two"),
                                       past(Op::heartbeat, "item:a", "1", "agent:one"),
                                       past(Op::downgrade, "item:a", "1", "agent:one"),
                                       past(Op::upgrade, "item:a", "1", "agent:one"),
                                       past(Op::land, "item:b", "2", "agent:two"),
                                       past(Op::auto_evict, "item:a", "1", "agent:one"),
                                       past(Op::acquire, "item:a", "3", "agent:two"),
                                       past(Op::release, "item:a", "3", "agent:two"),
                                       past(Op::acquire, "item:a", "4", "agent:one"),
                                       past(Op::force_evict, "item:a", "4", "agent:one")};
  EXPECT_EQ(contradictions_in(history), std::vector<std::string>{});
}

TEST(LeaseHistory, SeesTwoHoldersAtOnce) {
  const std::vector<PastEvent> history{past(Op::acquire, "item:a", "1", "agent:one"),
                                       past(Op::acquire, "item:a", "2", "agent:two")};
  EXPECT_EQ(contradictions_in(history),
            std::vector<std::string>{"item:a: agent:two got it while agent:one held it"});
}

TEST(LeaseHistory, SeesALandingByOneWhoHadLostIt) {
  const std::vector<PastEvent> history{past(Op::acquire, "item:a", "1", "agent:one"),
                                       past(Op::auto_evict, "item:a", "1", "agent:one"),
                                       past(Op::acquire, "item:a", "2", "agent:two"),
                                       past(Op::land, "item:a", "1", "agent:one")};
  EXPECT_EQ(contradictions_in(history),
            std::vector<std::string>{"item:a: land of a lease of agent:one that did not hold it"});
}

TEST(LeaseHistory, FollowsALeaseThatIsHandedOn) {
  std::vector<PastEvent> history{past(Op::acquire, "item:a", "1", "agent:one"),
                                 past(Op::transfer, "item:a", "1", "agent:one")};
  history.back().event.to_lease = LeaseId{"2"};
  history.back().event.to_agent = AgentId{"agent:two"};
  history.push_back(past(Op::land, "item:a", "2", "agent:two"));
  EXPECT_EQ(contradictions_in(history), std::vector<std::string>{});
  history.push_back(past(Op::renew, "item:a", "1", "agent:one"));
  EXPECT_EQ(contradictions_in(history).size(), 1U);
}

TEST(LeaseHistory, LeavesThoseWhoWaitAlone) {
  const std::vector<PastEvent> history{past(Op::acquire, "item:a", "1", "agent:one"),
                                       past(Op::wait, "item:a", "2", "agent:two"),
                                       past(Op::leave, "item:a", "2", "agent:two")};
  EXPECT_EQ(contradictions_in(history), std::vector<std::string>{});
}

}  // namespace
}  // namespace dibs
