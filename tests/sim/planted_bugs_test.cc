// A simulation that finds nothing proves nothing unless it finds what is there: every planted bug
// is found. The table in docs/guarantees.md is what this prints:
//
//   DIBS_SIM_TABLE=1 build/test/sim_tests --gtest_filter=PlantedBugs.EachIsFound
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "simulation.h"

namespace dibs::sim {
namespace {

constexpr std::uint64_t kSeedsMax = 10'000;

/// The first seed that shows it.
struct Find {
  std::uint64_t seed = 0;
  std::string invariant;
};

Find find(const PlantedBug& planted) {
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    const Verdict verdict = simulate({.seed = seed, .ground = planted.ground, .bug = planted.bug});
    if (verdict.broken) return {.seed = seed, .invariant = verdict.broken->invariant};
  }
  return {};
}

void expect_found(const PlantedBug& planted) {
  const Find found = find(planted);
  EXPECT_NE(found.seed, 0U) << planted.name << " is not found";
  if (std::getenv("DIBS_SIM_TABLE") == nullptr) return;
  fmt::print("| `{}` | {} | {} | {} |\n", planted.name, name_of(planted.ground), found.invariant,
             found.seed);
}

TEST(PlantedBugs, EachIsFound) {
  for (const PlantedBug& planted : kPlantedBugs) expect_found(planted);
}

// One bug, with all that led to its discovery: DIBS_SIM_BUG=no_flush.
TEST(PlantedBugs, One) {
  const char* name = std::getenv("DIBS_SIM_BUG");
  if (name == nullptr) GTEST_SKIP() << "no DIBS_SIM_BUG";
  const auto* planted = std::ranges::find(kPlantedBugs, name, &PlantedBug::name);
  ASSERT_NE(planted, kPlantedBugs.end());
  const Find found = find(*planted);
  ASSERT_NE(found.seed, 0U) << "not found";
  const Verdict verdict = simulate(
      {.seed = found.seed, .ground = planted->ground, .bug = planted->bug, .keeps_trace = true});
  fmt::print("{}seed {}, {}\n", verdict.trace, found.seed, found.invariant);
  EXPECT_TRUE(verdict.broken);
}

TEST(PlantedBugs, AreTheOnesInTheDocumentation) {
  std::ifstream file(DIBS_GUARANTEES);
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::string heading = "## Planted bugs";
  ASSERT_NE(page.find(heading), std::string::npos);
  std::set<std::string> told;
  std::istringstream lines(page.substr(page.find(heading) + heading.size()));
  for (std::string line; std::getline(lines, line) && !line.starts_with("## ");) {
    if (line.starts_with("| `")) told.insert(line.substr(3, line.find('`', 3) - 3));
  }
  std::set<std::string> planted;
  for (const PlantedBug& bug : kPlantedBugs) planted.emplace(bug.name);
  EXPECT_EQ(told, planted);
}

}  // namespace
}  // namespace dibs::sim
