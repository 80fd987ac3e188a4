// The sources in the work tree and on a branch, over real files and the real git: what is read,
// what a change touches, what two at once do, and what is broken.
#include "testing/sources_fixture.h"

namespace dibs {
namespace {

// --- beads ---

// Five thousand issues with every field that beads writes.
std::string many_issues(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    const std::string id = "bd-" + n;
    text +=
        R"({"id":")" + id + R"(","title":"Issue )" + n + R"( — naïve","description":"Line one\n)" +
        std::string(i % 7 * 40, 'x') + R"( \u00e9","design":"d )" + n +
        R"(","acceptance_criteria":"- [ ] a","notes":"n","status":")" +
        std::vector<std::string>{"open", "in_progress", "blocked", "closed", "deferred"}[i % 5] +
        R"(","priority":)" + std::to_string(i % 5) + R"(,"issue_type":"bug","assignee":"bo",)" +
        R"("estimated_minutes":)" + std::to_string(i % 300) +
        R"(,"created_at":"2025-11-25T14:50:12.123456789-08:00","created_by":"al",)" +
        R"("updated_at":"2025-11-26T10:00:00Z",)" +
        (i % 5 == 3 ? R"("closed_at":"2025-11-26T10:00:00Z","close_reason":"done",)" : "") +
        R"("external_ref":"gh-)" + n + R"(","labels":["backend","p)" + n + R"("],)" +
        R"("dependencies":[{"issue_id":")" + id + R"(","depends_on_id":"bd-)" +
        std::to_string(i / 2) + R"(x","type":"blocks","created_at":"2025-11-25T14:50:12Z",)" +
        R"("created_by":"al"},{"issue_id":")" + id +
        R"(","depends_on_id":"bd-1","type":"related","created_at":"2025-11-25T14:50:12Z","created_by":"al"}],)" +
        R"("comments":[{"id":1,"issue_id":")" + id +
        R"(","author":"al","text":"why?","created_at":"2025-11-26T00:00:00Z"}]})" + "\n";
  }
  return text;
}

TEST_F(Sources, BeadsKeepsEveryByteThatNobodyChanged) {
  const std::string text = many_issues(5000);
  put(".beads/issues.jsonl", text);
  BeadsSource source(site());
  const ItemList list = all(source);
  ASSERT_EQ(list.items.size(), 5000U);
  EXPECT_TRUE(list.broken.empty());
  // Every one of them is given back, and one is changed.
  std::vector<ItemSource::Change> changes;
  for (const StoredItem& stored : list.items)
    changes.push_back({.item = stored.item, .expected = stored.version});
  changes[4000].item.type = "chore";
  const std::string id = changes[4000].item.id.text;
  EXPECT_EQ(write(source, changes), "written");
  const std::string rest = text.substr(text.find(R"({"id":")" + id + "\""));
  const std::string line = rest.substr(0, rest.find('\n'));
  EXPECT_EQ(get(".beads/issues.jsonl"), replaced(text, line, replaced(line, "bug", "chore")));
}

TEST_F(Sources, BeadsAppendsWhatIsNew) {
  put(".beads/issues.jsonl", R"({"id":"app-1","title":"x","priority":1})");
  BeadsSource source(site());
  EXPECT_EQ(source.new_id("x", {0xb5, 0xc6, 0xd7, 0xe8})->text, "app-b5c6d7e8");
  EXPECT_EQ(write(source, {{.item = fresh("app-2", "y"), .expected = {}}}), "written");
  EXPECT_EQ(get(".beads/issues.jsonl"),
            "{\"id\":\"app-1\",\"title\":\"x\",\"priority\":1}\n"
            "{\"id\":\"app-2\",\"title\":\"y\",\"status\":\"open\",\"priority\":2,"
            "\"issue_type\":\"task\",\"created_at\":\"2026-02-02T02:40:00.000Z\","
            "\"updated_at\":\"2026-02-02T02:40:00.000Z\"}\n");
  EXPECT_EQ(one(source, "app-2").item, fresh("app-2", "y"));
}

