// Import and export: the same bytes come out where nothing was changed, and the same items come
// back from every form.
#include "items/item_format.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "items/origin.h"
#include "sys/posix_file_system.h"
#include "testing/any_item.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

const ItemFormat& format(std::string_view name) {
  const ItemFormat* found = find_item_format(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

std::vector<Item> items_of(const ItemList& list) {
  std::vector<Item> items;
  for (const StoredItem& stored : list.items) items.push_back(stored.item);
  return items;
}

// Through the file of an item, as dibs' own ref would keep it.
std::vector<Item> through_our_files(const std::vector<Item>& items) {
  std::vector<Item> back;
  for (const Item& item : items) {
    const Result<Item> read = item_from_json(item_file(item));
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    if (read) back.push_back(*read);
  }
  return back;
}

std::vector<TextFile> exported(std::string_view name, const std::vector<Item>& items) {
  Result<std::vector<TextFile>> texts = format(name).export_texts(items);
  EXPECT_TRUE(texts) << (texts ? "" : texts.error().message);
  return texts.value_or(std::vector<TextFile>{{.name = {}, .text = {}}});
}

std::string round_trip(std::string_view name, const std::string& text) {
  const ItemList list = format(name).import_texts({{.name = "f", .text = text}});
  EXPECT_TRUE(list.broken.empty());
  return exported(name, through_our_files(items_of(list))).front().text;
}

const std::string kBeadsText =
    "\n"
    "{\"id\":\"bd-9\", \"title\":\" z \",\"priority\":1,\"design\":\"d\",\"odd\":1.50}\r\n"
    "{\"id\":\"bd-2\",\"title\":\"gone\",\"status\":\"tombstone\",\"deleted_at\":\"2026-01-01T00:"
    "00:00Z\"}\n"
    "{\"id\":\"bd-1\",\"title\":\"a\",\"status\":\"blocked\",\"dependencies\":[{\"depends_on_id\":"
    "\"bd-9\","
    "\"type\":\"related\"}],\"type\":\"mine\",\"origin\":7}\n"
    "\n";

TEST(ItemFormat, GivesBackTheBytesOfBeads) {
  EXPECT_EQ(round_trip("beads", kBeadsText), kBeadsText);
  const std::string unfinished = kBeadsText + R"({"id":"bd-3","title":"no newline"})";
  EXPECT_EQ(round_trip("beads", unfinished), unfinished);
}

TEST(ItemFormat, GivesBackTheBytesOfJsonLines) {
  const std::string text =
      "{\"title\": \"B\", \"id\":\"b\",  \"x\":1.50}\n\n{\"id\":\"a\",\"title\":\"A\"}";
  EXPECT_EQ(round_trip("json", text), text);
}

const std::vector<TextFile> kTasks{
    {.name = "archived/t3_old.md", .text = "---\nstatus: Done # yes\n---\n"},
    {.name = "t1/t1_2_child.md", .text = "---\r\ndepends: [3, t1_1]\r\n---\r\nx"},
    {.name = "t1_plain.md", .text = "no front matter"},
    {.name = "t2_task.md", .text = "---\nstatus: Editing\nodd: {a: 1}\n# c\n---\n\nbody\n"}};

TEST(ItemFormat, GivesBackTheFilesOfAitasks) {
  const ItemList list = format("aitasks").import_texts(kTasks);
  EXPECT_EQ(list.items.size(), 4U);
  EXPECT_EQ(exported("aitasks", through_our_files(items_of(list))), kTasks);
}

const std::vector<TextFile> kWork{
    {.name = "features/archive/production/old-1.md", .text = "no heading\r\n"},
    {.name = "features/next/a-1/README.md",
     .text = "---\npriority: high # yes\nodd: {a: 1}\n---\n\n# A\n\nbody\n"},
    {.name = "new/lost/notes.md", .text = ""},
    {.name = "pending-b-2/b-2.md", .text = "# B\n"}};

TEST(ItemFormat, GivesBackTheFilesOfFolders) {
  const ItemList list = format("folders").import_texts(kWork);
  EXPECT_EQ(list.items.size(), 4U);
  EXPECT_EQ(exported("folders", through_our_files(items_of(list))), kWork);
}

TEST(ItemFormat, GivesBackTheFilesOfFoldersByWayOfEveryOtherForm) {
  const std::vector<Item> items =
      through_our_files(items_of(format("folders").import_texts(kWork)));
  for (const ItemFormat& other : item_formats()) {
    if (other.name == "folders") continue;
    const std::vector<TextFile> texts = exported(other.name, items);
    EXPECT_EQ(exported("folders", items_of(other.import_texts(texts))), kWork) << other.name;
  }
}

TEST(ItemFormat, ChangesOnlyWhatChangedSinceTheImport) {
  std::vector<Item> items = items_of(format("aitasks").import_texts(kTasks));
  for (Item& item : items) {
    if (item.id.text == "t2") item.state = "ready";
  }
  std::vector<TextFile> wanted = kTasks;
  wanted[3].text = "---\nstatus: Ready\nodd: {a: 1}\n# c\n---\n\nbody\n";
  EXPECT_EQ(exported("aitasks", items), wanted);
}

TEST(ItemFormat, MovesToTheFolderOfTheNewState) {
  std::vector<Item> items = items_of(format("folders").import_texts(kWork));
  for (Item& item : items) {
    if (item.id.text == "a-1") item.state = "inanalysis";
  }
  std::vector<TextFile> wanted = kWork;
  wanted[1].name = "features/inanalysis/a-1/README.md";
  EXPECT_EQ(exported("folders", items), wanted);
}

TEST(ItemFormat, GivesBackTheBytesByWayOfAnotherForm) {
  const std::vector<Item> issues =
      items_of(format("beads").import_texts({{.name = "f", .text = kBeadsText}}));
  const std::vector<TextFile> tasks = exported("aitasks", issues);
  EXPECT_EQ(tasks.size(), 2U);
  const std::vector<Item> back = through_our_files(items_of(format("aitasks").import_texts(tasks)));
  EXPECT_EQ(exported("aitasks", back), tasks);
  EXPECT_EQ(exported("beads", back).front().text, kBeadsText);
}

TEST(ItemFormat, GivesBackEveryItemFromEveryForm) {
  for (const ItemFormat& form : item_formats()) {
    EXPECT_PROPERTY(60, 20, [&] {
      std::vector<Item> items;
      for (int i = 0; i < *any_in(1, 5); ++i) {
        items.push_back(any_item());
        items.back().id.text += "-" + std::to_string(i);
      }
      // On each other, too.
      items.back().depends_on.push_back(items.front().id);
      const Result<std::vector<TextFile>> texts = form.export_texts(items);
      if (!texts) RC_FAIL(texts.error().message);
      const ItemList list = form.import_texts(*texts);
      for (const BrokenItem& bad : list.broken) RC_FAIL(bad.file + ": " + bad.why);
      RC_ASSERT(list.items.size() == items.size());
      std::ranges::sort(items, {}, &Item::id);
      for (std::size_t i = 0; i < items.size(); ++i)
        RC_ASSERT(before_origin(list.items[i].item, form.name) == items[i]);
    });
  }
}

TEST(ItemFormat, ReadsAnArrayOfItems) {
  const ItemList list = format("json").import_texts(
      {{.name = "f",
        .text = "[\n {\"id\":\"b\",\"title\":\"B\"},\n {\"id\":\"x\"},\n{\"id\":\"a\","
                "\"title\":\"A\"}]\n"}});
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[0].item.id.text, "a");
  ASSERT_EQ(list.broken.size(), 1U);
  EXPECT_EQ(list.broken[0].line, 3U);
  EXPECT_EQ(list.broken[0].why, "the title is empty");
}

TEST(ItemFormat, ReadsAndWritesFilesAndFolders) {
  const TempDirectory temp;
  PosixFileSystem files;
  make_directories(temp / "in/t1");
  make_directories(temp / "in/archived");
  for (const TextFile& task : kTasks) write_bytes(temp / ("in/" + task.name), task.text);
  const Result<ItemList> list = import_items(files, format("aitasks"), temp / "in");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_TRUE(export_items(files, format("aitasks"), temp / "out", items_of(*list)));
  for (const TextFile& task : kTasks) EXPECT_EQ(read_bytes(temp / ("out/" + task.name)), task.text);
  write_bytes(temp / "out/t2_other.md", "");
  EXPECT_EQ(export_items(files, format("aitasks"), temp / "out", items_of(*list)).error().message,
            "t2 is there already, as t2_other.md");
  for (const TextFile& file : kWork) {
    make_directories(temp / ("work/" + file.name.substr(0, file.name.rfind('/'))));
    write_bytes(temp / ("work/" + file.name), file.text);
  }
  make_directories(temp / "work/features/next/a-1/deep");
  write_bytes(temp / "work/features/next/a-1/deep/picture.png", "\xff");
  const Result<ItemList> work = import_items(files, format("folders"), temp / "work");
  ASSERT_TRUE(work) << work.error().message;
  ASSERT_TRUE(export_items(files, format("folders"), temp / "again", items_of(*work)));
  for (const TextFile& file : kWork)
    EXPECT_EQ(read_bytes(temp / ("again/" + file.name)), file.text);
  make_directories(temp / "again/features/inanalysis/a-1");
  write_bytes(temp / "again/features/inanalysis/a-1/x.md", "");
  EXPECT_EQ(export_items(files, format("folders"), temp / "again", items_of(*work)).error().message,
            "a-1 is there already, as features/inanalysis/a-1");
  ASSERT_TRUE(export_items(files, format("json"), temp / "items.jsonl", items_of(*list)));
  const Result<ItemList> lines = import_items(files, format("json"), temp / "items.jsonl");
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->items.size(), 4U);
  EXPECT_EQ(import_items(files, format("json"), temp / "none").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace dibs
