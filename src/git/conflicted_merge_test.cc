#include "git/conflicted_merge.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

using namespace std::string_literals;

std::string fields(std::string text) {
  for (char& c : text)
    if (c == '|') c = '\0';
  return text;
}

const std::string kConflict = fields(
    "tree|100644 aa 1\tf|100644 bb 2\tf|100644 cc 3\tf|100644 dd 1\tg|100755 ee 3\tg||"
    "1|f|Auto-merging|Auto-merging f\n|1|f|CONFLICT (contents)|Merge conflict in f\n|"
    "1|g|CONFLICT (modify/delete)|g deleted\n|");

TEST(ConflictedMerge, HasWhatEachSideHas) {
  const Result<ConflictedMerge> merge = parse_conflicted_merge(kConflict);
  ASSERT_TRUE(merge);
  EXPECT_EQ(merge->tree, "tree");
  EXPECT_TRUE(merge->about_contents);
  ASSERT_EQ(merge->files.size(), 2U);
  EXPECT_EQ(merge->files[0].work, (FileVersion{.mode = "100644", .object = "cc"}));
  EXPECT_EQ(merge->files[1].path, "g");
  EXPECT_EQ(merge->files[1].target, std::nullopt);
  EXPECT_EQ(merge->files[1].work, (FileVersion{.mode = "100755", .object = "ee"}));
}

TEST(ConflictedMerge, OtherKindsOfConflictsAndLinksAreNotAboutContents) {
  const auto about_contents = [](const std::string& out) {
    const Result<ConflictedMerge> merge = parse_conflicted_merge(fields(out));
    EXPECT_TRUE(merge);
    return merge && merge->about_contents;
  };
  EXPECT_TRUE(about_contents("t|100644 aa 2\tf||1|f|CONFLICT (contents)|x\n|"));
  EXPECT_FALSE(about_contents("t|100644 aa 2\tf||2|f|g|CONFLICT (rename/rename)|x\n|"));
  EXPECT_FALSE(about_contents("t|120000 aa 2\tf||1|f|CONFLICT (contents)|x\n|"));
  EXPECT_FALSE(about_contents("t|160000 aa 2\tf||1|f|CONFLICT (contents)|x\n|"));
  EXPECT_FALSE(about_contents("t||1|f|CONFLICT (contents)|x\n|")) << "no file is named";
}

TEST(ConflictedMerge, RefusesWhatWasCutShort) {
  EXPECT_FALSE(parse_conflicted_merge(fields("tree|100644 aa 1\tf")));
  EXPECT_FALSE(parse_conflicted_merge(fields("tree|100644 aa 1 f||")));
  EXPECT_FALSE(parse_conflicted_merge(fields("tree|100644 aa 1\tf||1|f|CONFLICT (contents)")));
  EXPECT_FALSE(parse_conflicted_merge(fields("tree|100644 aa 1\tf||9|f|a|b|")));
  EXPECT_FALSE(parse_conflicted_merge(""));
}

TEST(ConflictedMerges, ATreeHasWhatWasDecidedAndTheRestAsMerged) {
  const TempDirectory temp;
  const std::string repo = temp / "repo";
  ASSERT_TRUE(make_repository(repo));
  const auto change = [&](const std::string& branch, const std::string& text) {
    ASSERT_TRUE(run_git(repo, {"checkout", "-q", "-B", branch, "main"}));
    write_bytes(repo + "/both", text);
    write_bytes(repo + "/gone", text);
    write_bytes(repo + "/of-" + branch, text);
    ASSERT_TRUE(run_git(repo, {"add", "-A"}));
    ASSERT_TRUE(run_git(repo, {"commit", "-q", "-m", branch}));
  };
  change("target", "target\n");
  change("work", "work\n");
  PosixPrograms programs;
  const GitProgram git(
      programs, [] { return std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}; });
  const ConflictedMerges merges(git, repo + "/.git");
  const Result<ConflictedMerge> merge = merges.merge("target", "work");
  ASSERT_TRUE(merge) << merge.error().message;
  EXPECT_TRUE(merge->about_contents);
  ASSERT_EQ(merge->files.size(), 2U);
  const Result<std::string> object = merges.write("decided\n");
  ASSERT_TRUE(object);
  const Result<std::string> tree = merges.decided_tree(
      merge->tree,
      {{.path = "both", .version = FileVersion{.mode = "100755", .object = *object}},
       {.path = "gone", .version = std::nullopt}},
      temp.path());
  ASSERT_TRUE(tree) << tree.error().message;
  const Result<std::string> listed =
      git.output_of({.git_dir = repo + "/.git", .arguments = {"ls-tree", *tree}, .input = {}},
                    ErrorKind::internal);
  ASSERT_TRUE(listed);
  EXPECT_TRUE(contains(*listed, "100755 blob " + *object + "\tboth"));
  EXPECT_TRUE(contains(*listed, "\tof-target"));
  EXPECT_TRUE(contains(*listed, "\tof-work"));
  EXPECT_FALSE(contains(*listed, "\tgone"));
  EXPECT_EQ(merges.read(*object).value_or(""), "decided\n");
}

}  // namespace
}  // namespace dibs
