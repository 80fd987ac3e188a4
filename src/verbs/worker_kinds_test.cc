#include "verbs/worker_kinds.h"

#include <gtest/gtest.h>

namespace dibs::verbs {
namespace {

TEST(WorkerKinds, AreForWhatAsksForNothingWithoutLabels) {
  WorkerKind kind;
  EXPECT_TRUE(profile_of(kind).economical);
  kind.labels = {"rust"};
  EXPECT_FALSE(profile_of(kind).economical);
  EXPECT_EQ(profile_of(kind).capabilities, std::vector<std::string>{"rust"});
}

TEST(WorkerKinds, HoldAsMuchAsAllTheirWorkersTogether) {
  WorkerKind kind;
  kind.count = 4;
  kind.capacity = 2;
  kind.cost_hundredths = 150;
  EXPECT_EQ(profile_of(kind).capacity, 8U);
  EXPECT_EQ(profile_of(kind).cost_hundredths, 150U);
  kind.count = kind.capacity = 1000;
  EXPECT_EQ(profile_of(kind).capacity, kCapacityMax);
}

TEST(WorkerKinds, WorkAsAnAgentOfTheirOwn) {
  const AgentId agent{"agent:me"};
  EXPECT_EQ(agent_of_kind(agent, "fast")->text, "agent:me.fast");
  EXPECT_EQ(agent_of_kind({"agent:me.fast"}, "fast")->text, "agent:me.fast");
  EXPECT_EQ(agent_of_kind({"agent:fast"}, "fast")->text, "agent:fast.fast");
  EXPECT_FALSE(agent_of_kind(agent, std::string(kAgentIdMax, 'x')));
}

}  // namespace
}  // namespace dibs::verbs
