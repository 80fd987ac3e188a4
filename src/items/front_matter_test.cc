#include "items/front_matter.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/property.h"

namespace dibs {
namespace {

constexpr std::string_view kTask =
    "---\n"
    "priority: high   # soon\n"
    "# a comment\n"
    "depends: [112, 't7_1', \"a, b\"]\n"
    "\n"
    "status: Ready  \n"
    "labels:\n"
    "  - ui   # the face\n"
    "  - 'back end'\n"
    "unknown: {a: [1, 2]}\n"
    "notes: |\n"
    "  key: no key\n"
    "empty:\n"
    "---\n"
    "\n"
    "# Body\nwith --- and key: value";

FrontMatter parsed(std::string_view text) {
  Result<FrontMatter> file = FrontMatter::parse(text);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return file ? *std::move(file) : *FrontMatter::parse("");
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return out.replace(at, from.size(), to);
}

using Texts = std::vector<std::string>;

TEST(FrontMatter, ReadsEveryFormOfAValue) {
  const FrontMatter file = parsed(kTask);
  EXPECT_EQ(file.scalar("priority"), "high");
  EXPECT_EQ(file.list("depends"), (Texts{"112", "t7_1", "a, b"}));
  EXPECT_EQ(file.scalar("status"), "Ready");
  EXPECT_EQ(file.list("labels"), (Texts{"ui", "back end"}));
  EXPECT_EQ(file.list("status"), Texts{"Ready"});
  EXPECT_EQ(file.scalar("empty"), "");
  EXPECT_EQ(file.list("empty"), Texts{});
  EXPECT_EQ(file.find("unknown")->value.form, YamlForm::other);
  EXPECT_EQ(file.find("notes")->value.form, YamlForm::other);
  EXPECT_EQ(file.scalar("key"), std::nullopt);
  EXPECT_EQ(file.body(), "\n# Body\nwith --- and key: value");
  EXPECT_EQ(file.text(), kTask);
}

TEST(FrontMatter, ReadsListsOverSeveralLinesAndEscapes) {
  const FrontMatter file =
      parsed("---\na: [1,\n  2, # two\n  3]\nb: \"\\u00e9\\x41\\n\"\nc:\n- x\n- y\nd: -\n---\n");
  EXPECT_EQ(file.list("a"), (Texts{"1", "2", "3"}));
  EXPECT_EQ(file.scalar("b"),
            "\xc3\xa9"
            "A\n");
  EXPECT_EQ(file.list("c"), (Texts{"x", "y"}));
  EXPECT_EQ(file.scalar("d"), "-");
}

TEST(FrontMatter, SetsOneValueAndNothingElse) {
  const auto with = [](auto change) {
    FrontMatter file = parsed(kTask);
    change(file);
    return file.text();
  };
  EXPECT_EQ(with([](FrontMatter& f) { f.set("priority", "low"); }),
            replaced(kTask, "high ", "low "));
  EXPECT_EQ(with([](FrontMatter& f) { f.set("status", "a: b"); }),
            replaced(kTask, "Ready", "'a: b'"));
  EXPECT_EQ(with([](FrontMatter& f) { f.set_list("depends", {"t1"}); }),
            replaced(kTask, "[112, 't7_1', \"a, b\"]", "[t1]"));
  EXPECT_EQ(with([](FrontMatter& f) { f.set_list("labels", {"x", "y, z"}); }),
            replaced(kTask, "  - ui   # the face\n  - 'back end'\n", "  - x\n  - 'y, z'\n"));
  EXPECT_EQ(with([](FrontMatter& f) { f.set_list("labels", {}); }),
            replaced(kTask, "labels:\n  - ui   # the face\n  - 'back end'\n", "labels: []\n"));
  EXPECT_EQ(with([](FrontMatter& f) { f.set("empty", "full"); }),
            replaced(kTask, "empty:\n", "empty: full\n"));
  EXPECT_EQ(with([](FrontMatter& f) { f.set("notes", "n"); }),
            replaced(kTask, "notes: |\n  key: no key\n", "notes: n\n"));
  EXPECT_EQ(with([](FrontMatter& f) { f.set("new", "1"); }),
            replaced(kTask, "empty:\n---\n", "empty:\nnew: 1\n---\n"));
  EXPECT_EQ(with([](FrontMatter& f) { f.remove("labels"); }),
            replaced(kTask, "labels:\n  - ui   # the face\n  - 'back end'\n", ""));
  EXPECT_EQ(with([](FrontMatter& f) { f.remove("no-such-key"); }), kTask);
}

TEST(FrontMatter, KeepsACommentBehindAnEmptyKey) {
  FrontMatter file = parsed("---\na: # why\nb: # list\n  - x\n---\n");
  file.set("a", "1");
  file.set_list("b", {"y"});
  EXPECT_EQ(file.text(), "---\na: 1 # why\nb: # list\n  - y\n---\n");
}

TEST(FrontMatter, KeepsCarriageReturnsByteOrderMarksAndMissingNewlines) {
  FrontMatter file = parsed("\xEF\xBB\xBF---\r\na: 1\r\n--- \r\nbody\r\n");
  EXPECT_EQ(file.scalar("a"), "1");
  file.set("b", "2");
  file.set("a", "3");
  EXPECT_EQ(file.text(), "\xEF\xBB\xBF---\r\na: 3\r\nb: 2\r\n--- \r\nbody\r\n");
  FrontMatter bare = parsed("---\na: 1\n---");
  bare.set("a", "2");
  EXPECT_EQ(bare.text(), "---\na: 2\n---");
  bare.set_body("text");
  EXPECT_EQ(bare.text(), "---\na: 2\n---\ntext");
}

TEST(FrontMatter, IsAddedWhereThereIsNone) {
  FrontMatter file = parsed("Only text\n");
  EXPECT_TRUE(file.fields().empty());
  file.set("status", "Ready");
  EXPECT_EQ(file.text(), "---\nstatus: Ready\n---\n\nOnly text\n");
}

TEST(FrontMatter, NamesTheLineOfWhatIsBroken) {
  const auto fault = [](std::string_view text) {
    const Result<FrontMatter> file = FrontMatter::parse(text);
    return file ? "nothing" : std::to_string(line_of(file.error())) + ": " + file.error().message;
  };
  EXPECT_EQ(fault("---\na: 1\n"), "1: the front matter has no closing ---");
  EXPECT_EQ(fault("---\na: 1\na: 2\n---\n"), "3: the key 'a' is there twice");
  EXPECT_EQ(fault("---\na: 1\nb:\n\t- x\n---\n"), "4: a line begins with a tab; YAML wants blanks");
  EXPECT_EQ(fault("---\na: 'x\n---\n"), "2: a quote or a list does not end");
  EXPECT_EQ(fault("---\na: 1\nb: [x, y\n---\n"), "3: a quote or a list does not end");
  EXPECT_EQ(fault("---\na: 'x' y\n---\n"), "2: a value goes on after its end");
  EXPECT_EQ(fault("---\na: [x] y\n---\n"), "2: a value goes on after its end");
  EXPECT_EQ(fault("---\njust words\n---\n"), "2: a line has no key");
  EXPECT_EQ(fault("---\na:1\n---\n"), "2: a key lacks the blank behind its colon");
  EXPECT_EQ(fault("---\n  a: 1\n---\n"), "2: the front matter does not begin with a key");
  EXPECT_EQ(fault("---\na: b: c\n---\n"), "2: a value holds a colon and a blank; put it in quotes");
  EXPECT_EQ(fault("---\na:\r b\n---\n"), "2: a line has a carriage return in its middle");
  EXPECT_EQ(fault("---\r\na: b\r\n---\r\n"), "nothing");
  EXPECT_EQ(fault("---\n---\n"), "nothing");
}

rc::Gen<std::string> any_text() {
  return rc::gen::container<std::string>(rc::gen::oneOf(
      rc::gen::inRange<char>(1, 127),
      rc::gen::element('\'', '"', '\\', ':', '#', ' ', '\n', '-', '[', ']', ',', '|', '{')));
}

// One block of front matter, in some form; the key is in it once.
std::string any_field(const std::string& key) {
  const auto comment = *rc::gen::element<std::string>("", "  # note", " ");
  switch (*any_in(0, 6)) {
    case 0:
      return key + ": " + yaml_scalar(*any_text()) + comment + "\n";
    case 1:
      return key + ": " + yaml_flow_list({*any_text(), *any_text()}) + comment + "\n";
    case 2:
      return key + ":" + comment + "\n  - " + yaml_scalar(*any_text()) + "\n";
    case 3:
      return key + ": |\n  free: text\n   - more\n";
    case 4:
      return key + ":\n  nested: 1\n";
    default:
      return key + ":" + comment + "\n# comment\n\n";
  }
}

TEST(FrontMatter, LeavesEveryOtherByteWhenOneKeyIsSet) {
  EXPECT_PROPERTY(300, 30, [] {
    std::string before = "---\n";
    for (int i = 0; i < *any_in(0, 3); ++i) before += any_field("b" + std::to_string(i));
    std::string after;
    for (int i = 0; i < *any_in(0, 3); ++i) after += any_field("a" + std::to_string(i));
    after += "---\n" + *any_text();
    const std::string field = any_field("key");
    Result<FrontMatter> file = FrontMatter::parse(before + field + after);
    RC_ASSERT(file.has_value());
    RC_ASSERT(file->text() == before + field + after);
    const std::string value = *any_text();
    const std::vector<std::string> list = {*any_text(), value};
    const bool as_list = *rc::gen::arbitrary<bool>();
    as_list ? file->set_list("key", list) : file->set("key", value);
    const std::string text = file->text();
    RC_ASSERT(text.starts_with(before + "key:"));
    RC_ASSERT(text.ends_with(after));
    const Result<FrontMatter> back = FrontMatter::parse(text);
    RC_ASSERT(back.has_value());
    RC_ASSERT((as_list ? back->list("key") == list : back->scalar("key") == value));
    file->remove("key");
    RC_ASSERT(file->text().starts_with(before));
    RC_ASSERT(file->text().ends_with(after));
    RC_ASSERT(file->find("key") == nullptr);
  });
}

// Whatever happens to a file, reading it ends.
TEST(FrontMatter, SurvivesAnyCutAndAnyByte) {
  for (std::size_t at = 0; at < kTask.size(); ++at) {
    (void)FrontMatter::parse(kTask.substr(0, at));
    for (const char byte : std::string_view("\n\r\t '\"[]{}:#-\\|,a\0\xff", 19)) {
      std::string changed(kTask);
      changed[at] = byte;
      if (Result<FrontMatter> file = FrontMatter::parse(changed)) {
        EXPECT_EQ(file->text(), changed);
        file->set("status", "x");
      }
    }
  }
}

}  // namespace
}  // namespace dibs
