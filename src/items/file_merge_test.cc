#include "items/file_merge.h"

#include <gtest/gtest.h>

#include "model/item.h"

namespace dibs {
namespace {

std::string file_with(const std::vector<std::string>& labels, std::int64_t updated_unix_ms) {
  Item item;
  item.id = {"a"};
  item.title = "A";
  item.labels = labels;
  item.updated_unix_ms = updated_unix_ms;
  return item_file(item);
}

TEST(FileMerge, KnowsItemsInTheTreeByTheirPath) {
  EXPECT_NE(format_at(".dibs/items/a.json"), nullptr);
  EXPECT_NE(format_at("sub/project/.dibs/items/a.json"), nullptr);
  for (const char* path : {"", "a.json", ".dibs/items/a.md", ".dibs/items/b/a.json",
                           "x.dibs/items/a.json", ".dibs/config.toml"})
    EXPECT_EQ(format_at(path), nullptr) << path;
}

TEST(FileMerge, KnowsOtherToolsFilesByTheirPath) {
  for (const char* path : {".beads/issues.jsonl", "sub/.beads/issues.jsonl"})
    EXPECT_EQ(format_at(path)->name, "beads") << path;
  for (const char* path : {"aitasks/t1_x.md", "sub/aitasks/t1/t1_2_x.md",
                           "aitasks/archived/t1_x.md", "aitasks/archived/t1/t1_2_x.md"})
    EXPECT_EQ(format_at(path)->name, "aitasks") << path;
  for (const char* path : {"x.beads/issues.jsonl", ".beads/other.jsonl", "issues.jsonl",
                           "aitasks/notes.md", "aitasks/t1_x.txt", "myaitasks/t1_x.md", "t1_x.md"})
    EXPECT_EQ(format_at(path), nullptr) << path;
}

TEST(FileMerge, MergesAnItemByField) {
  const MergeFormat* format = format_at(".dibs/items/a.json");
  const Result<MergedFile> merged = format->merge(
      {.base = file_with({"x"}, 1), .ours = file_with({"x", "o"}, 2), .theirs = file_with({}, 3)});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->text, file_with({"o"}, 3));
}

TEST(FileMerge, TakesAnEmptyBaseForNone) {
  const Result<MergedFile> merged =
      format_at(".dibs/items/a.json")
          ->merge({.base = "", .ours = file_with({"o"}, 2), .theirs = file_with({"t"}, 1)});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->text, file_with({"o", "t"}, 2));
}

TEST(FileMerge, RefusesWhatIsNoItemOrTwo) {
  const MergeFormat* format = format_at(".dibs/items/a.json");
  const std::string fine = file_with({}, 1);
  EXPECT_FALSE(format->merge({.base = fine, .ours = "{ broken", .theirs = fine}));
  EXPECT_FALSE(format->merge({.base = fine, .ours = fine, .theirs = "[]"}));
  EXPECT_FALSE(format->merge({.base = fine, .ours = fine, .theirs = R"({"id":"b","title":"B"})"}));
}

MergedFile merged_at(const std::string& path, FileVersions versions) {
  versions.path = path;
  Result<MergedFile> merged = format_at(path)->merge(versions);
  EXPECT_TRUE(merged) << (merged ? "" : merged.error().message);
  return merged ? *std::move(merged) : MergedFile{};
}

MergedFile beads(const std::string& base, const std::string& ours, const std::string& theirs) {
  return merged_at(".beads/issues.jsonl", {.base = base, .ours = ours, .theirs = theirs});
}

using Names = std::vector<std::string>;

// An issue as beads writes it, with more members behind the usual ones.
std::string issue(const std::string& id, const std::string& more = "", int hour = 1) {
  return R"({"id":")" + id + R"(","title":"T )" + id +
         R"(","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00Z",)" +
         R"("updated_at":"2026-01-01T0)" + std::to_string(hour) + R"(:00:00Z")" + more + "}\n";
}

TEST(BeadsMerge, KeepsWhatBothSidesAddedAndEveryOtherByte) {
  const std::string base = issue("a") + "# no issue\n\n" + issue("b");
  const MergedFile merged = beads(base, base + issue("o1") + issue("o2"), issue("t0") + base);
  EXPECT_EQ(merged.text, issue("t0") + base + issue("o1") + issue("o2"));
  EXPECT_EQ(merged.clashes, Names{});
}

