#include "model/glob_overlap.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/held_globs.h"
#include "model/repository_path.h"

namespace dibs {
namespace {

using Texts = std::vector<std::string>;

GlobSet set_of(const Texts& texts) {
  const Result<GlobSet> set = GlobSet::parse(texts);
  EXPECT_TRUE(set) << texts.front() << ": " << set.error().message;
  return set.value_or(GlobSet());
}

// The path that shows the overlap; "" when there is none, "?" when it is too hard to tell.
std::string overlap_of(const Texts& one, const Texts& other) {
  const std::optional<Overlap> found = overlap(set_of(one), set_of(other));
  const std::optional<Overlap> mirrored = overlap(set_of(other), set_of(one));
  EXPECT_EQ(found.has_value(), mirrored.has_value()) << "overlap is symmetric";
  return found ? found->path.value_or("?") : "";
}

TEST(Overlap, ShowsAPathThatBothMatch) {
  EXPECT_EQ(overlap_of({"src/**"}, {"**/*.cc"}), "src/.cc");
  EXPECT_EQ(overlap_of({"src/a*"}, {"src/*b"}), "src/ab");
  EXPECT_EQ(overlap_of({"src/auth"}, {"src/auth/token.cc"}), "src/auth/token.cc");
  EXPECT_EQ(overlap_of({"**"}, {"**"}), "a") << "something a reader can read";
  EXPECT_EQ(overlap_of({"{a,b}/x"}, {"{b,c}/*"}), "b/x");
}

TEST(Overlap, IsNoneWhereNoPathIsInBoth) {
  EXPECT_EQ(overlap_of({"src/a/**"}, {"src/b/**"}), "");
  EXPECT_EQ(overlap_of({"src/*.cc"}, {"src/*.h"}), "");
  EXPECT_EQ(overlap_of({"src/*"}, {"src/*/*"}), "");
  EXPECT_EQ(overlap_of({"[a-c]x"}, {"[d-f]x"}), "");
  EXPECT_EQ(overlap_of({"src/"}, {"src*"}), "") << "below src, and beside it";
  EXPECT_EQ(overlap_of({"A"}, {"a"}), "") << "case counts";
}

TEST(Overlap, CountsNoPathThatCannotExist) {
  EXPECT_EQ(overlap_of({"[.]/a"}, {"?/a"}), "");
  EXPECT_EQ(overlap_of({"a/[.][.]"}, {"a/??"}), "");
  EXPECT_EQ(overlap_of({"a/?"}, {"a/[./]"}), "");
  EXPECT_EQ(overlap_of({"[.][.][.]"}, {"???"}), "...");
}

TEST(Overlap, LeavesOutWhatEitherTakesAway) {
  EXPECT_EQ(overlap_of({"src/**", "!src/gen/**"}, {"src/gen/a.cc"}), "");
  EXPECT_EQ(overlap_of({"src/gen/**"}, {"src/**", "!src/gen/**", "src/gen/keep"}), "src/gen/keep");
  EXPECT_EQ(overlap_of({"*", "!?"}, {"*", "!??"}), "aaa");
  EXPECT_EQ(overlap_of({"a*", "!*a"}, {"*b", "!ab"}), "aab");
}

TEST(Overlap, CountsWithoutAPathWhereItIsTooHardToTell) {
  // To tell what "*a??…" takes away, all of the last bytes that were an 'a' must be remembered: too
  // many states to visit, before it is seen that the rest is taken away by the last one.
  const std::string hard = "!*a" + std::string(40, '?');
  EXPECT_EQ(overlap_of({"*", hard, "!*"}, {"*"}), "?");
  EXPECT_EQ(overlap_of({"*", hard}, {"*"}), "a") << "easy to show";
}

TEST(Overlap, IsEasyForManyStars) {
  std::string one;
  std::string other;
  for (int i = 0; i < 20; ++i) {
    one += "*a";
    other += "*b";
  }
  EXPECT_EQ(overlap_of({one + "c"}, {other + "d"}), "");
  EXPECT_NE(overlap_of({one + "*"}, {other + "*"}), "?");
}

TEST(FirstOverlap, FindsTheFirstFromWhereItIsAskedTo) {
  const std::vector<std::string_view> held = {"doc/**", "src/a/*.cc", "**/x.cc", "src/b"};
  const GlobSet wanted = set_of({"src/a/x.cc"});
  const std::optional<HeldOverlap> first = first_overlap(held, wanted);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->index, 1U);
  EXPECT_EQ(first->overlap.path, "src/a/x.cc");
  const std::optional<HeldOverlap> next = first_overlap(held, wanted, first->index + 1);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->index, 2U);
  EXPECT_FALSE(first_overlap(held, wanted, next->index + 1));
}

TEST(FirstOverlap, CountsWhatItCannotRead) {
  const std::vector<std::string_view> held = {"src/{a"};
  const std::optional<HeldOverlap> found = first_overlap(held, set_of({"src/b"}));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->overlap.path);
}

}  // namespace
}  // namespace dibs