TEST_F(Sources, BeadsShowsWhatIsBrokenAndLeavesItAlone) {
  const std::string text =
      "{\"id\":\"bd-1\",\"title\":\"a\",\"priority\":1}\r\n"
      "\r\n"
      "<<<<<<< HEAD\r\n"
      "{\"id\":\"bd-2\",\"title\":\"b\",\"priority\":1}\r\n"
      "{\"id\":\"bd-2\",\"title\":\"c\",\"priority\":1}\r\n"
      "{\"id\":\"bd-3\",\"title\":\"d\",\"priority\":77}\r\n"
      "{\"id\":\"bd-4\",\"title\":\"\xff\"}\r\n"
      "{\"id\":\"bd-5\",\"title\":\"gone\",\"status\":\"tombstone\"}\r\n"
      "{\"id\":\"bd-6\",\"title\":\"e\",\"priority\":1}";
  put(".beads/issues.jsonl", text);
  BeadsSource source(site());
  EXPECT_EQ(ids_in(all(source)), (Texts{"bd-1", "bd-6"}));
  const std::string file = ".beads/issues.jsonl";
  EXPECT_EQ(broken_in(all(source)),
            (Texts{file + ":3 [] bad JSON: it is not well-formed",
                   file + ":6 [bd-3] priority is not 0 to 4", file + ":7 [] it is not UTF-8",
                   file + ":4 [bd-2] its id is also that of " + file + ":5",
                   file + ":5 [bd-2] its id is also that of " + file + ":4"}));
  EXPECT_EQ(change(source, "bd-6", [](Item& item) { item.priority = 2; }), "written");
  EXPECT_EQ(get(file), replaced(text, "\"e\",\"priority\":1", "\"e\",\"priority\":2"));
  EXPECT_FALSE(source.read({{"bd-2"}}));
  EXPECT_EQ(write(source, {{.item = fresh("bd-5", "x"), .expected = {}}}),
            "bd-5 was deleted in beads");
  EXPECT_EQ(write(source, {{.item = fresh("bd-2", "x"), .expected = {}}}),
            "bd-2 cannot be read: its id is also that of .beads/issues.jsonl:5");
}

TEST_F(Sources, BeadsMakesPartsWaitForWhatTheirParentWaitsFor) {
  const auto issue = [](const std::string& id, const std::string& dependencies) {
    return R"({"id":")" + id + R"(","title":"t","priority":1,"dependencies":[)" + dependencies +
           "]}\n";
  };
  const std::string text =
      issue("epic",
            R"({"depends_on_id":"db","type":"blocks"},{"depends_on_id":"part","type":"blocks"})") +
      issue("part", R"({"depends_on_id":"epic","type":"parent-child"})") +
      issue(
          "piece",
          R"({"depends_on_id":"part","type":"parent-child"},{"depends_on_id":"x","type":"related"})");
  put(".beads/issues.jsonl", text);
  BeadsSource source(site());
  EXPECT_EQ(one(source, "part").item.depends_on, std::vector<ItemId>{{"db"}});
  EXPECT_EQ(one(source, "piece").item.depends_on, std::vector<ItemId>{{"db"}});
  EXPECT_EQ(change(source, "part", [](Item& item) { item.depends_on.clear(); }),
            "part waits for db because what it is a part of does");
  EXPECT_EQ(change(source, "part", [](Item& item) { item.priority = 0; }), "written");
  const std::string part = text.substr(text.find(R"({"id":"part")"));
  EXPECT_EQ(get(".beads/issues.jsonl"),
            replaced(text, part, replaced(part, "\"priority\":1", "\"priority\":0")));
}

// --- aitasks ---

