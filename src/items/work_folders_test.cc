// A folder of work: what its files mean, and what moves and changes with an item.
#include "items/work_folders.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

using Texts = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

WorkFolders work_in(const Files& files) {
  std::vector<FolderEntry> entries;
  for (const auto& [path, text] : files) entries.push_back({.path = path});
  WorkFolders work(Workflow::folders(), entries);
  work.read(files);
  return work;
}

Item item_in(const WorkFolders& work, const std::string& id) {
  const FoundItem* found = find_item(work.found(), {id});
  EXPECT_NE(found, nullptr) << id;
  return found == nullptr ? Item{} : found->stored.item;
}

// "from → to" and "path = text".
Texts changed(const WorkFolders& work, const std::string& id,
              const std::function<void(Item&)>& edit, const ItemId& new_id = {}) {
  const FoundItem* found = find_item(work.found(), {id});
  if (found == nullptr) return {"there is no " + id};
  ItemSource::Change change{.item = found->stored.item, .expected = found->stored.version};
  edit(change.item);
  change.item.updated_unix_ms = 1'770'000'000'000;
  if (!new_id.empty()) {
    change.was = change.item.id;
    change.item.id = new_id;
  }
  const auto writes = work.changes({change}, Precision::of_the_form);
  if (!writes) return {writes.error().message};
  if (!*writes) return {"moved"};
  Texts lines;
  for (const WorkFolders::Move& move : (*writes)->moves)
    lines.push_back(move.from + " → " + move.to);
  for (const WorkFolders::Text& file : (*writes)->files)
    lines.push_back(file.path + " = " + file.text);
  return lines;
}

TEST(WorkFolders, ReadsWhatAnItemIsFromItsPlaceAndItsMainFile) {
  const WorkFolders work = work_in(
      {{"features/readyfordevelopment/userauth-b5c6d7e8/README.md",
        "---\npriority: high\neffort: low\ndepends: [db-1]\nlabels: [auth, 'x y']\nfiles: "
        "src/**\nowner: bo\ncreated_at: 2026-02-13T02:35:00Z\n---\n\n# User auth\n\nText.\n"},
       {"features/readyfordevelopment/userauth-b5c6d7e8/analysis.md", "# Other\n"},
       {"new/lostmypassword/notes.md", "I lost it"},
       {"new/bare/picture.png", "\xff"},
       {"stamped/one-file-00000001.md", "# One\n"}});
  const Item item = item_in(work, "userauth-b5c6d7e8");
  EXPECT_EQ(item.title, "User auth");
  EXPECT_EQ(item.body, "Text.\n");
  EXPECT_EQ(item.state, "readyfordevelopment");
  EXPECT_EQ(item.type, "features");
  EXPECT_EQ(item.priority, 1);
  EXPECT_EQ(item.estimate_min, 60);
  EXPECT_EQ(item.depends_on, std::vector<ItemId>{{"db-1"}});
  EXPECT_EQ(item.labels, (Texts{"auth", "x y"}));
  EXPECT_EQ(item.files, Texts{"src/**"});
  EXPECT_EQ(item.unknown_members, "\"owner\":\"bo\"");
  EXPECT_EQ(item.created_unix_ms, 1'770'950'100'000);
  EXPECT_EQ(item.updated_unix_ms, item.created_unix_ms);
  EXPECT_EQ(item_in(work, "lostmypassword").title, "lostmypassword");
  EXPECT_EQ(item_in(work, "lostmypassword").body, "I lost it");
  EXPECT_EQ(item_in(work, "lostmypassword").type, "task");
  EXPECT_EQ(item_in(work, "bare").body, "");
  EXPECT_EQ(item_in(work, "one-file-00000001").title, "One");
  EXPECT_TRUE(work.list().broken.empty());
}

