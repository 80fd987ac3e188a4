#include "git/index_glance.h"

#include <gtest/gtest.h>

#include "sys/posix_file_system.h"
#include "testing/git_site.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

/// A repository with some files, whose names have every length that padding could go wrong with.
class IndexGlances : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_repository(repo_));
    std::string name;
    for (int i = 0; i < 20; ++i) write_bytes(repo_ + "/" + (name += 'a'), "text\n");
    ASSERT_TRUE(run_git(repo_, {"add", "-A"}));
    ASSERT_TRUE(run_git(repo_, {"commit", "-q", "-m", "files"}));
  }

  std::optional<IndexGlance> glance() {
    return glance_at_index_of(
        files_,
        {.git_dir = repo_ + "/.git", .common_dir = repo_ + "/.git", .root = repo_, .bare = false});
  }
  // What git made of that, or why it could not.
  void git(const std::vector<std::string>& words) { ASSERT_TRUE(run_git(repo_, words)); }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixFileSystem files_;
};

TEST_F(IndexGlances, SeeNothingSpecialInAnOrdinaryIndex) {
  ASSERT_TRUE(glance());
  EXPECT_FALSE(glance()->marked);
  EXPECT_FALSE(glance()->submodules);
}

TEST_F(IndexGlances, SeeWhatIsAssumedUnchanged) {
  git({"update-index", "--assume-unchanged", "aaaaaaa"});
  EXPECT_TRUE(glance()->marked);
}

TEST_F(IndexGlances, SeeWhatIsNotInTheWorkTree) {
  git({"update-index", "--skip-worktree", "aaaaaaaaaaaaaaaaaaaa"});
  EXPECT_TRUE(glance()->marked);
}

TEST_F(IndexGlances, SeeWhatIsOnlyMeantToBeAddedAsOrdinary) {
  write_bytes(repo_ + "/new", "new\n");
  git({"add", "-N", "new"});
  EXPECT_FALSE(glance()->marked);
}

TEST_F(IndexGlances, SeeSubmodules) {
  git({"update-index", "--add", "--cacheinfo",
       "160000,1111111111111111111111111111111111111111,module"});
  EXPECT_TRUE(glance()->submodules);
}

TEST_F(IndexGlances, ReadNamesOfAnyLength) {
  const std::string folder(200, 'f');
  std::string path = repo_;
  for (int i = 0; i < 15; ++i) make_directories(path += "/" + folder);
  write_bytes(path + "/file", "far down\n");
  git({"add", "-A"});
  ASSERT_TRUE(glance());
  EXPECT_FALSE(glance()->marked);
  git({"update-index", "--assume-unchanged", "aaaaaaa"});
  EXPECT_TRUE(glance()->marked);
}

TEST_F(IndexGlances, LeaveOtherKindsOfIndexToGit) {
  git({"update-index", "--index-version", "4"});
  EXPECT_FALSE(glance());
  git({"update-index", "--index-version", "2"});
  EXPECT_TRUE(glance());
  git({"update-index", "--split-index"});
  EXPECT_FALSE(glance());
}

TEST_F(IndexGlances, LeaveADamagedIndexToGit) {
  const std::string path = repo_ + "/.git/index";
  const std::string whole = read_bytes(path);
  for (std::size_t length = 0; length < whole.size(); length += 7)
    EXPECT_FALSE(glance_at_index(std::string_view(whole).substr(0, length), 20)) << length;
}

}  // namespace
}  // namespace dibs
