#include "git/changed_paths.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

using namespace std::string_literals;

ChangedPaths changed(const std::string& fields) {
  std::string out = "0123456789\0"s + fields;
  for (char& c : out)
    if (c == '|') c = '\0';
  const Result<std::vector<CommitChanges>> parsed = parse_commit_changes(out);
  EXPECT_TRUE(parsed && parsed->size() == 1);
  return parsed && !parsed->empty() ? parsed->front().paths : ChangedPaths{};
}

TEST(ChangedPaths, TellsCommitsApartAlsoThoseThatChangedNothing) {
  // As diff-tree says it, and as log does.
  for (const std::string& out :
       {"0123456789\0abcdef0123\0M\0b\0A\0a\0"s, "0123456789\0abcdef0123\0\nM\0b\0A\0a\0"s}) {
    const auto parsed = parse_commit_changes(out);
    ASSERT_TRUE(parsed && parsed->size() == 2);
    EXPECT_EQ(parsed->front().commit, "0123456789");
    EXPECT_EQ(parsed->front().paths, ChangedPaths{});
    EXPECT_EQ(parsed->back().commit, "abcdef0123");
    EXPECT_EQ(parsed->back().paths,
              (ChangedPaths{.all = {"a", "b"}, .added = {"a"}, .deleted = {}}));
  }
}

TEST(ChangedPaths, RefusesWhatWasCutShort) {
  EXPECT_FALSE(parse_commit_changes("0123456789\0M\0b"s));
  EXPECT_FALSE(parse_commit_changes("0123456789\0M\0"s));
  EXPECT_FALSE(parse_commit_changes("M\0b\0"s));
}

TEST(ChangedPaths, CollideInTheSamePathAndNotInAnother) {
  EXPECT_TRUE(may_collide(changed("M|a|M|b|"), changed("M|b|M|c|")));
  EXPECT_FALSE(may_collide(changed("M|a|M|c|"), changed("M|b|M|d|")));
  EXPECT_FALSE(may_collide(changed(""), changed("M|b|")));
}

TEST(ChangedPaths, CollideWhereAFileBecomesAFolderAlsoAmongNamesLikeIt) {
  EXPECT_TRUE(may_collide(changed("A|a|"), changed("A|a-b|A|a.c|A|a/b|")));
  EXPECT_TRUE(may_collide(changed("A|a/b/c|"), changed("A|a|A|a!|")));
  EXPECT_FALSE(may_collide(changed("A|a|"), changed("A|a-b/c|A|ab|")));
}

TEST(ChangedPaths, MayCollideWhereAFileIsAddedToAFolderThatLostSome) {
  EXPECT_TRUE(may_collide(changed("D|d/a|A|e/a|"), changed("A|d/b|")));
  EXPECT_TRUE(may_collide(changed("A|d/b|"), changed("D|d/a|A|e/a|")));
  EXPECT_FALSE(may_collide(changed("D|d/a|A|e/a|"), changed("M|d/b|")));
  EXPECT_FALSE(may_collide(changed("D|d/a|"), changed("A|d/b|")));
  EXPECT_FALSE(may_collide(changed("D|a|A|e/a|"), changed("A|b|"))) << "the root stays";
}

TEST(ChangedPaths, OfTwoStepsAreWhatEitherChanged) {
  ChangedPaths both = changed("M|a/b|A|c|");
  join(both, changed("M|a|D|c|M|z|"));
  EXPECT_EQ(both.all, (std::vector<std::string>{"a", "a/b", "c", "z"}));
  EXPECT_EQ(both.added, std::vector<std::string>{"c"});
  EXPECT_EQ(both.deleted, std::vector<std::string>{"c"});
}

}  // namespace
}  // namespace dibs
