#include "git/loose_commit.h"

#include <gtest/gtest.h>

#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

/// A repository whose first commit has some files in folders.
class LooseCommits : public testing::Test {
 protected:
  LooseCommits()
      : git_(programs_,
             [] { return std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/none"}; }) {
    EXPECT_TRUE(make_repository(repo_));
    for (const char* folder : {"aa", "ab"}) make_directories(repo_ + "/" + folder);
    for (const char* name : {"aa/one", "aa/two", "ab/one", "top"})
      write_bytes(repo_ + "/" + name, "before\n");
    EXPECT_TRUE(run_git(repo_, {"add", "-A"}));
    EXPECT_TRUE(run_git(repo_, {"commit", "-q", "-m", "start"}));
    parent_ = ask({"rev-parse", "HEAD"});
  }

  std::string ask(const std::vector<std::string>& words) {
    const Result<std::string> out = git_.output_of(
        {.git_dir = repo_ + "/.git", .arguments = words, .input = {}}, ErrorKind::internal);
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out ? out->substr(0, out->find('\n')) : "";
  }
  KnownTrees trees() {
    const auto found = branch().read_at(parent_, {"", "aa", "ab"});
    EXPECT_TRUE(found);
    return {.root = found->at("").text,
            .folders = {{"aa", found->at("aa").text}, {"ab", found->at("ab").text}}};
  }
  BranchFiles branch() { return {git_, repo_ + "/.git"}; }
  BranchFiles::NewCommit changing(std::vector<FileChange> changes) {
    return {.parent = parent_,
            .changes = std::move(changes),
            .message = "a change\n",
            .unix_ms = 1'700'000'000'000,
            .author = "agent:a"};
  }
  Result<std::optional<std::string>> write(const BranchFiles::NewCommit& commit) {
    return write_loose_commit(files_, repo_ + "/.git", commit, trees());
  }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixFileSystem files_;
  PosixPrograms programs_;
  GitProgram git_;
  std::string parent_;
};

TEST_F(LooseCommits, AreTheCommitsThatGitWouldHaveMade) {
  for (const auto& changes : {std::vector<FileChange>{{.path = "aa/two", .text = "after\n"}},
                              {{.path = "aa/two", .text = ""}, {.path = "ab/one", .text = "x"}},
                              {{.path = "aa/one", .text = "1"}, {.path = "aa/two", .text = "2"}},
                              {{.path = "aa/new", .text = "3"}, {.path = "ab/one", .text = "4"}},
                              {{.path = "aa/a", .text = "5"}, {.path = "aa/z", .text = "6"}},
                              {{.path = "ac/one", .text = "7"}, {.path = "ac/a", .text = "8"}},
                              {{.path = "a/one", .text = "9"}}}) {
    const auto ours = write(changing(changes));
    ASSERT_TRUE(ours && ours->has_value());
    const Result<std::string> gits = branch().write(changing(changes));
    ASSERT_TRUE(gits);
    EXPECT_EQ(**ours, *gits);
  }
  EXPECT_TRUE(run_git(repo_, {"fsck", "--strict"}));
}

TEST_F(LooseCommits, CanBeReadByGit) {
  const auto made = write(changing({{.path = "aa/two", .text = "after\n"}}));
  ASSERT_TRUE(made && made->has_value());
  EXPECT_EQ(ask({"show", **made + ":aa/two"}), "after");
  EXPECT_EQ(ask({"show", **made + ":aa/one"}), "before");
  EXPECT_EQ(ask({"rev-parse", **made + "^"}), parent_);
}

TEST_F(LooseCommits, LeaveTheRestToGit) {
  for (const FileChange& change :
       {FileChange{.path = "top", .text = "in no folder\n"},
        FileChange{.path = "aa/one", .text = std::nullopt},
        FileChange{.path = "aa/one/deeper", .text = "too deep\n"},
        FileChange{.path = "top/one", .text = "a file is no folder\n"}}) {
    const auto made = write(changing({change}));
    ASSERT_TRUE(made);
    EXPECT_FALSE(made->has_value()) << change.path;
  }
}

TEST_F(LooseCommits, LeaveAFolderAloneThatIsThereAndNotKnown) {
  KnownTrees some = trees();
  some.folders.erase("ab");
  const auto made = write_loose_commit(files_, repo_ + "/.git",
                                       changing({{.path = "ab/new", .text = "new\n"}}), some);
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->has_value());
}

}  // namespace
}  // namespace dibs
