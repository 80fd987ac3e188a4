// What holds for every form that an item can be written in.
#include "items/foreign_text.h"

#include <gtest/gtest.h>

#include "items/aitasks_file.h"
#include "items/beads_line.h"
#include "testing/any_item.h"

namespace dibs {
namespace {

const TaskAliases kNoAliases;
const TaskName kName{.id = {"t5"}, .title = "fix login", .archived = false};

BeadsLine beads(std::string_view line) {
  Result<BeadsLine> read = BeadsLine::parse(line);
  EXPECT_TRUE(read) << (read ? "" : read.error().message) << "\n" << line;
  return *std::move(read);
}
AitasksFile aitasks(std::string_view text) {
  Result<AitasksFile> read = AitasksFile::parse(kName, text, kNoAliases);
  EXPECT_TRUE(read) << (read ? "" : read.error().message) << "\n" << text;
  return *std::move(read);
}

TEST(ForeignText, BeadsGivesBackEveryItem) {
  EXPECT_PROPERTY(200, 30, [] {
    const Item item = any_item();
    BeadsLine line = BeadsLine::empty(item.id);
    const Done written = rewrite(line, item);
    RC_LOG() << line.text() << (written ? "" : written.error().message);
    RC_ASSERT(written.has_value());
    RC_ASSERT(*meant_by(beads(line.text())) == item);
  });
}

TEST(ForeignText, AitasksGivesBackEveryItem) {
  EXPECT_PROPERTY(200, 30, [] {
    const Item item = any_item();
    AitasksFile file = aitasks("");
    const Done written = rewrite(file, item);
    RC_LOG() << file.text() << (written ? "" : written.error().message);
    RC_ASSERT(written.has_value());
    RC_ASSERT(*meant_by(aitasks(file.text())) == item);
  });
}

// From any item to any other, through a text that was somebody's already.
TEST(ForeignText, AnyChangeCanBeWrittenAndTakenBack) {
  EXPECT_PROPERTY(100, 30, [] {
    const Item one = any_item();
    Item other = any_item();
    BeadsLine line = beads(
        R"({"id":"bd-1", "title":"x","status":"blocked","priority":1,"assignee":"bo", "odd" : [1]})");
    const Item first = *meant_by(line);
    AitasksFile file = aitasks("---\nassigned_to: bo\nodd: {a: 1}\nstatus: Editing\n---\ntext\n");
    const Item second = *meant_by(file);
    for (ForeignText* text : {static_cast<ForeignText*>(&line), static_cast<ForeignText*>(&file)}) {
      for (const Item& item : {one, other, text == &line ? first : second}) {
        const Done written = rewrite(*text, item);
        if (!written) RC_FAIL(written.error().message + "\n" + line.text() + "\n" + file.text());
        const Item meant = *meant_by(*text);
        for (const ItemField field : kItemFields) RC_ASSERT(same(meant, item, field));
      }
    }
  });
}

TEST(ForeignText, CountsWhatIsCarriedOnlyWhileTheTextSaysTheSame) {
  Item item = *meant_by(beads(R"({"id":"bd-1","title":"x","status":"open","priority":1})"));
  BeadsLine line = BeadsLine::empty(item.id);
  item.state = "in_review";
  ASSERT_TRUE(rewrite(line, item));
  EXPECT_EQ(meant_by(line)->state, "in_review");
  std::string closed = line.text();
  const std::string was = R"("status":"in_progress")";
  closed.replace(closed.find(was), was.size(), R"("status":"closed")");
  EXPECT_EQ(meant_by(beads(closed))->state, "done");
}

}  // namespace
}  // namespace dibs
