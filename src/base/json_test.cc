#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/property.h"

namespace dibs {
namespace {

// UTF-8 with everything in it that a writer has to be careful about.
rc::Gen<std::string> any_text() {
  const auto pieces = rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "\"", "\\", "/", "\n", "\t", "\x01", "\x1f", "\x7f", "ü",
                                    "✓", "🙂", "\u2028", "\\u0041", std::string("\0", 1)));
  return rc::gen::map(pieces, [](const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += part;
    return text;
  });
}

TEST(JsonWriter, IsReadBackByAnotherReader) {
  EXPECT_PROPERTY(300, 60, [](std::int64_t number, std::uint64_t natural, bool flag) {
    const std::string name = "name " + *any_text();
    const std::string value = *any_text();
    const std::string text = JsonObject()
                                 .add(name, value)
                                 .add("n", number)
                                 .add("u", natural)
                                 .add("b", flag)
                                 .add_raw("r", JsonArray().add(value).add_raw("1").text())
                                 .text();
    const auto parsed = nlohmann::json::parse(text);
    RC_ASSERT(parsed[name] == value);
    RC_ASSERT(parsed["n"] == number);
    RC_ASSERT(parsed["u"] == natural);
    RC_ASSERT(parsed["b"] == flag);
    RC_ASSERT(parsed["r"] == nlohmann::json::array({value, 1}));
    RC_ASSERT(text.find('\n') == std::string::npos);
  });
}

TEST(JsonWriter, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_string("a\xff\xc3z"), "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
  EXPECT_PROPERTY(200, 60, [](const std::string& bytes) {
    RC_ASSERT(nlohmann::json::accept(json_string(bytes)));
  });
}

TEST(JsonWriter, EscapesAsLittleAsItMustAndOnOneLine) {
  EXPECT_EQ(json_string("q\" b\\ n\n t\t e\x1b d\x7f /ü"),
            "\"q\\\" b\\\\ n\\n t\\t e\\u001b d\\u007f /ü\"");
}

TEST(JsonWriter, KeepsTheOrderOfMembers) {
  EXPECT_EQ(
      JsonObject().add("z", 1).add("a", "x").add_members("\"m\":2,\"b\":3").add("y", true).text(),
      R"({"z":1,"a":"x","m":2,"b":3,"y":true})");
  EXPECT_EQ(JsonObject().add_members("").text(), "{}");
  EXPECT_EQ(JsonObject().add_members("\"a\":1").add_members("").text(), R"({"a":1})");
  EXPECT_EQ(JsonArray().text(), "[]");
}

TEST(ParseJson, KeepsTheOrderOfMembers) {
  EXPECT_EQ(parse_json(R"({"z":1,"a":[true,null,"x"],"m":{}})")->dump(),
            R"({"z":1,"a":[true,null,"x"],"m":{}})");
}

TEST(ParseJson, RefusesWhatIsNotOneWholeValue) {
  for (const char* bad : {"", "{", "{}x", "{} {}", "{\"a\":}", "[1,]", "nul", "'a'", "{a:1}",
                          "\"\xff\"", "\"a\nb\"", "01", "NaN", "// c\n1"})
    EXPECT_FALSE(parse_json(bad)) << bad;
  EXPECT_FALSE(parse_json(std::string("1\0", 2)));
}

TEST(ParseJson, RefusesAKeyThatStandsTwiceInOneObject) {
  EXPECT_FALSE(parse_json(R"({"a":1,"a":2})"));
  EXPECT_FALSE(parse_json(R"([{"x":{"a":1,"b":2,"a":1}}])"));
  EXPECT_FALSE(parse_json(R"({"a":{"b":1},"a":{"b":1}})"));
  EXPECT_TRUE(parse_json(R"({"a":{"a":{"a":1}},"b":{"a":2}})")) << "in different objects";
}

