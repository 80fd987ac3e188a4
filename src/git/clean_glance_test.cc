// Where a glance says that a work tree is clean, `git status` says so, too.
#include "git/clean_glance.h"

#include <gtest/gtest.h>

#include <functional>

#include "git/git_program.h"
#include "git/index_file.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class CleanGlance : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        run_program({"git", "init", "-q", "--object-format=" + GetParam(), "-b", "main", repo_}));
    make_directories(repo_ + "/src/deep/er");
    for (const char* path : {"a", "a.c", "a0", "src/a", "src/deep/er/b", "src/deep.txt"})
      write_bytes(repo_ + "/" + path, std::string("text of ") + path);
    make_symlink("a", repo_ + "/link");
    ASSERT_TRUE(run_program({"touch", "-h", "-d", "2026-01-01", repo_ + "/link"}));
    write_bytes(repo_ + "/.gitignore", "*.o\n");
    commit();
  }

  void git(const std::vector<std::string>& words) { ASSERT_TRUE(run_git(repo_, words)); }
  void commit() {
    git({"add", "-A"});
    git({"commit", "-q", "-m", "files"});
  }
  bool is_clean() { return is_plainly_clean(files_, worktree()); }
  Repository worktree() const {
    return {
        .git_dir = repo_ + "/.git", .common_dir = repo_ + "/.git", .root = repo_, .bare = false};
  }
  bool git_says_clean() {
    const Result<std::string> status =
        git_.output_of({.git_dir = worktree().git_dir,
                        .arguments = {"status", "--porcelain", "--untracked-files=all"},
                        .input = {},
                        .work_tree = repo_},
                       ErrorKind::internal);
    return status && status->empty();
  }
  // As if a file had been written again in the moment in which git saw it.
  void forge_times_in_index(const std::string& path) {
    const FileStatus status = **files_.status(repo_ + "/" + path);
    std::string bytes = read_bytes(repo_ + "/.git/index");
    const std::size_t object_bytes = GetParam() == "sha1" ? 20 : 32;
    const std::size_t entry = bytes.find(path + '\0') - 40 - object_bytes - 2;
    const auto put = [&](std::size_t at, std::int64_t value) {
      for (std::size_t i = 4; i-- > 0; value >>= 8)
        bytes[entry + at + i] = static_cast<char>(value);
    };
    constexpr std::int64_t kSecond = 1'000'000'000;
    put(0, status.changed_unix_ns / kSecond);
    put(4, status.changed_unix_ns % kSecond);
    put(8, status.modified_unix_ns / kSecond);
    put(12, status.modified_unix_ns % kSecond);
    write_bytes(repo_ + "/.git/index", bytes);
  }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixFileSystem files_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return std::vector<std::string>{"PATH=/usr/bin:/bin"}; }};
};

TEST_P(CleanGlance, SeesThatEverythingIsCommitted) {
  EXPECT_TRUE(is_clean());
  git({"worktree", "add", "-q", "-b", "other", temp_ / "linked"});
  const Repository linked{.git_dir = repo_ + "/.git/worktrees/linked",
                          .common_dir = repo_ + "/.git",
                          .root = temp_ / "linked",
                          .bare = false};
  ASSERT_TRUE(run_git(linked.root, {"rm", "-q", "link"}));  // which is as new as the index
  ASSERT_TRUE(run_git(linked.root, {"commit", "-q", "-m", "no link"}));
  EXPECT_TRUE(is_plainly_clean(files_, linked));
  write_bytes(linked.root + "/new", "");
  EXPECT_FALSE(is_plainly_clean(files_, linked));
}

