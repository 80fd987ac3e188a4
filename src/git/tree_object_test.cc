#include "git/tree_object.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

using namespace std::string_literals;

TEST(TreeObject, IsReadEntryByEntry) {
  const std::string tree = "40000 ab\0\x01\x02"s + "100644 a b.json\0\0\xff"s;
  std::string_view rest = tree;
  const auto folder = next_entry(rest, 2);
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->name, "ab");
  EXPECT_EQ(folder->object_hex(), "0102");
  EXPECT_TRUE(folder->is_folder() && !folder->is_file());
  const auto file = next_entry(rest, 2);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->name, "a b.json");
  EXPECT_EQ(file->object_hex(), "00ff");
  EXPECT_TRUE(file->is_file() && !file->is_folder());
  EXPECT_FALSE(next_entry(rest, 2));
}

TEST(TreeObject, HasNoEntryThatIsCutShort) {
  const std::string tree = "40000 ab\0\x01\x02"s;
  for (std::size_t size = 0; size < tree.size(); ++size) {
    std::string_view rest = std::string_view(tree).substr(0, size);
    EXPECT_FALSE(next_entry(rest, 2)) << size;
  }
  const std::string nameless = "40000\0\x01\x02"s;
  std::string_view rest = nameless;
  EXPECT_FALSE(next_entry(rest, 2));
}

TEST(TreeObject, IsSearchedByName) {
  const std::string tree = "100644 a\0\x01\x02"s + "40000 b\0\x03\x04"s;
  EXPECT_EQ(find_entry(tree, "b", 2).entry->object_hex(), "0304");
  EXPECT_FALSE(find_entry(tree, "c", 2).entry);
  EXPECT_TRUE(find_entry(tree, "c", 2).is_whole);
  EXPECT_FALSE(find_entry(tree.substr(0, tree.size() - 1), "c", 2).is_whole);
}

TEST(TreeObject, WithAnotherObjectForAnEntryIsElseTheSame) {
  const std::string tree = "100644 a\0\x01\x01"s + "100644 ab\0\x02\x02"s;
  EXPECT_EQ(with_entry(tree, {.mode = "100644", .name = "ab", .object_hex = "ffff"}),
            "100644 a\0\x01\x01"s + "100644 ab\0\xff\xff"s);
  EXPECT_EQ(with_entry(tree, {.mode = "100644", .name = "a", .object_hex = "ffff"}),
            "100644 a\0\xff\xff"s + "100644 ab\0\x02\x02"s);
}

TEST(TreeObject, HasANewEntryWhereGitSortsIt) {
  const std::string tree = "100644 a.b\0\x01\x01"s + "40000 a\0\x02\x02"s;
  const auto with = [&](std::string_view mode, std::string_view name) {
    return with_entry(tree, {.mode = mode, .name = name, .object_hex = "ffff"}).value_or("");
  };
  EXPECT_EQ(with("100644", "Z"), "100644 Z\0\xff\xff"s + tree);
  EXPECT_EQ(with("100644", "b"), tree + "100644 b\0\xff\xff"s);
  EXPECT_EQ(with("100644", "a.c"), tree.substr(0, 13) + "100644 a.c\0\xff\xff"s + tree.substr(13));
  EXPECT_EQ(with_entry("", {.mode = "40000", .name = "x", .object_hex = "ffff"}),
            "40000 x\0\xff\xff"s);
}

TEST(TreeObject, TakesNoEntryOfAnotherKindAndNoneWhenItIsCutShort) {
  const std::string tree = "100644 a\0\x01\x01"s + "100644 a.b\0\x02\x02"s;
  EXPECT_FALSE(with_entry(tree, {.mode = "40000", .name = "a", .object_hex = "ffff"}));
  EXPECT_FALSE(with_entry(tree.substr(0, tree.size() - 1),
                          {.mode = "100644", .name = "a", .object_hex = "ffff"}));
}

}  // namespace
}  // namespace dibs
