#include "git/fork_points.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

TEST(ForkPoints, AreWhereTwoBranchesParted) {
  // base ─ m1 ─ m2 (main); a leaves at base, b and c at m1.
  const ForkPoints forks({{"m2", {"m1"}},
                          {"c", {"m1"}},
                          {"b", {"m1"}},
                          {"m1", {"base"}},
                          {"a", {"base"}},
                          {"base", {"before"}}},
                         {"m2", "a", "b", "c"});
  EXPECT_EQ(forks.of({0, 1}), "base");
  EXPECT_EQ(forks.of({1, 2}), "base");
  EXPECT_EQ(forks.of({0, 2}), "m1");
  EXPECT_EQ(forks.of({2, 3}), "m1");
  EXPECT_TRUE(forks.all_have("base"));
  EXPECT_FALSE(forks.all_have("m1")) << "a left before";
  EXPECT_FALSE(forks.all_have("before")) << "it is not part of what is known";
}

TEST(ForkPoints, ATipThatIsPartOfAnotherIsTheForkItself) {
  const ForkPoints forks({{"b", {"a"}}, {"a", {"base"}}, {"base", {}}}, {"a", "b", "a"});
  EXPECT_EQ(forks.of({0, 1}), "a");
  EXPECT_EQ(forks.of({0, 2}), "a");
}

TEST(ForkPoints, ThereIsNoneOfBranchesThatWereMergedCrosswiseOrHaveNothingInCommon) {
  const ForkPoints forks({{"x2", {"x1", "y1"}},
                          {"y2", {"y1", "x1"}},
                          {"x1", {"base"}},
                          {"y1", {"base"}},
                          {"base", {}},
                          {"other", {}}},
                         {"x2", "y2", "other"});
  EXPECT_EQ(forks.of({0, 1}), std::nullopt);
  EXPECT_EQ(forks.of({0, 2}), std::nullopt);
}

TEST(ForkPoints, MoreTipsThanFitIntoOneWord) {
  std::vector<HistoryCommit> history;
  std::vector<std::string> tips;
  for (int i = 0; i < 150; ++i) {
    tips.push_back("t" + std::to_string(i));
    history.push_back({tips.back(), {"base"}});
  }
  history.push_back({"base", {}});
  const ForkPoints forks(history, tips);
  for (std::size_t a = 0; a < tips.size(); ++a) {
    for (std::size_t b = a + 1; b < tips.size(); ++b) ASSERT_EQ(forks.of({a, b}), "base");
  }
}

}  // namespace
}  // namespace dibs
