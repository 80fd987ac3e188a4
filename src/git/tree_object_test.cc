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

}  // namespace
}  // namespace dibs