TEST(WorkFolders, TakesTheReadmeThenTheFileOfTheNameThenTheFirst) {
  const WorkFolders work = work_in({{"next/a/README.md", "# 1"},
                                    {"next/a/a.md", "# 2"},
                                    {"next/b/a.md", "# 3"},
                                    {"next/b/b.md", "# 4"},
                                    {"next/c/y.md", "# 5"},
                                    {"next/c/x.md", "# 6"},
                                    {"next/c/a/x.md", "# 7"},
                                    {"next/c/.a.md", "# 8"}});
  EXPECT_EQ(item_in(work, "a").title, "1");
  EXPECT_EQ(item_in(work, "b").title, "4");
  EXPECT_EQ(item_in(work, "c").title, "6");
}

TEST(WorkFolders, AMoveTouchesNoFile) {
  const WorkFolders work = work_in({{"features/next/a/README.md", "# A\r\n"},
                                    {"stamped/b/x.md", "B"},
                                    {"next/c.md", "C"},
                                    {"features/pending-d/x.md", "D"}});
  EXPECT_EQ(changed(work, "a", [](Item& item) { item.state = "inanalysis"; }),
            Texts{"features/next/a → features/inanalysis/a"});
  EXPECT_EQ(changed(work, "a", [](Item& item) { item.state = "archive/production"; }),
            Texts{"features/next/a → features/archive/production/a"});
  EXPECT_EQ(changed(work, "b", [](Item& item) { item.state = "next"; }),
            Texts{"stamped/b → next/b"});
  EXPECT_EQ(changed(work, "b",
                    [](Item& item) {
                      item.state = "next";
                      item.type = "bugs";
                    }),
            Texts{"stamped/b → bugs/next/b"});
  EXPECT_EQ(changed(work, "c", [](Item& item) { item.state = "inanalysis"; }),
            Texts{"next/c.md → inanalysis/c.md"});
  EXPECT_EQ(changed(work, "a", [](Item& item) { item.type = "bugs"; }),
            Texts{"features/next/a → bugs/next/a"});
  EXPECT_EQ(changed(work, "d", [](Item& item) { item.state = "next"; }),
            Texts{"features/pending-d → features/next/d"});
}

TEST(WorkFolders, AChangeTouchesItsOwnLine) {
  const std::string text = "---\nlabels: [x]  # why\nodd: {a: 1}\n# kept\n---\n\n# A\n\nBody\r\n";
  const WorkFolders work = work_in({{"next/a/README.md", text}, {"next/b/README.md", "# B\n\nx"}});
  EXPECT_EQ(
      changed(work, "a", [](Item& item) { item.labels = {"x", "y"}; }),
      Texts{"next/a/README.md = ---\nlabels: [x, y]  # why\nodd: {a: 1}\n# kept\n---\n\n# A\n\n"
            "Body\r\n"});
  EXPECT_EQ(changed(work, "b", [](Item& item) { item.title = "C"; }),
            Texts{"next/b/README.md = # C\n\nx"});
  EXPECT_EQ(changed(work, "b", [](Item& item) { item.priority = 1; }),
            Texts{"next/b/README.md = ---\npriority: high\n---\n\n# B\n\nx"});
}

TEST(WorkFolders, NotesWhereWaitingWorkCameFromAndForgetsItAgain) {
  const WorkFolders work =
      work_in({{"f/next/a/README.md", "# A\n"},
               {"f/pending/b/README.md", "---\ncame_from: intesting\n---\n\n# B\n"}});
  const auto waits = [](Item& item) { item = *Workflow::folders().moved(item, "pending"); };
  EXPECT_EQ(changed(work, "a", waits),
            (Texts{"f/next/a → f/pending/a",
                   "f/pending/a/README.md = ---\ncame_from: next\n---\n\n# A\n"}));
  const auto goes_on = [](Item& item) { item = *Workflow::folders().moved(item, "intesting"); };
  EXPECT_EQ(changed(work, "b", goes_on),
            (Texts{"f/pending/b → f/intesting/b", "f/intesting/b/README.md = # B\n"}));
}