TEST(BeadsMerge, JoinsLinesThatEndTheFileWithoutALineEnd) {
  const std::string last = issue("o").substr(0, issue("o").size() - 1);
  EXPECT_EQ(beads(issue("a"), issue("a") + last, issue("a") + issue("t")).text,
            issue("a") + issue("o") + issue("t"));
}

TEST(BeadsMerge, RemovesWhatOneSideRemovedUnlessTheOtherChangedIt) {
  const std::string base = issue("a") + issue("b") + issue("c");
  EXPECT_EQ(beads(base, issue("a") + issue("c"), base).text, issue("a") + issue("c"));
  const std::string changed = issue("b", R"(,"assignee":"bo")");
  EXPECT_EQ(beads(base, issue("a") + issue("c"), issue("a") + changed + issue("c")).text,
            issue("a") + changed + issue("c"));
}

TEST(BeadsMerge, MergesAnIssueThatBothChangedByField) {
  const MergedFile merged =
      beads(issue("a", R"(,"labels":["x"],"design":"d")"),
            issue("a", R"(,"labels":["x","o"],"design":"d","assignee":"bo")", 2),
            issue("a", R"(,"labels":["x","t"],"design":"new","notes":"n")", 3));
  EXPECT_EQ(merged.text,
            issue("a", R"(,"labels":["x","o","t"],"design":"new","assignee":"bo","notes":"n")", 3));
  EXPECT_EQ(merged.clashes, Names{});
}

TEST(BeadsMerge, UnitesDependenciesAndCommentsEntryByEntry) {
  const std::string parent = R"({"issue_id":"a","depends_on_id":"p","type":"parent-child"})";
  const std::string blocks = R"({"issue_id":"a","depends_on_id":"b","type":"blocks","at":)";
  const std::string comment = R"("comments":[{"id":1,"author":"al","text":"hm"})";
  const MergedFile merged =
      beads(issue("a", R"(,"dependencies":[{"depends_on_id":"old","type":"blocks"}])"),
            issue("a", R"(,"dependencies":[{"depends_on_id":"old","type":"blocks"},)" + blocks +
                           "1}]," + comment + "]"),
            issue("a", R"(,"dependencies":[)" + blocks + "2}," + parent + "]"));
  EXPECT_EQ(merged.text,
            issue("a", R"(,"dependencies":[)" + blocks + "1}," + parent + "]," + comment + "]"));
}

TEST(BeadsMerge, MarksAMemberThatDibsDoesNotKnowAndBothChanged) {
  const MergedFile merged = beads(
      issue("a", R"(,"design":"d")") + issue("b"), issue("a", R"(,"design":"ours")") + issue("b"),
      issue("a", R"(,"design":"theirs","notes":"n")") + issue("b") + issue("t"));
  EXPECT_EQ(merged.text, "<<<<<<< ours\n" + issue("a", R"(,"design":"ours","notes":"n")") +
                             "=======\n" + issue("a", R"(,"design":"theirs","notes":"n")") +
                             ">>>>>>> theirs\n" + issue("b") + issue("t"));
  EXPECT_EQ(merged.clashes, Names{"a (design)"});
}

TEST(BeadsMerge, KeepsTwoIssuesThatGotTheSameId) {
  const std::string ours = issue("a");
  std::string theirs = issue("a");
  theirs.replace(theirs.find("created_at\":\"2026"), 16, "created_at\":\"2025");
  const MergedFile merged = beads("", ours, theirs);
  EXPECT_EQ(merged.text, "<<<<<<< ours\n" + ours + "=======\n" + theirs + ">>>>>>> theirs\n");
  EXPECT_EQ(merged.clashes, Names{"a (two issues of one id)"});
}

