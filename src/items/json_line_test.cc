#include "items/json_line.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

JsonLine parsed(std::string_view text) {
  Result<JsonLine> line = JsonLine::parse(text);
  EXPECT_TRUE(line) << (line ? "" : line.error().message);
  return *std::move(line);
}

std::string with(std::string_view text, std::string_view name, std::string_view json) {
  JsonLine line = parsed(text);
  line.set(name, json);
  return line.text();
}

std::string without(std::string_view text, std::string_view name) {
  JsonLine line = parsed(text);
  line.remove(name);
  return line.text();
}

TEST(JsonLine, FindsMembersAsTheyStand) {
  const JsonLine line = parsed(R"( { "a" : [1, {"b":"}"}] , "\u0062":"x\"," } )");
  EXPECT_EQ(line.raw("a"), R"([1, {"b":"}"}])");
  EXPECT_EQ(line.raw("b"), R"("x\",")");
  EXPECT_FALSE(line.raw("c"));
}

TEST(JsonLine, SetsOneMemberAndNothingElse) {
  EXPECT_EQ(with(R"({"a": 1 ,"b":2})", "a", "[3]"), R"({"a": [3] ,"b":2})");
  EXPECT_EQ(with(R"({"a":1, "b":2 })", "c", "3"), R"({"a":1, "b":2, "c":3 })");
  EXPECT_EQ(with("{\n  \"a\": 1\n}\n", "b", "2"), "{\n  \"a\": 1,\n  \"b\":2\n}\n");
  EXPECT_EQ(with("{}", "a", "1"), R"({"a":1})");
}

TEST(JsonLine, TakesOneMemberAway) {
  EXPECT_EQ(without(R"({"a":1, "b":2, "c":3})", "a"), R"({"b":2, "c":3})");
  EXPECT_EQ(without(R"({"a":1, "b":2, "c":3})", "b"), R"({"a":1, "c":3})");
  EXPECT_EQ(without(R"({"a":1, "b":2, "c":3})", "c"), R"({"a":1, "b":2})");
  EXPECT_EQ(without(R"({"a":1})", "a"), "{}");
  EXPECT_EQ(without(R"({"a":1})", "b"), R"({"a":1})");
}

TEST(JsonLine, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "{", R"({"a":1}{})", R"({"a":1,"a":2})"})
    EXPECT_FALSE(JsonLine::parse(text)) << text;
}

}  // namespace
}  // namespace dibs
