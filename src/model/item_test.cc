#include "model/item.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace dibs {
namespace {

Item fix_login() {
  return {.id = {"fix-login-b5c6d7e8"},
          .title = "Fix login",
          .body = "Line one\nline \"two\"\n",
          .state = "ready",
          .priority = 1,
          .labels = {"auth", "bug"},
          .depends_on = {{"db-1"}},
          .files = {"src/auth/**"},
          .estimate_min = 90,
          .type = "bug",
          .created_unix_ms = 1'767'225'600'000,
          .updated_unix_ms = 1'767'225'600'500,
          .created_by = "human:alice",
          .came_from = {},
          .comments = {{.by = "agent:a", .unix_ms = 1'767'225'600'000, .text = "why?"}},
          .unknown_members = R"("severity":{"level":3},"aliases":["x"])"};
}

TEST(Item, ComesBackFromItsFileWithWhatDibsDoesNotKnow) {
  const Result<Item> back = item_from_json(item_file(fix_login()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, fix_login());
}

TEST(Item, SaysHowOftenWorkFailedOnlyIfItDid) {
  Item tried = fix_login();
  EXPECT_FALSE(contains(item_file(tried), "\"tries\""));
  tried.tries = 2;
  EXPECT_TRUE(contains(item_file(tried), "\n  \"tries\":2,\n"));
  EXPECT_EQ(item_from_json(item_file(tried))->tries, 2);
  EXPECT_FALSE(item_from_json(R"({"id":"a","title":"A","tries":-1})"));
  EXPECT_FALSE(item_from_json(R"({"id":"a","title":"A","tries":"2"})"));
}

TEST(Item, HasOneMemberALineInItsFile) {
  const std::string file = item_file(fix_login());
  EXPECT_TRUE(file.starts_with("{\n  \"schema_version\":1,\n  \"id\":\"fix-login-b5c6d7e8\",\n"));
  EXPECT_TRUE(file.ends_with("\n}\n"));
  EXPECT_TRUE(contains(file, "\n  \"severity\":{\"level\":3},\n"));
}

TEST(Item, IsWholeOnItsCardUnlessItIsLong) {
  const Result<Item> back = item_from_json(item_card(fix_login()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, fix_login());

  Item item = fix_login();
  item.body = std::string(kCardBytesMax, 'x');
  const Result<Item> card = item_from_json(item_card(item));
  ASSERT_TRUE(card) << card.error().message;
  EXPECT_TRUE(card->is_shortened);
  EXPECT_EQ(card->body, "");
  EXPECT_EQ(card->labels, item.labels);
  EXPECT_EQ(item_card(*card), item_card(item));
}

TEST(Item, IdsAreWordsOfTheTitleAndChance) {
  EXPECT_EQ(make_item_id("Fix  login!", {0xb5, 0xc6, 0xd7, 0xe8}).text, "fix-login-b5c6d7e8");
  EXPECT_EQ(make_item_id("日本語", {0, 0, 0, 1}).text, "item-00000001");
  EXPECT_EQ(slug_of("--A very long title that goes on and on and on"),
            "a-very-long-title-that-goes-on");
  EXPECT_EQ(slug_of(std::string(100, 'x')), std::string(32, 'x'));
}

TEST(Item, SaysWhatIsWrongAndInWhichLine) {
  const auto why = [](std::string_view text) {
    const Result<Item> item = item_from_json(text);
    return item ? "nothing" : item.error().message;
  };
  EXPECT_EQ(why("{\n  \"id\":\"a\",\n  \"title\":oops\n}\n"),
            "bad JSON in line 3: it is not well-formed");
  EXPECT_EQ(why(R"({"id":"a","title":"t","priority":9})"), "priority is not 0 to 4");
  EXPECT_EQ(why(R"({"id":"a","title":"t","labels":"x"})"), "labels is not a list of texts");
  EXPECT_EQ(why(R"({"id":"a","title":"t","created_at":"yesterday"})"),
            "created_at is no time like 2026-01-31T12:00:00Z");
  EXPECT_EQ(why(R"({"title":"t"})"), "the id is empty");
  EXPECT_EQ(why(R"({"id":"a"})"), "the title is empty");
  EXPECT_EQ(why("[]"), "it is not a JSON object");
  EXPECT_EQ(why(R"({"id":"a","title":"t"})"), "nothing");
}

TEST(Item, IsBounded) {
  Item item = fix_login();
  item.body = std::string(kBodyBytesMax + 1, 'x');
  EXPECT_EQ(check_item(item).error().message,
            "the body is 1048577 bytes long; at most 1048576 are allowed");
  item.body = "\xff";
  EXPECT_EQ(check_item(item).error().message, "the body is not UTF-8");
  item = fix_login();
  item.labels.assign(kLabelsMax + 1, "l");
  EXPECT_EQ(check_item(item).error().message, "there are 101 labels; at most 100 are allowed");
  item = fix_login();
  item.labels = {"a\x1b[31m"};
  EXPECT_FALSE(check_item(item));
}

TEST(Item, RefusesIdsThatCannotBeTyped) {
  EXPECT_TRUE(parse_item_id("t109_1"));
  for (const std::string_view bad : {"", " a", "a ", "a\nb"}) EXPECT_FALSE(parse_item_id(bad));
}

}  // namespace
}  // namespace dibs