TEST(BeadsMerge, LetsATimeOfClosingGoWithTheStatus) {
  const auto with_status = [](const std::string& status, const std::string& more, int hour) {
    std::string line = issue("a", more, hour);
    return line.replace(line.find("open"), 4, status);
  };
  const std::string closed = with_status("closed", R"(,"closed_at":"2026-01-01T02:00:00Z")", 2);
  const std::string taken = with_status("in_progress", "", 3);
  EXPECT_EQ(beads(issue("a"), closed, taken).text, taken);
  EXPECT_EQ(beads(issue("a"), taken, closed).text, taken);
  const std::string later = with_status("closed", R"(,"closed_at":"2026-01-01T04:00:00Z")", 4);
  EXPECT_EQ(beads(issue("a"), closed, later).text, later);
  EXPECT_EQ(beads(issue("a"), taken, later).text, later);
}

TEST(BeadsMerge, LeavesDeletedWhatBeadsDeleted) {
  std::string deleted = issue("a", R"(,"deleted_at":"2026-01-01T01:00:00Z")", 1);
  deleted.replace(deleted.find("open"), 4, "tombstone");
  const std::string changed = issue("a", R"(,"assignee":"bo")", 3);
  EXPECT_EQ(beads(issue("a"), changed, deleted).text, deleted);
  EXPECT_EQ(beads(issue("a"), deleted, changed).text, deleted);
}

TEST(BeadsMerge, RefusesAFileThatHasAnIssueTwice) {
  const Result<MergedFile> merged =
      format_at(".beads/issues.jsonl")
          ->merge({.base = "", .ours = issue("a") + issue("a"), .theirs = issue("a")});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().message, "our version has a twice");
}

MergedFile task(const std::string& base, const std::string& ours, const std::string& theirs) {
  return merged_at("aitasks/t1_fix_it.md", {.base = base, .ours = ours, .theirs = theirs});
}

std::string task_text(const std::string& keys, const std::string& body = "One\nTwo\nThree\n") {
  return "---\npriority: high # soon\nstatus: Ready\n" + keys +
         "created_at: 2026-01-01 10:00\n---\n\n" + body;
}

TEST(TaskMerge, MergesTheFrontMatterByKeyAndTheBodyByLine) {
  const MergedFile merged =
      task(task_text("labels: [x]\n# who\nassigned_to: al\n"),
           task_text("labels: [x, o]\n# who\nassigned_to: al\nown: 1\n", "Zero\nOne\nTwo\nThree\n"),
           task_text("labels: [x, t]\n# who knows\nassigned_to: bo\n", "One\nTwo\nThree\nFour\n"));
  EXPECT_EQ(merged.text, task_text("labels: [x, o, t]\n# who knows\nassigned_to: bo\nown: 1\n",
                                   "Zero\nOne\nTwo\nThree\nFour\n"));
  EXPECT_EQ(merged.clashes, Names{});
}

TEST(TaskMerge, KeepsBothVersionsOfALineOfTheBody) {
  const MergedFile merged =
      task(task_text(""), task_text("", "One\n2\nThree\n"), task_text("", "One\nII\nThree\n"));
  EXPECT_EQ(merged.clashes, Names{});
  EXPECT_EQ(merged.text.substr(0, task_text("", "One\n").size()), task_text("", "One\n"));
  for (const char* line : {"\n2\n", "\nII\n", "\nThree\n"})
    EXPECT_NE(merged.text.find(line), std::string::npos) << merged.text;
}

TEST(TaskMerge, MarksAKeyThatDibsDoesNotKnowAndBothChanged) {
  const MergedFile merged =
      task(task_text("pr: 1\n"), task_text("pr: 2\n"), task_text("pr: 3\nnew: x\n"));
  EXPECT_EQ(merged.clashes, Names{"pr"});
  EXPECT_EQ(merged.text,
            task_text("<<<<<<< ours\npr: 2\n=======\npr: 3\n>>>>>>> theirs\nnew: x\n"));
}

TEST(TaskMerge, RefusesTwoTasksOfOneName) {
  FileVersions versions{.base = "",
                        .ours = "---\ncreated_at: 2026-01-01 10:00\n---\n",
                        .theirs = "---\ncreated_at: 2026-01-01 10:01\n---\n",
                        .path = "aitasks/t1_x.md"};
  const MergeFormat* format = format_at(versions.path);
  EXPECT_FALSE(format->merge(versions));
  versions.theirs = "---\ncreated_at: 2026-01-01 10:00\nlabels: [a]\n---\n";
  EXPECT_EQ(format->merge(versions)->text, versions.theirs);
}

}  // namespace
}  // namespace dibs
