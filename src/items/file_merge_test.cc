#include "items/file_merge.h"

#include <gtest/gtest.h>

#include "model/item.h"

namespace dibs {
namespace {

std::string file_with(const std::vector<std::string>& labels, std::int64_t updated_unix_ms) {
  Item item;
  item.id = {"a"};
  item.title = "A";
  item.labels = labels;
  item.updated_unix_ms = updated_unix_ms;
  return item_file(item);
}

TEST(FileMerge, KnowsItemsInTheTreeByTheirPath) {
  EXPECT_NE(format_at(".dibs/items/a.json"), nullptr);
  EXPECT_NE(format_at("sub/project/.dibs/items/a.json"), nullptr);
  for (const char* path : {"", "a.json", ".dibs/items/a.md", ".dibs/items/b/a.json",
                           "x.dibs/items/a.json", ".dibs/config.toml"})
    EXPECT_EQ(format_at(path), nullptr) << path;
}

TEST(FileMerge, MergesAnItemByField) {
  const MergeFormat* format = format_at(".dibs/items/a.json");
  const Result<std::string> merged = format->merge(
      {.base = file_with({"x"}, 1), .ours = file_with({"x", "o"}, 2), .theirs = file_with({}, 3)});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(*merged, file_with({"o"}, 3));
}

TEST(FileMerge, TakesAnEmptyBaseForNone) {
  const Result<std::string> merged =
      format_at(".dibs/items/a.json")
          ->merge({.base = "", .ours = file_with({"o"}, 2), .theirs = file_with({"t"}, 1)});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(*merged, file_with({"o", "t"}, 2));
}

TEST(FileMerge, RefusesWhatIsNoItemOrTwo) {
  const MergeFormat* format = format_at(".dibs/items/a.json");
  const std::string fine = file_with({}, 1);
  EXPECT_FALSE(format->merge({.base = fine, .ours = "{ broken", .theirs = fine}));
  EXPECT_FALSE(format->merge({.base = fine, .ours = fine, .theirs = "[]"}));
  EXPECT_FALSE(format->merge({.base = fine, .ours = fine, .theirs = R"({"id":"b","title":"B"})"}));
}

}  // namespace
}  // namespace dibs