std::string task_text(std::size_t i) {
  const std::string n = std::to_string(i);
  return std::string("---\npriority: ") +
         (i % 3 == 0   ? "high"
          : i % 3 == 1 ? "medium"
                       : "low") +
         "\neffort: " + (i % 2 == 0 ? "low" : "high") + "  # a guess\ndepends: [" +
         std::to_string(i / 2) + (i % 4 == 0 ? ", t9_1" : "") + "]\nissue_type: feature\nstatus: " +
         std::vector<std::string>{"Ready", "Implementing", "Postponed", "Editing", "Done"}[i % 5] +
         (i % 6 == 0 ? "\nlabels:\n  - ui\n  - 'back end'\n" : "\nlabels: [ui, bash]\n") +
         "assigned_to: dev@example.com\ncreated_at: 2026-02-13 02:35\n" +
         "updated_at: 2026-02-13 11:49\n" + (i % 5 == 4 ? "completed_at: 2026-02-13 11:49\n" : "") +
         "boardcol: now\nboardidx: " + n +
         "\nfile_references: [src/a.cc:1-9]\n# kept\n---\n\n## Task " + n + "\n\nText — naïve\n";
}

TEST_F(Sources, AitasksKeepsEveryByteThatNobodyChanged) {
  std::map<std::string, std::string> texts;
  for (std::size_t i = 1; i <= 500; ++i) {
    const std::string n = std::to_string(i);
    const std::string name = i % 10 == 0   ? "archived/t" + n + "_task.md"
                             : i % 10 == 1 ? "t9/t9_" + n + "_child.md"
                                           : "t" + n + "_task_name.md";
    texts[name] = task_text(i);
    put("aitasks/" + name, task_text(i));
  }
  put("aitasks/metadata/labels.txt", "ui\n");
  AitasksSource source(site());
  const ItemList list = all(source);
  EXPECT_EQ(list.items.size(), 500U);
  EXPECT_TRUE(list.broken.empty());
  EXPECT_EQ(source.new_id("x", {})->text, "t501");
  std::vector<ItemSource::Change> changes;
  for (const StoredItem& stored : list.items)
    changes.push_back({.item = stored.item, .expected = stored.version});
  EXPECT_EQ(write(source, changes), "written");
  for (ItemSource::Change& change : changes) change.item.type = "bug";
  EXPECT_EQ(write(source, changes), "written");
  for (const auto& [name, text] : texts)
    EXPECT_EQ(get("aitasks/" + name), replaced(text, "feature", "bug")) << name;
}

TEST_F(Sources, AitasksNamesWhatIsNewAfterItsNumber) {
  put("aitasks/t7_old.md", task_text(7));
  AitasksSource source(site());
  Item item = fresh("t8", "Fix login");
  item.type = "feature";
  item.updated_unix_ms += 1234;
  EXPECT_EQ(write(source, {{.item = item, .expected = {}}}), "written");
  const std::string minute = local_minute(kNow);
  EXPECT_EQ(get("aitasks/t8_fix_login.md"),
            "---\ntitle: Fix login\ncreated_at: " + minute + "\nupdated_at: " + minute + "\n---\n");
  EXPECT_EQ(write(source, {{.item = fresh("t7_1", "Part"), .expected = {}}}), "written");
  EXPECT_TRUE(contains(get("aitasks/t7/t7_1_part.md"), "issue_type: task\n"));
  EXPECT_EQ(ids_in(all(source)), (Texts{"t7", "t7_1", "t8"}));
}

TEST_F(Sources, AitasksGivesNumbersToWhatComesFromElsewhere) {
  put("aitasks/t7_old.md", task_text(7));
  AitasksSource source(site());
  Item one_item = fresh("bd-1", "One");
  Item other = fresh("bd-2", "Other");
  other.depends_on = {{"bd-1"}, {"t7"}};
  EXPECT_EQ(write(source, {{.item = one_item, .expected = {}}, {.item = other, .expected = {}}}),
            "written");
  EXPECT_TRUE(contains(get("aitasks/t9_other.md"), "depends: [8, 7]\n"));
  EXPECT_EQ(one(source, "bd-2").item, other);
  EXPECT_EQ(one(source, "bd-2").file, "aitasks/t9_other.md");
}