TEST_P(CleanGlance, SeesEveryChange) {
  const std::vector<std::pair<std::string, std::function<void()>>> changes{
      {"contents", [&] { write_bytes(repo_ + "/src/a", "text of src/b"); }},
      {"size", [&] { write_bytes(repo_ + "/a", ""); }},
      {"mode", [&] { ASSERT_TRUE(files_.change_mode(repo_ + "/a", 0755)); }},
      {"gone", [&] { move_tree(repo_ + "/a", temp_ / "gone"); }},
      {"link", [&] { ASSERT_TRUE(run_program({"ln", "-sfn", "b", repo_ + "/link"})); }},
      {"new", [&] { write_bytes(repo_ + "/src/deep/er/new", ""); }},
      {"ignored", [&] { write_bytes(repo_ + "/src/x.o", ""); }},
      {"empty folder", [&] { make_directories(repo_ + "/folder"); }},
      {"staged",
       [&] {
         write_bytes(repo_ + "/a", "b");
         git({"add", "-A"});
       }},
      {"staged and undone", [&] { git({"rm", "-q", "--cached", "a"}); }},
      {"meant to be added",
       [&] {
         write_bytes(repo_ + "/b", "");
         git({"add", "-N", "b"});
       }},
      {"assumed unchanged", [&] { git({"update-index", "--assume-unchanged", "a"}); }},
      {"not in the work tree", [&] { git({"update-index", "--skip-worktree", "a"}); }},
      {"another commit",
       [&] {
         write_bytes(repo_ + "/b", "");
         commit();
         git({"reset", "-q", "--soft", "HEAD^"});
       }},
      {"a link in place of a folder",
       [&] {
         move_tree(repo_ + "/src/deep", temp_ / "deep");
         make_symlink(temp_ / "deep", repo_ + "/src/deep");
       }},
      {"packed", [&] { git({"gc", "-q"}); }},
      {"no index", [&] { ASSERT_TRUE(files_.remove(repo_ + "/.git/index")); }},
  };
  const std::string kept = temp_ / "kept";
  ASSERT_TRUE(run_program({"cp", "-a", repo_, kept}));
  for (const auto& [what, change] : changes) {
    ASSERT_TRUE(run_program({"rm", "-rf", repo_}));
    ASSERT_TRUE(run_program({"cp", "-a", kept, repo_}));
    git({"status"});  // the copies have other inodes
    ASSERT_TRUE(is_clean()) << what;
    change();
    EXPECT_FALSE(is_clean()) << what;
  }
}

TEST_P(CleanGlance, ComparesWhatWasWrittenInTheSecondOfTheIndex) {
  write_bytes(repo_ + "/a.c", "text of a.d");
  ASSERT_FALSE(is_clean());
  forge_times_in_index("a.c");
  EXPECT_FALSE(is_clean());
  write_bytes(repo_ + "/a.c", "text of a.c");
  forge_times_in_index("a.c");
  EXPECT_TRUE(is_clean());
}

TEST_P(CleanGlance, SaysNothingThatGitWouldNotSay) {
  SeededRandom random(7);
  const auto below = [&](std::uint64_t n) { return random.below(n); };
  const std::vector<std::string> paths{"a", "src/a", "src/deep/er/b", "src/new", "x.o", "b/c"};
  int clean = 0;
  for (int step = 0; step < 150; ++step) {
    const std::string& path = paths[below(6)];
    switch (below(8)) {
      case 0:
        make_directories(repo_ + "/b");
        write_bytes(repo_ + "/" + path, std::string(1, static_cast<char>('p' + below(2))));
        break;
      case 1:
        (void)files_.remove(repo_ + "/" + path);
        break;
      case 2:
        (void)run_git(repo_, {"checkout", "-q", "--force", "HEAD"});
        break;
      case 3:
        (void)run_git(repo_, {"clean", "-qfdx"});
        break;
      case 4:
        (void)run_git(repo_, {"add", "-A"});
        break;
      case 5:
        (void)run_git(repo_, {"reset", "-q", "--soft", "main~0"});
        break;
      default:
        (void)run_git(repo_, {"add", "-A"});
        (void)run_git(repo_, {"commit", "-q", "-m", "step"});
    }
    const bool seen = is_clean();
    clean += seen ? 1 : 0;
    EXPECT_TRUE(!seen || git_says_clean()) << step;
  }
  EXPECT_GT(clean, 10) << "it proves nothing";
}

INSTANTIATE_TEST_SUITE_P(Formats, CleanGlance, testing::Values("sha1", "sha256"));

}  // namespace
}  // namespace dibs
