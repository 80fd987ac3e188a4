// A ref that dibs moves is one that git moved: real git sees it, and respects its lock.
#include "git/ref_file_move.h"

#include <gtest/gtest.h>

#include "git/ref_files.h"
#include "sys/posix_file_system.h"
#include "testing/hooked_files.h"
#include "testing/nth_failure.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class RefFileMoves : public testing::Test {
 protected:
  using Kind = LocalRefs::End::Kind;

  RefFileMoves() {
    EXPECT_TRUE(make_repository(repo_));
    for (const char* name : {"one", "two"}) {
      EXPECT_TRUE(run_git(repo_, {"commit", "-q", "--allow-empty", "-m", name}));
      EXPECT_TRUE(run_git(repo_, {"branch", name}));
    }
    EXPECT_TRUE(run_git(repo_, {"update-ref", "refs/dibs/items", "one"}));
    move_ = {.name = "refs/dibs/items", .from = at("refs/heads/one"), .to = at("refs/heads/two")};
  }

  std::string at(const std::string& ref) {
    return *RefFiles(posix_, repo_ + "/.git").commit_at(ref);
  }
  bool git_says(const std::string& commit) {
    return run_git(repo_, {"update-ref", "refs/dibs/items", commit, commit});
  }
  // Nothing: it was left to git.
  std::optional<Kind> move() {
    const Result<std::optional<LocalRefs::End>> end = move_ref_file(files_, place_, move_);
    EXPECT_TRUE(end) << end.error().message;
    return end && end->has_value() ? std::optional((*end)->kind) : std::nullopt;
  }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixFileSystem posix_;
  HookedFiles files_{posix_};
  RefFilePlace place_{.common_dir = repo_ + "/.git", .prepared = repo_ + "/.git/prepared"};
  std::string lock_ = repo_ + "/.git/refs/dibs/items.lock";
  RefMove move_;
};

TEST_F(RefFileMoves, AreSeenByGit) {
  EXPECT_EQ(move(), Kind::moved);
  EXPECT_TRUE(git_says(move_.to));
  EXPECT_FALSE(is_there(posix_, lock_));
  EXPECT_FALSE(is_there(posix_, place_.prepared));
}

TEST_F(RefFileMoves, AreTurnedDownWhereTheRefIsElsewhere) {
  std::swap(move_.from, move_.to);
  EXPECT_EQ(move(), Kind::turned_down);
  EXPECT_TRUE(git_says(move_.to));
  EXPECT_FALSE(is_there(posix_, lock_));
}

TEST_F(RefFileMoves, StartFromAPackedRefToo) {
  EXPECT_TRUE(run_git(repo_, {"update-ref", "refs/dibs/other", "one"}));
  EXPECT_TRUE(run_git(repo_, {"pack-refs", "--all"}));
  EXPECT_TRUE(run_git(repo_, {"update-ref", "refs/dibs/other", "two"}));
  EXPECT_EQ(move(), Kind::moved);
  EXPECT_TRUE(git_says(move_.to));
}

TEST_F(RefFileMoves, AreLeftToGitWhereTheRefIsLockedOrNew) {
  write_bytes(lock_, "");
  EXPECT_EQ(move(), std::nullopt);
  EXPECT_TRUE(is_there(posix_, lock_)) << "it is another's";
  EXPECT_TRUE(posix_.remove(lock_));
  move_.from.clear();
  EXPECT_EQ(move(), std::nullopt);
  move_.name = "refs/elsewhere/items";
  move_.from = move_.to;
  EXPECT_EQ(move(), std::nullopt) << "there is no such folder";
}

TEST_F(RefFileMoves, HappenOrNotWhateverFails) {
  NthFailure failure;
  files_.before_each([&](const std::string& path) { return failure.next(path); });
  failure.at_every_call([&] {
    EXPECT_TRUE(run_git(repo_, {"update-ref", "refs/dibs/items", move_.from}));
    const Result<std::optional<LocalRefs::End>> end = move_ref_file(files_, place_, move_);
    const bool told = end && end->has_value() && (*end)->kind == Kind::moved;
    const bool unknown = end && end->has_value() && (*end)->kind == Kind::unknown;
    EXPECT_TRUE(unknown || git_says(told ? move_.to : move_.from));
    EXPECT_TRUE(posix_.remove(lock_)) << "whoever cannot remove it leaves it to the next turn";
  });
}

}  // namespace
}  // namespace dibs
