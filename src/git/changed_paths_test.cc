#include "git/changed_paths.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

using namespace std::string_literals;

ChangedPaths changed(const std::string& fields) {
  std::string out = "0123456789\0"s + fields;
  for (char& c : out)
    if (c == '|') c = '\0';
  const Result<std::vector<ChangedPaths>> parsed = parse_changed_paths(out);
  EXPECT_TRUE(parsed && parsed->size() == 1);
  return parsed && !parsed->empty() ? parsed->front() : ChangedPaths{};
}

TEST(ChangedPaths, TellsCommitsApartAlsoThoseThatChangedNothing) {
  const auto parsed = parse_changed_paths("0123456789\0abcdef0123\0M\0b\0A\0a\0"s);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed,
            (std::vector<ChangedPaths>{{}, {.all = {"a", "b"}, .added = {"a"}, .deleted = {}}}));
}

TEST(ChangedPaths, RefusesWhatWasCutShort) {
  EXPECT_FALSE(parse_changed_paths("0123456789\0M\0b"s));
  EXPECT_FALSE(parse_changed_paths("0123456789\0M\0"s));
  EXPECT_FALSE(parse_changed_paths("M\0b\0"s));
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

}  // namespace
}  // namespace dibs
