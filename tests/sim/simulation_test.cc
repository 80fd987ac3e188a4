// Simulated worlds keep every promise, seed after seed, and a seed is a world for ever.
//
//   DIBS_SIM_SEED=17 DIBS_SIM_GROUND=local build/test/sim_tests --gtest_filter=Simulation.OneSeed
#include "simulation.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace dibs::sim {
namespace {

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

std::string how_to_repeat(const Plan& plan) {
  return fmt::format(
      "DIBS_SIM_SEED={} DIBS_SIM_GROUND={} build/test/sim_tests --gtest_filter=Simulation.OneSeed",
      plan.seed, name_of(plan.ground));
}

void expect_kept(const Plan& plan) {
  const Verdict verdict = simulate(plan);
  if (!verdict.broken) return;
  Plan told = plan;
  told.keeps_trace = true;
  ADD_FAILURE() << verdict.broken->invariant << ": " << verdict.broken->what << "\n"
                << simulate(told).trace << how_to_repeat(plan);
}

void expect_kept_on(Ground ground, int otherwise) {
  const int first = number_from("DIBS_SIM_FIRST", 1);
  const int seeds = number_from("DIBS_SIM_SEEDS", otherwise);
  for (int seed = first; seed < first + seeds && !testing::Test::HasFailure(); ++seed)
    expect_kept({.seed = static_cast<std::uint64_t>(seed), .ground = ground});
}

TEST(Simulation, MemoryKeepsEveryPromise) { expect_kept_on(Ground::memory, 300); }
TEST(Simulation, LocalKeepsEveryPromise) { expect_kept_on(Ground::local, 1000); }
TEST(Simulation, GitKeepsEveryPromise) { expect_kept_on(Ground::git, 700); }

TEST(Simulation, OneSeed) {
  const char* name = std::getenv("DIBS_SIM_GROUND");
  const std::optional<Ground> ground = parse_ground(name == nullptr ? "local" : name);
  ASSERT_TRUE(ground) << "memory, local or git";
  const int seed = number_from("DIBS_SIM_SEED", 1);
  expect_kept({.seed = static_cast<std::uint64_t>(seed), .ground = *ground});
}

TEST(Simulation, TheSameSeedIsTheSameWorld) {
  for (const Ground ground : {Ground::memory, Ground::local, Ground::git}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Plan plan{.seed = seed, .ground = ground};
      EXPECT_EQ(simulate(plan).trace_hash, simulate(plan).trace_hash);
    }
  }
}

TEST(Simulation, AnotherSeedIsAnotherWorld) {
  for (const Ground ground : {Ground::memory, Ground::local, Ground::git}) {
    EXPECT_NE(simulate({.seed = 1, .ground = ground}).trace_hash,
              simulate({.seed = 2, .ground = ground}).trace_hash);
  }
}

// A world in which nothing happens would keep every promise.
TEST(Simulation, MuchHappens) {
  for (const Ground ground : {Ground::memory, Ground::local, Ground::git}) {
    std::size_t entries = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      entries += simulate({.seed = seed, .ground = ground}).entries;
    EXPECT_GT(entries, 20U * 15U) << name_of(ground);
  }
}

}  // namespace
}  // namespace dibs::sim
