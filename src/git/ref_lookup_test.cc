#include "git/ref_lookup.h"

#include <gtest/gtest.h>

#include "sys/posix_file_system.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

using Kind = RefAnswer::Kind;

const std::string kOne(40, '1');
const std::string kTwo(40, '2');

/// A git directory with these files in it, and one of a linked worktree.
class RefLookup : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"/refs", "/refs/heads", "/refs/heads/dibs", "/refs/remotes",
                               "/refs/remotes/origin", "/worktrees", "/worktrees/w"})
      ASSERT_TRUE(files_.make_directory(git_dir_ + folder));
    put("HEAD", "ref: refs/heads/main\n");
    put("worktrees/w/commondir", "../..\n");
    put("worktrees/w/HEAD", "ref: refs/heads/dibs/a\n");
  }

  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files_.replace_file(git_dir_ + "/" + name, text));
  }
  RefAnswer commit(const std::string& ref, const std::string& below = {}) {
    return look_up_commit(files_, git_dir_ + below, ref);
  }

  PosixFileSystem posix_;
  FileSystem& files_ = posix_;
  TempDirectory directory_;
  std::string git_dir_ = directory_.path();
};

TEST_F(RefLookup, ReadsABranchFromItsFile) {
  put("refs/heads/main", kOne + "\n");
  EXPECT_EQ(commit("refs/heads/main").text, kOne);
  EXPECT_EQ(commit("HEAD").text, kOne);
}

TEST_F(RefLookup, ReadsAPackedBranchUnlessAFileSaysOtherwise) {
  put("packed-refs",
      "# pack-refs with: peeled\n" + kOne + " refs/heads/main\n" + kTwo + " refs/heads/mainly\n");
  EXPECT_EQ(commit("refs/heads/main").text, kOne);
  EXPECT_EQ(commit("refs/heads/ain").kind, Kind::absent);
  put("refs/heads/main", kTwo + "\n");
  EXPECT_EQ(commit("refs/heads/main").text, kTwo);
}

TEST_F(RefLookup, KnowsWhatIsNotThere) {
  EXPECT_EQ(commit("refs/heads/none").kind, Kind::absent);
  EXPECT_EQ(commit("MERGE_HEAD").kind, Kind::absent);
  EXPECT_EQ(commit("HEAD").kind, Kind::absent);  // of a branch without a commit
}

TEST_F(RefLookup, ALinkedWorktreeHasAHeadOfItsOwn) {
  put("refs/heads/main", kOne + "\n");
  put("refs/heads/dibs/a", kTwo + "\n");
  EXPECT_EQ(commit("HEAD", "/worktrees/w").text, kTwo);
  EXPECT_EQ(commit("refs/heads/main", "/worktrees/w").text, kOne);
}

TEST_F(RefLookup, ReadsADetachedHead) {
  put("HEAD", kTwo + "\n");
  EXPECT_EQ(commit("HEAD").text, kTwo);
}

TEST_F(RefLookup, LeavesWhatIsOutOfTheOrdinaryToGit) {
  put("refs/heads/odd", "ref: refs/elsewhere/x\n");
  put("refs/heads/torn", "123\n");
  for (const char* ref :
       {"refs/heads/odd", "refs/heads/torn", "refs/heads/a b", "refs/heads/../x", "refs/tags/v1",
        "main", "HEAD~1", "refs/heads/main^{commit}", "refs/heads/dibs"})
    EXPECT_EQ(commit(ref).kind, Kind::unsure) << ref;
  ASSERT_TRUE(files_.make_directory(git_dir_ + "/reftable"));
  EXPECT_EQ(commit("refs/heads/main").kind, Kind::unsure);
}

TEST_F(RefLookup, GoesNoFurtherThanGitAlongSymbolicRefs) {
  put("refs/heads/main", "ref: refs/heads/main\n");
  EXPECT_EQ(commit("HEAD").kind, Kind::unsure);
}

TEST_F(RefLookup, SaysWhatASymbolicRefNames) {
  put("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n");
  EXPECT_EQ(look_up_symbolic(files_, git_dir_, "refs/remotes/origin/HEAD").text,
            "refs/remotes/origin/main");
  EXPECT_EQ(look_up_symbolic(files_, git_dir_, "refs/remotes/other/HEAD").kind, Kind::absent);
  put("HEAD", kOne + "\n");
  EXPECT_EQ(look_up_symbolic(files_, git_dir_, "HEAD").kind, Kind::absent);
}

TEST(PlainBranchName, IsOneThatGitTakesBeyondDoubt) {
  for (const char* name : {"main", "dibs/fix-login-1a2b3c4d", "a.b/c_d"})
    EXPECT_TRUE(is_plain_branch_name(name)) << name;
  for (const char* name : {"", "a//b", "/a", "a/", ".a", "a/.b", "a..b", "a.lock", "a.", "-a",
                           "a b", "a~1", "a^", "a:b", "a?", "ä", "@{u}"})
    EXPECT_FALSE(is_plain_branch_name(name)) << name;
}

}  // namespace
}  // namespace dibs