TEST_F(Sources, AitasksShowsWhatIsBrokenAndLeavesItAlone) {
  put("aitasks/t1_good.md", task_text(1));
  put("aitasks/t2_open.md", "---\nstatus: Ready\n");
  put("aitasks/t3_twice.md", "---\na: 1\na: 2\n---\n");
  put("aitasks/t4_bytes.md", "---\nstatus: Ready\n---\n\xff\n");
  put("aitasks/t5_one.md", task_text(5));
  put("aitasks/archived/t5_two.md", task_text(5));
  put("aitasks/t6_large.md", "---\nstatus: Ready\n---\n" + std::string(10UL << 20U, 'x'));
  put("aitasks/t8_body.md", "---\nstatus: Ready\n---\n" + std::string(2UL << 20U, 'x'));
  AitasksSource source(site());
  const ItemList list = all(source);
  EXPECT_EQ(ids_in(list), Texts{"t1"});
  const Texts broken = broken_in(list);
  ASSERT_EQ(broken.size(), 7U);
  EXPECT_TRUE(broken[0].starts_with("aitasks/t6_large.md:0 [t6] ")) << broken[0];
  EXPECT_EQ(broken[1], "aitasks/t2_open.md:1 [t2] the front matter has no closing ---");
  EXPECT_EQ(broken[2], "aitasks/t3_twice.md:3 [t3] the key 'a' is there twice");
  EXPECT_EQ(broken[3], "aitasks/t4_bytes.md:0 [t4] it is not UTF-8");
  EXPECT_EQ(
      broken[4],
      "aitasks/t8_body.md:0 [t8] the body is 2097152 bytes long; at most 1048576 are allowed");
  EXPECT_EQ(broken[5], "aitasks/t5_one.md:0 [t5] its id is also that of archived/t5_two.md");
  EXPECT_EQ(source.new_id("x", {})->text, "t9");
  EXPECT_FALSE(source.read({{"t3"}}));
  EXPECT_EQ(write(source, {{.item = fresh("t3", "x"), .expected = {}}}),
            "t3 cannot be read: the key 'a' is there twice");
  EXPECT_EQ(get("aitasks/t3_twice.md"), "---\na: 1\na: 2\n---\n");
}

TEST_F(Sources, AitasksTakesOutOfTheArchiveWhatIsTakenUpAgain) {
  put("aitasks/archived/t9_old.md", "---\nstatus: Done\ncompleted_at: 2026-02-13 11:49\n---\n");
  AitasksSource source(site());
  EXPECT_EQ(one(source, "t9").item.state, "done");
  EXPECT_EQ(change(source, "t9", [](Item& item) { item.state = "ready"; }), "written");
  EXPECT_EQ(get("aitasks/t9_old.md"), "---\nstatus: Ready\n---\n");
  EXPECT_EQ(ids_in(all(source)), Texts{"t9"});
}

// --- the tree ---

TEST_F(Sources, TreeKeepsTheMembersThatNobodyChanged) {
  const std::string text =
      "{\n  \"id\": \"a-1\",\n  \"x\": [1,  2],\n  \"title\": \"A\",\n  \"priority\": 1\n}\n";
  put(".dibs/items/a-1.json", text);
  TreeSource source(site());
  EXPECT_EQ(one(source, "a-1").item.unknown_members, "\"x\":[1,2]");
  EXPECT_EQ(change(source, "a-1", [](Item& item) { item.priority = 0; }), "written");
  EXPECT_EQ(get(".dibs/items/a-1.json"), replaced(text, "\"priority\": 1", "\"priority\": 0"));
  EXPECT_EQ(change(source, "a-1", [](Item& item) { item.labels = {"l"}; }), "written");
  EXPECT_EQ(get(".dibs/items/a-1.json"),
            replaced(text, "\"priority\": 1", "\"priority\": 0,\n  \"labels\":[\"l\"]"));
  EXPECT_EQ(write(source, {{.item = fresh("b/2", "B"), .expected = {}}}), "written");
  EXPECT_EQ(get(".dibs/items/b_2f2.json"), item_file(fresh("b/2", "B")));
  EXPECT_EQ(ids_in(all(source)), (Texts{"a-1", "b/2"}));
}

