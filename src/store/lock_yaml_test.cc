#include "store/lock_yaml.h"

#include <gtest/gtest.h>

#include "testing/property.h"

namespace dibs {
namespace {

using Pairs = std::vector<std::pair<std::string, std::optional<std::string>>>;

Pairs pairs_of(std::string_view text) {
  const Result<LockFields> fields = parse_lock_yaml(text);
  EXPECT_TRUE(fields) << (fields ? "" : fields.error().message) << "\n" << text;
  Pairs pairs;
  for (const LockField& field : fields.value_or(LockFields{}))
    pairs.emplace_back(field.key, field.value);
  return pairs;
}

TEST(LockYaml, ReadsWhatOtherToolsWrite) {
  EXPECT_EQ(pairs_of("task_id: 109\nlocked_by: user@example.com\nlocked_at: 2026-02-13 14:30\n"
                     "hostname: my-pc\npid: 37050\npid_starttime: -\npid_starttime_kind: none\n"),
            (Pairs{{"task_id", "109"},
                   {"locked_by", "user@example.com"},
                   {"locked_at", "2026-02-13 14:30"},
                   {"hostname", "my-pc"},
                   {"pid", "37050"},
                   {"pid_starttime", "-"},
                   {"pid_starttime_kind", "none"}}));
}

TEST(LockYaml, ReadsEveryFormOfAScalar) {
  EXPECT_EQ(pairs_of("a: x y # comment\nb: 'it''s'  # comment\nc: \"q\\\"\\\\\\n\\x41\"\nd:\ne: #\n"
                     "f: a#b\ng: ''\nh: 'a: b'\ni: -5\n"),
            (Pairs{{"a", "x y"},
                   {"b", "it's"},
                   {"c", "q\"\\\nA"},
                   {"d", ""},
                   {"e", ""},
                   {"f", "a#b"},
                   {"g", ""},
                   {"h", "a: b"},
                   {"i", "-5"}}));
}

TEST(LockYaml, PassesOverCommentsBlankLinesMarkersAndCarriageReturns) {
  const Pairs wanted{{"a", "1"}, {"b", "2"}};
  for (const char* text : {"a: 1\nb: 2", "---\na: 1\nb: 2\n---\n",
                           "# x\n\n---\na: 1\n  # y\n\nb: 2\n...\n# z\n", "a: 1\r\nb: 2\r\n",
                           "\xEF\xBB\xBF"
                           "a: 1\nb: '2'\n"})
    EXPECT_EQ(pairs_of(text), wanted) << text;
  EXPECT_TRUE(pairs_of("").empty());
}

TEST(LockYaml, KeepsWhatIsNoScalarAsItStands) {
  const std::string text =
      "a: 1\nlist:\n  - x\n  - y\nflow: [1, 2]\nblock: |\n  two\n  lines\nb: 2\n";
  EXPECT_EQ(pairs_of(text), (Pairs{{"a", "1"},
                                   {"list", std::nullopt},
                                   {"flow", std::nullopt},
                                   {"block", std::nullopt},
                                   {"b", "2"}}));
  EXPECT_EQ(to_yaml(*parse_lock_yaml(text)), text);
}

TEST(LockYaml, RefusesEverythingElse) {
  for (const std::string& text : std::vector<std::string>{"just words\n",
                                                          "a:1\n",
                                                          ": 1\n",
                                                          "a b: 1\n",
                                                          "- a\n",
                                                          "  a: 1\n",
                                                          "[a, b]\n",
                                                          "{a: 1}\n",
                                                          "a: 1\na: 2\n",
                                                          "a: 'open\n",
                                                          "a: \"open\n",
                                                          "a: 'x' y\n",
                                                          "a: \"x\"y\n",
                                                          "a: \"\\q\"\n",
                                                          "a: \"\\x8\"\n",
                                                          "a: \"\\xff\"\n",
                                                          "a: \"\\",
                                                          "a: b: c\n",
                                                          "a: b:\n",
                                                          "a: 1\n---\nb: 2\n",
                                                          "a: 1\n...\nb: 2\n",
                                                          "a: \x01\n",
                                                          std::string("a: \0\n", 5),
                                                          "a: \xff\n",
                                                          "\"a\": 1\n",
                                                          std::string(kLockYamlMax + 1, '\n')})
    EXPECT_FALSE(parse_lock_yaml(text)) << text.substr(0, 40);
  std::string many;
  for (std::size_t i = 0; i <= kLockFieldsMax; ++i) many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_FALSE(parse_lock_yaml(many));
}

TEST(LockYaml, WritesPlainlyWhatOtherToolsReadPlainly) {
  EXPECT_EQ(lock_field("locked_at", "2026-02-13 14:30").text, "locked_at: 2026-02-13 14:30\n");
  EXPECT_EQ(lock_field("locked_by", "a+b@c.d").text, "locked_by: a+b@c.d\n");
  EXPECT_EQ(lock_field("dibs_key", "lock:it's").text, "dibs_key: 'lock:it''s'\n");
  EXPECT_EQ(lock_field("x", "").text, "x: ''\n");
  EXPECT_EQ(lock_field("x", "-").text, "x: '-'\n");
}

TEST(LockYaml, GivesBackEveryText) {
  EXPECT_PROPERTY(200, 40, [] {
    std::string value;
    for (const char c : *rc::gen::container<std::string>(
             rc::gen::oneOf(rc::gen::inRange<char>(1, 127),
                            rc::gen::element('\'', '"', '\\', ':', '#', ' ', '\n', '-'))))
      value += c;
    const Result<LockFields> read =
        parse_lock_yaml("first: 1\n" + lock_field("key", value).text + "last: 2\n");
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->size() == 3U);
    RC_ASSERT(value_in(*read, "key") == value);
  });
}

// Whatever happens to a file, reading it ends.
TEST(LockYaml, SurvivesAnyCutAndAnyByte) {
  const std::string text = "task_id: 1\nlocked_by: \"a\\n\"\nx: 'y''z' # c\nl:\n  - a\n";
  for (std::size_t at = 0; at < text.size(); ++at) {
    (void)parse_lock_yaml(std::string_view(text).substr(0, at));
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      (void)parse_lock_yaml(changed);
    }
  }
}

TEST(LockYaml, QuotesWhatWouldReadAsSomethingElse) {
  for (const std::string& value :
       std::vector<std::string>{"a: b", "ends:", "a ", "\x7f", "a\nb", "it's"})
    EXPECT_EQ(pairs_of(to_yaml({lock_field("key", value)})), (Pairs{{"key", value}}));
}

TEST(LockYaml, TakesALoneDashForAListAndNoWrongEscape) {
  EXPECT_EQ(pairs_of("list:\n-\nb: 1\n"), (Pairs{{"list", std::nullopt}, {"b", "1"}}));
  EXPECT_FALSE(parse_lock_yaml("a: \"\\xg1\"\n"));
  EXPECT_FALSE(parse_lock_yaml("a: \"\\x1g\"\n"));
}

}  // namespace
}  // namespace dibs