TEST(ParseJson, RefusesDeepNestingWithoutFallingOver) {
  const auto nested = [](std::size_t depth, char open, char close) {
    return std::string(depth, open) + std::string(depth, close);
  };
  EXPECT_TRUE(parse_json(nested(kJsonDepthMax, '[', ']')));
  for (const std::size_t depth : {kJsonDepthMax + 2, std::size_t{1000}, std::size_t{100'000}}) {
    EXPECT_FALSE(parse_json(nested(depth, '[', ']'))) << depth;
    std::string objects;
    for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
    EXPECT_FALSE(parse_json(objects + "1" + std::string(depth, '}'))) << depth;
  }
}

Json any_document(int depth) {
  switch (*any_in<int>(0, depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::arbitrary<std::uint64_t>();
    case 4:
      return *rc::gen::arbitrary<double>();
    case 5:
      return *any_text();
    case 6: {
      Json array = Json::array();
      for (int n = *any_in<int>(0, 3); n > 0; --n) array.push_back(any_document(depth - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (int n = *any_in<int>(0, 3); n > 0; --n) object[*any_text()] = any_document(depth - 1);
      return object;
    }
  }
}

TEST(ParseJson, ReadsWhatAnotherWriterWrote) {
  EXPECT_PROPERTY(300, 60, [] {
    const Json document = any_document(4);
    for (const int indent : {-1, 2}) {
      for (const bool ascii : {false, true}) {
        const Result<Json> parsed = parse_json(document.dump(indent, ' ', ascii));
        RC_ASSERT(parsed);
        RC_ASSERT(parsed->dump() == document.dump());
      }
    }
  });
}

TEST(ParseJson, UnderstandsEveryEscapeAndEveryKindOfNumber) {
  EXPECT_EQ(parse_json(R"("\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83d\ude00")")->get<std::string>(),
            "\"\\/\b\f\n\r\té€😀");
  for (const char* bad : {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud83d")", R"("\ude00")",
                          R"("\ud83dx")", R"("\ud83d\u0041")", R"("\)"})
    EXPECT_FALSE(parse_json(bad)) << bad;
  EXPECT_EQ(
      parse_json("[0,-0,12,-9223372036854775808,18446744073709551615,1.5e3,-2E-2,0.25]")->dump(),
      "[0,0,12,-9223372036854775808,18446744073709551615,1500.0,-0.02,0.25]");
  EXPECT_TRUE(parse_json("18446744073709551616")->is_number_float()) << "past 64 bits";
  for (const char* bad : {"-", "+1", ".5", "1.", "1e", "1e+", "0x10", "1e999", "--1", "1-"})
    EXPECT_FALSE(parse_json(bad)) << bad;
}

TEST(PlainJsonPrefix, EndsAtTheFirstByteThatIsNotPlainWhereverThatIs) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
    for (std::size_t at = 0; at < 20; ++at) {
      std::string text(20, 'a');
      text[at] = static_cast<char>(byte);
      EXPECT_EQ(plain_json_prefix(text), plain ? text.size() : at) << byte << " at " << at;
    }
  }
}

TEST(ParseJson, NeverFallsOverOnAnyBytes) {
  EXPECT_PROPERTY(500, 60, [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::oneOf(
        rc::gen::element('{', '}', '[', ']', '"', ',', ':', '1', '-', 'e', '\\', 'u'),
        rc::gen::arbitrary<char>()));
    const Result<Json> parsed = parse_json(text);
    RC_ASSERT((!parsed || nlohmann::json::accept(text)));
  });
}

TEST(Members, AreThereOnlyWithTheRightType) {
  const Json json =
      *parse_json(R"({"s":"x","i":-5,"u":5,"big":18446744073709551615,"f":1.5,"b":true,"n":null})");
  EXPECT_EQ(text_member(json, "s"), "x");
  EXPECT_EQ(integer_member(json, "i"), -5);
  EXPECT_EQ(integer_member(json, "u"), 5);
  EXPECT_EQ(unsigned_member(json, "u"), 5U);
  EXPECT_EQ(unsigned_member(json, "big"), UINT64_MAX);
  EXPECT_FALSE(integer_member(json, "big"));
  EXPECT_FALSE(unsigned_member(json, "i"));
  for (const char* name : {"f", "b", "n", "s", "none"})
    EXPECT_FALSE(integer_member(json, name)) << name;
  for (const char* name : {"i", "b", "n", "none"}) EXPECT_FALSE(text_member(json, name)) << name;
  EXPECT_FALSE(text_member(*parse_json("[]"), "s"));
}

}  // namespace
}  // namespace dibs