TEST_F(Sources, TreeShowsWhatIsBrokenAndLeavesItAlone) {
  put(".dibs/items/a.json", "{\n\"id\":\"a\",\n\"title\": oops}\n");
  put(".dibs/items/b.json", R"({"id":"other","title":"t"})");
  put(".dibs/items/c.json", R"({"id":"c","title":"t"})");
  TreeSource source(site());
  const ItemList list = all(source);
  EXPECT_EQ(ids_in(list), Texts{"c"});
  EXPECT_EQ(broken_in(list),
            (Texts{".dibs/items/a.json:3 [a] bad JSON in line 3: it is not well-formed",
                   ".dibs/items/b.json:0 [b] an item with its id has to be named other.json"}));
  EXPECT_FALSE(source.read({{"a"}}));
  EXPECT_TRUE(source.read({{"none"}})->empty());
}

// --- all of them ---

class EverySource : public Sources {
 protected:
  EverySource()
      : beads_(site()),
        aitasks_(site()),
        tree_(site()),
        folders_(site(), {.name = "other", .commit = {}}, Workflow::folders()) {}
  [[nodiscard]] std::vector<ItemSource*> in_the_tree() { return {&beads_, &aitasks_, &tree_}; }
  [[nodiscard]] std::vector<ItemSource*> every() { return {&beads_, &aitasks_, &tree_, &folders_}; }

  BeadsSource beads_;
  AitasksSource aitasks_;
  TreeSource tree_;
  FoldersSource folders_;
};

TEST_F(EverySource, IsEmptyWhereThereIsNothing) {
  for (ItemSource* source : every()) {
    EXPECT_TRUE(all(*source).items.empty());
    EXPECT_TRUE(source->read({{"t1"}})->empty());
    EXPECT_TRUE(source->history({"t1"}, 5)->empty());
  }
}

TEST_F(EverySource, WritesNothingWhenSomebodyElseWasFaster) {
  for (ItemSource* source : every()) {
    EXPECT_EQ(write(*source, {{.item = fresh("t1", "One"), .expected = {}},
                              {.item = fresh("t2", "Two"), .expected = {}}}),
              "written");
    EXPECT_EQ(write(*source, {{.item = fresh("t1", "One"), .expected = {}}}), "moved");
    const StoredItem one_item = one(*source, "t1");
    const StoredItem two = one(*source, "t2");
    EXPECT_EQ(change(*source, "t1", [](Item& item) { item.priority = 3; }), "written");
    Item changed = two.item;
    changed.priority = 1;
    EXPECT_EQ(write(*source, {{.item = changed, .expected = two.version},
                              {.item = one_item.item, .expected = one_item.version}}),
              "moved");
    EXPECT_EQ(one(*source, "t2").version, two.version);
    EXPECT_EQ(write(*source, {{.item = fresh("t3", "x"), .expected = "abc"}}), "moved");
    EXPECT_EQ(write(*source, {{.item = fresh("t3", "x"), .expected = {}},
                              {.item = fresh("t3", "x"), .expected = {}}}),
              "t3 is changed twice at once");
    EXPECT_EQ(write(*source, {{.item = fresh("t3", ""), .expected = {}}}), "the title is empty");
  }
}

TEST_F(EverySource, TellsTheHistoryOfOneItem) {
  for (ItemSource* source : in_the_tree()) {
    ASSERT_EQ(write(*source, {{.item = fresh("t1", "One"), .expected = {}},
                              {.item = fresh("t2", "Two"), .expected = {}}}),
              "written");
    commit("add both");
    ASSERT_EQ(change(*source, "t1", [](Item& item) { item.priority = 3; }), "written");
    commit("change one");
    ASSERT_EQ(change(*source, "t2", [](Item& item) { item.priority = 3; }), "written");
    commit("change the other");
    const auto history = source->history({"t1"}, 5);
    ASSERT_TRUE(history) << history.error().message;
    ASSERT_EQ(history->size(), 2U);
    EXPECT_EQ((*history)[0].message, "change one");
    EXPECT_EQ((*history)[1].message, "add both");
    EXPECT_FALSE((*history)[0].by.empty());
    EXPECT_GT((*history)[0].unix_ms, 0);
    EXPECT_EQ(source->history({"t1"}, 1)->size(), 1U);
  }
}

}  // namespace
}  // namespace dibs
