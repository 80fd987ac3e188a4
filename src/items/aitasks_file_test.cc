#include "items/aitasks_file.h"

#include <gtest/gtest.h>

#include "sys/local_time.h"

namespace dibs {
namespace {

const TaskAliases kNoAliases;
const TaskName kName{.id = {"t109"}, .title = "atomic task lock", .archived = false};

constexpr std::string_view kTask =
    "---\n"
    "priority: high\n"
    "effort: medium\n"
    "depends: [112, t85_2, 85_3]\n"
    "issue_type: feature  # see task_types.txt\n"
    "status: Ready\n"
    "labels: [aitasks, bash]\n"
    "assigned_to: dev@example.com\n"
    "created_at: 2026-02-13 02:35\n"
    "updated_at: 2026-02-13 11:49\n"
    "boardidx: 20\n"
    "---\n"
    "\n"
    "## Problem\n";

AitasksFile parsed(std::string_view text, const TaskName& name = kName) {
  Result<AitasksFile> read = AitasksFile::parse(name, text, kNoAliases);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return *std::move(read);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  EXPECT_NE(out.find(from), std::string::npos) << from;
  return out.replace(out.find(from), from.size(), to);
}

std::string changed(std::string_view text, void (*change)(Item&)) {
  AitasksFile file = parsed(text);
  Item item = *meant_by(file);
  change(item);
  const Done written = rewrite(file, item);
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  return file.text();
}

TEST(AitasksName, IsTheIdAndTheTitle) {
  EXPECT_EQ(task_name("t109_atomic_task_lock.md"), kName);
  EXPECT_EQ(task_name("t10/t10_1_add_login.md"),
            (TaskName{.id = {"t10_1"}, .title = "add login", .archived = false}));
  EXPECT_EQ(task_name("archived/t10/t10_1_add.md"),
            (TaskName{.id = {"t10_1"}, .title = "add", .archived = true}));
  for (const char* path : {"t10.md", "x10_a.md", "t10_a.txt", "t11/t10_1_a.md", "t10/t10_a.md",
                           "metadata/labels.md", "new/t1_a/b.md"})
    EXPECT_FALSE(task_name(path)) << path;
  EXPECT_EQ(task_path({"t7"}, "Fix  login!"), "t7_fix_login.md");
  EXPECT_EQ(task_path({"t7_2"}, "x"), "t7/t7_2_x.md");
  EXPECT_FALSE(task_path({"bd-7"}, "x"));
}

TEST(AitasksFile, IsReadIntoAnItem) {
  const Result<Item> item = meant_by(parsed(kTask));
  ASSERT_TRUE(item) << item.error().message;
  EXPECT_EQ(item->id.text, "t109");
  EXPECT_EQ(item->title, "atomic task lock");
  EXPECT_EQ(item->body, "## Problem\n");
  EXPECT_EQ(item->state, "ready");
  EXPECT_EQ(item->priority, 1);
  EXPECT_EQ(item->estimate_min, 240);
  EXPECT_EQ(item->depends_on, (std::vector<ItemId>{{"t112"}, {"t85_2"}, {"t85_3"}}));
  EXPECT_EQ(item->type, "feature");
  EXPECT_EQ(item->labels, (std::vector<std::string>{"aitasks", "bash"}));
  EXPECT_EQ(local_minute(item->created_unix_ms), "2026-02-13 02:35");
  EXPECT_EQ(item->unknown_members, R"("assigned_to":"dev@example.com","boardidx":"20")");
}

TEST(AitasksFile, KnowsWhatAitasksMeansByAStatus) {
  const auto state = [](const std::string& status, bool archived) {
    TaskName name = kName;
    name.archived = archived;
    return meant_by(parsed("---\nstatus: " + status + "\n---\n", name))->state;
  };
  EXPECT_EQ(state("Ready", false), "ready");
  EXPECT_EQ(state("Implementing", false), "in_progress");
  EXPECT_EQ(state("Postponed", false), "pending");
  EXPECT_EQ(state("Editing", false), "pending");
  EXPECT_EQ(state("Done", false), "done");
  EXPECT_EQ(state("Folded", false), "rejected");
  EXPECT_EQ(state("Implementing", true), "done");
  EXPECT_EQ(state("Folded", true), "rejected");
}

TEST(AitasksFile, ChangesNothingButWhatChanged) {
  EXPECT_EQ(changed(kTask, [](Item&) {}), kTask);
  EXPECT_EQ(changed(kTask, [](Item& item) { item.type = "bug"; }),
            replaced(kTask, "feature ", "bug "));
  EXPECT_EQ(changed(kTask,
                    [](Item& item) {
                      item.depends_on.erase(item.depends_on.begin());
                      item.depends_on.push_back({"t7"});
                      item.depends_on.push_back({"t7_1"});
                    }),
            replaced(kTask, "[112, t85_2, 85_3]", "[t85_2, 85_3, 7, t7_1]"));
  EXPECT_EQ(changed(kTask, [](Item& item) { item.state = "done"; }),
            replaced(replaced(kTask, "Ready", "Done"), "boardidx: 20\n",
                     "boardidx: 20\ncompleted_at: 2026-02-13 11:49\n"));
  EXPECT_EQ(changed(kTask, [](Item& item) { item.title = "Lock: atomic"; }),
            replaced(kTask, "boardidx: 20\n", "boardidx: 20\ntitle: 'Lock: atomic'\n"));
  EXPECT_EQ(changed(kTask, [](Item& item) { item.body += "more"; }), std::string(kTask) + "more");
}

TEST(AitasksFile, KeepsAWordThatStillFits) {
  EXPECT_EQ(changed(kTask, [](Item& item) { item.priority = 0; }),
            replaced(kTask, "boardidx: 20\n", "boardidx: 20\ndibs: '{\"priority\":0}'\n"));
  EXPECT_EQ(changed(kTask, [](Item& item) { item.estimate_min = 300; }),
            replaced(kTask, "boardidx: 20\n", "boardidx: 20\ndibs: '{\"estimate_min\":300}'\n"));
}

TEST(AitasksFile, KeepsCarriageReturns) {
  std::string windows;
  for (const char c : kTask) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(meant_by(parsed(windows))->body, "## Problem\r\n");
  EXPECT_EQ(changed(windows, [](Item& item) { item.state = "in_progress"; }),
            replaced(windows, "Ready", "Implementing"));
}

}  // namespace
}  // namespace dibs
