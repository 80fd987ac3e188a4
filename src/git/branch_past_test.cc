#include "git/branch_past.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

using Paths = std::vector<std::string>;

ChangedPaths changed(const Paths& paths) { return {.all = paths, .added = {}, .deleted = {}}; }

/// base ─ m (main); a1 ─ a2 left at base, and b has merged both.
BranchPast past() {
  return {.base = "base",
          .commits = {{"b", {"m", "a1"}},
                      {"a2", {"a1"}},
                      {"a1", {"base"}},
                      {"m", {"base"}},
                      {"base", {"before"}}},
          .changes = {{{"base", "a1"}, changed({"one"})}, {{"a1", "a2"}, changed({"two"})}}};
}

TEST(BranchPast, PutsStretchesTogether) {
  EXPECT_EQ(past().changed({"base", "a2"}), changed({"one", "two"}));
  EXPECT_EQ(past().changed({"a2", "a2"}), ChangedPaths{});
  EXPECT_EQ(past().changed({"base", "m"}), std::nullopt);
  EXPECT_EQ(past().changed({"base", "b"}), std::nullopt) << "of a merge nothing is known";
  EXPECT_EQ(past().changed({"m", "a2"}), std::nullopt) << "it does not lead there";
}

TEST(BranchPast, TakesWhatFollowsAndNothingElse) {
  BranchPast grown = past();
  EXPECT_TRUE(grown.add({{"a4", {"a3", "m"}}, {"a3", {"a2"}}}));
  grown.changes[{"a2", "a3"}] = changed({"three"});
  EXPECT_EQ(grown.changed({"base", "a3"}), changed({"one", "three", "two"}));
  EXPECT_FALSE(grown.add({{"x", {"before"}}})) << "before is not among what is known";
  EXPECT_FALSE(grown.add({{"root", {}}})) << "with that not all have one commit any more";
}

TEST(BranchPast, KnowsWhereBranchesWereBefore) {
  EXPECT_EQ(past().left_behind({"m", "a1"}), (Paths{"b", "a2"}));
  EXPECT_EQ(past().left_behind({"b", "a2"}), Paths{});
}

TEST(BranchPast, ForgetsWhatLeadsToNoTip) {
  BranchPast left = past();
  left.forget_all_but({"a1", "m"});
  EXPECT_EQ(left.commits,
            (std::vector<HistoryCommit>{{"a1", {"base"}}, {"m", {"base"}}, {"base", {"before"}}}));
  EXPECT_EQ(left.changes.size(), 1U);
  EXPECT_TRUE(left.changes.contains({"base", "a1"}));
}

}  // namespace
}  // namespace dibs
