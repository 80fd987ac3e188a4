#include "git/commits.h"

#include <gtest/gtest.h>

#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class CommitsTest : public testing::Test {
 protected:
  CommitsTest() {
    EXPECT_TRUE(make_repository(repo_));
    EXPECT_TRUE(run_git(repo_, {"commit", "-q", "--allow-empty", "-m", "one"}));
    EXPECT_TRUE(run_git(repo_, {"checkout", "-q", "-b", "work"}));
    EXPECT_TRUE(run_git(repo_, {"commit", "-q", "--allow-empty", "-m", "two"}));
  }

  bool stays(const std::string& branch, const std::vector<std::string>& staying) {
    const Result<bool> all = commits_.all_reachable({*commits_.resolve(branch)}, staying);
    EXPECT_TRUE(all) << (all ? "" : all.error().message);
    return all.value_or(false);
  }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixFileSystem files_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return std::vector<std::string>{"PATH=/usr/bin:/bin"}; }};
  Commits commits_{files_, git_, repo_ + "/.git"};
};

TEST_F(CommitsTest, AreReachableFromTheRefsThatStay) {
  EXPECT_TRUE(stays("work", {"--glob=refs/*"}));
  EXPECT_FALSE(stays("work", {"--exclude=refs/heads/work", "--glob=refs/*"}));
  EXPECT_TRUE(stays("main", {"--exclude=refs/heads/main", "--glob=refs/*"}));
}

// As git sees one that somebody deletes in that moment: its name is there, and nothing in it.
TEST_F(CommitsTest, AreReachableOrNotWhateverBecomesOfAnotherRef) {
  write_bytes(repo_ + "/.git/refs/heads/going", "");
  EXPECT_TRUE(stays("work", {"--glob=refs/*"}));
  EXPECT_FALSE(stays("work", {"--exclude=refs/heads/work", "--glob=refs/*"}));
}

}  // namespace
}  // namespace dibs
