#include "items/beads_line.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace dibs {
namespace {

constexpr std::string_view kLine =
    R"({"id":"bd-2", "title":"Fix auth ","description":"JWT","design":"d","status":"blocked",)"
    R"("priority":1,"issue_type":"bug","assignee":"bo","estimated_minutes":90,)"
    R"("created_at":"2025-11-25T14:50:12.123456789-08:00","created_by":"al",)"
    R"("updated_at":"2025-11-25T22:51:00Z","external_ref":null,"labels":["be"],)"
    R"("dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},)"
    R"( {"issue_id":"bd-2","depends_on_id":"bd-9","type":"related"},)"
    R"({"issue_id":"bd-2","depends_on_id":"bd-8","type":"parent-child"}],)"
    R"("comments":[{"id":7,"issue_id":"bd-2","author":"al","text":"hm","created_at":"2025-11-26T00:00:00Z"}]})";

BeadsLine parsed(std::string_view line) {
  Result<BeadsLine> read = BeadsLine::parse(line);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return *std::move(read);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  EXPECT_NE(out.find(from), std::string::npos) << from;
  return out.replace(out.find(from), from.size(), to);
}

std::string changed(void (*change)(Item&)) {
  BeadsLine line = parsed(kLine);
  Item item = *meant_by(line);
  change(item);
  const Done written = rewrite(line, item);
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  return line.text();
}

TEST(BeadsLine, IsReadIntoAnItem) {
  const Result<Item> item = meant_by(parsed(kLine));
  ASSERT_TRUE(item) << item.error().message;
  EXPECT_EQ(item->id.text, "bd-2");
  EXPECT_EQ(item->title, "Fix auth");
  EXPECT_EQ(item->body, "JWT");
  EXPECT_EQ(item->state, "ready");
  EXPECT_EQ(item->priority, 1);
  EXPECT_EQ(item->type, "bug");
  EXPECT_EQ(item->estimate_min, 90);
  EXPECT_EQ(item->labels, std::vector<std::string>{"be"});
  EXPECT_EQ(item->depends_on, std::vector<ItemId>{{"bd-1"}});
  EXPECT_EQ(rfc3339(item->created_unix_ms), "2025-11-25T22:50:12.123Z");
  EXPECT_EQ(item->created_by, "al");
  ASSERT_EQ(item->comments.size(), 1U);
  EXPECT_EQ(item->comments[0].text, "hm");
  EXPECT_EQ(item->unknown_members, R"("design":"d","assignee":"bo","external_ref":null)");
}

TEST(BeadsLine, KnowsWhatBeadsMeansByAStatus) {
  const auto state = [](const std::string& status) {
    return meant_by(parsed(R"({"id":"a","title":"t","status":")" + status + R"("})"))->state;
  };
  EXPECT_EQ(state("open"), "ready");
  EXPECT_EQ(state("blocked"), "ready");
  EXPECT_EQ(state("in_progress"), "in_progress");
  EXPECT_EQ(state("hooked"), "in_progress");
  EXPECT_EQ(state("closed"), "done");
  EXPECT_EQ(state("deferred"), "pending");
  EXPECT_EQ(state("in_qa"), "in_qa");
  EXPECT_TRUE(parsed(R"({"id":"a","title":"t","status":"tombstone"})").is_deleted());
}

TEST(BeadsLine, ChangesNothingButWhatChanged) {
  EXPECT_EQ(changed([](Item&) {}), kLine);
  EXPECT_EQ(changed([](Item& item) { item.priority = 0; }),
            replaced(kLine, "\"priority\":1", "\"priority\":0"));
  EXPECT_EQ(changed([](Item& item) { item.body = "a\n"; }), replaced(kLine, "\"JWT\"", "\"a\\n\""));
  EXPECT_EQ(changed([](Item& item) { item.labels.clear(); }),
            replaced(kLine, "\"labels\":[\"be\"],", ""));
  EXPECT_EQ(changed([](Item& item) { item.state = "in_progress"; }),
            replaced(kLine, "\"blocked\"", "\"in_progress\""));
  EXPECT_EQ(changed([](Item& item) { item.depends_on.clear(); }),
            replaced(kLine, R"({"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"}, )", ""));
}

TEST(BeadsLine, IsClosedTogetherWithTheTimeOfIt) {
  const std::string closed = changed([](Item& item) { item.state = "done"; });
  EXPECT_EQ(closed, replaced(std::string(kLine.substr(0, kLine.size() - 1)) +
                                 R"(,"closed_at":"2025-11-25T22:51:00.000Z"})",
                             "\"blocked\"", "\"closed\""));
  BeadsLine line = parsed(closed);
  Item item = *meant_by(line);
  item.state = "ready";
  ASSERT_TRUE(rewrite(line, item));
  EXPECT_EQ(line.text(), replaced(kLine, "\"blocked\"", "\"open\""));
}

TEST(BeadsLine, CarriesWhatBeadsHasNoWordFor) {
  const std::string text = changed([](Item& item) { item.files = {"src/**"}; });
  EXPECT_EQ(text,
            std::string(kLine.substr(0, kLine.size() - 1)) + R"(,"dibs":{"files":["src/**"]}})");
  EXPECT_EQ(meant_by(parsed(text))->files, std::vector<std::string>{"src/**"});
}

TEST(BeadsLine, SaysWhatIsWrong) {
  const auto why = [](std::string_view line) {
    const Result<BeadsLine> read = BeadsLine::parse(line);
    if (!read) return read.error().message;
    const Result<Item> item = meant_by(*read);
    return item ? "nothing" : item.error().message;
  };
  EXPECT_EQ(why("{\"id\":"), "bad JSON: it is not well-formed");
  EXPECT_EQ(why("[]"), "it is not a JSON object");
  EXPECT_EQ(why(R"({"title":"t"})"), "the id is empty");
  EXPECT_EQ(why(R"({"id":"a","priority":7})"), "priority is not 0 to 4");
  EXPECT_EQ(why(R"({"id":"a","labels":"x"})"), "labels is not a list");
  EXPECT_EQ(why(R"({"id":"a","created_at":"now"})"), "created_at is no time");
  EXPECT_EQ(why(R"({"id":"a","dibs":{"priority":9}})"),
            "what it keeps for dibs: priority is not 0 to 4");
}

}  // namespace
}  // namespace dibs