TEST(WorkFolders, ANewNameMovesTheFolderAndTheFileOfThatName) {
  const auto stamp = [](Item& item) { item.state = "stamped"; };
  const WorkFolders work = work_in({{"new/a/README.md", "# A\n"},
                                    {"new/b/a.md", "1"},
                                    {"new/b/b.md", "2"},
                                    {"new/c.md", "3"},
                                    {"stamped/c-1/x.md", "4"}});
  EXPECT_EQ(changed(work, "a", stamp, {"a-1"}), Texts{"new/a → stamped/a-1"});
  EXPECT_EQ(changed(work, "b", stamp, {"b-1"}),
            (Texts{"new/b → stamped/b-1", "stamped/b-1/b.md → stamped/b-1/b-1.md"}));
  EXPECT_EQ(changed(work, "c", stamp, {"c-2"}), Texts{"new/c.md → stamped/c-2.md"});
  EXPECT_EQ(changed(work, "c", stamp, {"c-1"}), Texts{"moved"}) << "somebody has that id";
}

TEST(WorkFolders, WritesNewItemsAsFolders) {
  const WorkFolders work = work_in({});
  Item item;
  item.id = {"fix/login"};
  item.title = "Fix login";
  item.body = "# Why\n";
  item.state = "next";
  item.type = "bugs";
  const auto writes = work.changes({{.item = item, .expected = {}}}, Precision::of_the_form);
  ASSERT_TRUE(writes && *writes);
  ASSERT_EQ((*writes)->files.size(), 1U);
  EXPECT_EQ((*writes)->files[0].path, "bugs/next/fix_2flogin/README.md");
  const WorkFolders again = work_in({{(*writes)->files[0].path, (*writes)->files[0].text}});
  EXPECT_EQ(item_in(again, "fix/login"), item);
}

TEST(WorkFolders, BringsAlongWhatWasPutWhereAnItemLayBefore) {
  const FolderLayout layout(Workflow::folders());
  using Moves = std::vector<WorkFolders::Move>;
  const Texts before{"f/inanalysis/a/README.md", "next/b.md"};
  EXPECT_EQ(
      torn_apart(layout, before,
                 {"f/inanalysis/a/README.md", "f/next/a/deep/x", "f/next/a/y", "next/b.md",
                  "f/next/new/README.md"}),
      (Moves{{"f/next/a/deep/x", "f/inanalysis/a/deep/x"}, {"f/next/a/y", "f/inanalysis/a/y"}}));
  EXPECT_EQ(torn_apart(layout, before, {"f/next/a/README.md", "f/next/a/y"}), Moves{})
      << "the work moved all of it";
  EXPECT_EQ(torn_apart(layout, before, {"f/inanalysis/a/README.md", "f/next/a/README.md"}), Moves{})
      << "nobody can say which of them counts";
  EXPECT_EQ(torn_apart(layout, before, {"next/b.md", "inanalysis/b/x"}), Moves{});
}

TEST(WorkFolders, NamesWhatIsBrokenAndLeavesItAlone) {
  const WorkFolders work = work_in({{"next/a/README.md", "# A\n"},
                                    {"next/b/README.md", "---\nx: 1\nx: 2\n---\n"},
                                    {"next/c/README.md", "\xff"},
                                    {"f/nxet/d/README.md", "# D\n"},
                                    {"f/next/e/README.md", "# E\n"},
                                    {"f/nxet/d/notes.md", ""},
                                    {"g/new/e.md", "# E\n"}});
  const ItemList list = work.list();
  ASSERT_EQ(list.items.size(), 1U);
  EXPECT_EQ(list.items[0].item.id.text, "a");
  Texts broken;
  for (const BrokenItem& one : list.broken)
    broken.push_back(one.file + ":" + std::to_string(one.line) + " [" + one.id.text + "] " +
                     one.why);
  EXPECT_EQ(broken, (Texts{"f/nxet/d:0 [d] it lies in no state of the workflow",
                           "next/b/README.md:3 [b] the key 'x' is there twice",
                           "next/c/README.md:0 [c] it is not UTF-8",
                           "f/next/e/README.md:0 [e] its id is also that of g/new/e.md",
                           "g/new/e.md:0 [e] its id is also that of f/next/e/README.md"}));
  Item item;
  item.id = {"d"};
  item.title = "D";
  EXPECT_EQ(work.changes({{.item = item, .expected = {}}}, Precision::exact).error().message,
            "d cannot be read: it lies in no state of the workflow");
}

}  // namespace
}  // namespace dibs
