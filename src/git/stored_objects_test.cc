// What dibs reads of loose objects is what git reads of them.
#include "git/stored_objects.h"

#include <gtest/gtest.h>

#include "git/loose_commit.h"
#include "git/loose_object.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

/// A commit by git with two folders, and one on top of it that dibs wrote, with a file in one of
/// them.
class StoredObjectsTest : public testing::Test {
 protected:
  StoredObjectsTest() {
    EXPECT_TRUE(run_git(temp_.path(), {"init", "-q", "--bare", "repo"}));
    const auto first = branch_.write(
        {.parent = {},
         .changes = {{.path = "aa/one", .text = "1"}, {.path = "ab/one", .text = "2"}},
         .message = "by git\n"});
    EXPECT_TRUE(first);
    by_git_ = *first;
    const auto before = branch_.read_at(by_git_, {"", "aa"});
    const auto made = write_loose_commit(
        files_, repo_,
        {.parent = by_git_, .changes = {{.path = "aa/two", .text = "3"}}, .message = "by dibs\n"},
        {.root = before->at("").text, .folders = {{"aa", before->at("aa").text}}});
    EXPECT_TRUE(made && made->has_value());
    ours_ = **made;
  }

  void expect_as_git_says(const std::vector<std::string>& paths) {
    const auto stored = objects_.read_at(ours_, paths);
    const auto gits = branch_.read_at(ours_, paths);
    ASSERT_TRUE(stored && gits);
    ASSERT_EQ(stored->size(), gits->size());
    for (const auto& [path, found] : *gits) {
      EXPECT_EQ(stored->at(path).object, found.object) << path;
      EXPECT_EQ(stored->at(path).text, found.text) << path;
    }
  }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixFileSystem files_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return std::vector<std::string>{"PATH=/usr/bin:/bin"}; }};
  BranchFiles branch_{git_, repo_};
  StoredObjects objects_{files_, repo_};
  std::string by_git_;
  std::string ours_;
};

TEST_F(StoredObjectsTest, AreReadAsGitReadsThem) {
  expect_as_git_says({"", "aa", "aa/two"});
  expect_as_git_says({"aa/none", "none", "none/two"});
}

TEST_F(StoredObjectsTest, AreReadWhereGitCompressedThem) {
  expect_as_git_says({"", "aa", "aa/one", "aa/two", "ab", "ab/one"});
  EXPECT_TRUE(objects_.read_at(by_git_, {"", "aa/one"}));
}

TEST_F(StoredObjectsTest, LeaveToGitWhatGitPacked) {
  EXPECT_TRUE(run_git(repo_, {"update-ref", "refs/heads/main", by_git_}));
  EXPECT_TRUE(run_git(repo_, {"repack", "-q", "-d"}));
  EXPECT_FALSE(objects_.read_at(by_git_, {""}));
  EXPECT_TRUE(objects_.read_at(ours_, {"aa/two"}));
  EXPECT_FALSE(objects_.read_at(ours_, {"aa/one"})) << "git packed that file";
  EXPECT_FALSE(objects_.read_at(ours_, {"aa/two", "ab"}));
  EXPECT_FALSE(objects_.tree_of(by_git_));
}

TEST_F(StoredObjectsTest, LeaveToGitWhatIsDamaged) {
  const std::string path = repo_ + "/objects/" + ours_.substr(0, 2) + "/" + ours_.substr(2);
  const std::string bytes = read_bytes(path);
  EXPECT_TRUE(objects_.read("commit", ours_));
  EXPECT_FALSE(objects_.read("tree", ours_));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(unwrapped(std::string_view(bytes).substr(0, size), "commit", ours_)) << size;
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    EXPECT_FALSE(unwrapped(changed, "commit", ours_)) << at;
  }
  EXPECT_FALSE(unwrapped(bytes + "x", "commit", ours_));
}

}  // namespace
}  // namespace dibs
