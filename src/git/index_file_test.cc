#include "git/index_file.h"

#include <gtest/gtest.h>

#include "sys/posix_file_system.h"
#include "testing/git_site.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

/// A repository with some files, whose names have every length that padding could go wrong with.
class IndexFiles : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_repository(repo_));
    std::string name;
    for (int i = 0; i < 20; ++i) write_bytes(repo_ + "/" + (name += 'a'), "text\n");
    ASSERT_TRUE(run_git(repo_, {"add", "-A"}));
    ASSERT_TRUE(run_git(repo_, {"commit", "-q", "-m", "files"}));
  }

  std::optional<IndexFile> index() {
    read_ = read_index(
        files_,
        {.git_dir = repo_ + "/.git", .common_dir = repo_ + "/.git", .root = repo_, .bare = false});
    return read_ ? read_->parsed() : std::nullopt;
  }
  // What git made of that, or why it could not.
  void git(const std::vector<std::string>& words) { ASSERT_TRUE(run_git(repo_, words)); }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixFileSystem files_;
  std::optional<ReadIndex> read_;
};

TEST_F(IndexFiles, ShowNothingSpecialInAnOrdinaryIndex) {
  ASSERT_TRUE(index());
  EXPECT_FALSE(index()->has_marked());
  EXPECT_FALSE(index()->has_submodules());
}

TEST_F(IndexFiles, ShowWhatIsAssumedUnchanged) {
  git({"update-index", "--assume-unchanged", "aaaaaaa"});
  EXPECT_TRUE(index()->has_marked());
}

TEST_F(IndexFiles, ShowWhatIsNotInTheWorkTree) {
  git({"update-index", "--skip-worktree", "aaaaaaaaaaaaaaaaaaaa"});
  EXPECT_TRUE(index()->has_marked());
}

TEST_F(IndexFiles, ShowWhatIsOnlyMeantToBeAddedAsOrdinary) {
  write_bytes(repo_ + "/new", "new\n");
  git({"add", "-N", "new"});
  EXPECT_FALSE(index()->has_marked());
}

TEST_F(IndexFiles, ShowSubmodules) {
  git({"update-index", "--add", "--cacheinfo",
       "160000,1111111111111111111111111111111111111111,module"});
  EXPECT_TRUE(index()->has_submodules());
}

TEST_F(IndexFiles, HaveNamesOfAnyLength) {
  const std::string folder(200, 'f');
  std::string path = repo_;
  for (int i = 0; i < 15; ++i) make_directories(path += "/" + folder);
  write_bytes(path + "/file", "far down\n");
  git({"add", "-A"});
  ASSERT_TRUE(index());
  EXPECT_FALSE(index()->has_marked());
  git({"update-index", "--assume-unchanged", "aaaaaaa"});
  EXPECT_TRUE(index()->has_marked());
}

TEST_F(IndexFiles, OfOtherKindsAreLeftToGit) {
  git({"update-index", "--index-version", "4"});
  EXPECT_FALSE(index());
  git({"update-index", "--index-version", "2"});
  EXPECT_TRUE(index());
  git({"update-index", "--split-index"});
  EXPECT_FALSE(index());
}

TEST_F(IndexFiles, ThatAreDamagedAreLeftToGit) {
  const std::string path = repo_ + "/.git/index";
  const std::string whole = read_bytes(path);
  for (std::size_t length = 0; length < whole.size(); length += 7)
    EXPECT_FALSE(parse_index(std::string_view(whole).substr(0, length), 20)) << length;
}

}  // namespace
}  // namespace dibs
