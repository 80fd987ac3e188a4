// Moving refs of a repository that its user works in, with real git.
#include "git/local_refs.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

/// Real programs, and a word of the test's on whether all others have ended.
class Outlasting final : public Programs {
 public:
  Result<ProgramEnd> run(const ProgramCall& call) override { return programs_.run(call); }
  bool outlast(std::string_view name) override {
    if (meanwhile) meanwhile();
    return name == "git" && all_ended;
  }

  bool all_ended = false;
  std::function<void()> meanwhile;

 private:
  PosixPrograms programs_;
};

class MovedRefs : public testing::Test {
 protected:
  MovedRefs() : repo_(temp_ / "repo") {
    EXPECT_TRUE(make_repository(repo_));
    EXPECT_TRUE(files_.make_directory(repo_ + "/.git/dibs", kPrivateDirectory));
    EXPECT_TRUE(run_git(repo_, {"commit", "-q", "--allow-empty", "-m", "one"}));
    EXPECT_TRUE(run_git(repo_, {"branch", "old"}));
    EXPECT_TRUE(run_git(repo_, {"commit", "-q", "--allow-empty", "-m", "two"}));
    EXPECT_TRUE(run_git(repo_, {"branch", "new"}));
    EXPECT_TRUE(run_git(repo_, {"reset", "-q", "--soft", "old"}));
    move_ = {.name = "refs/heads/main", .from = at("old"), .to = at("new")};
  }

  std::string at(const std::string& branch) { return *refs_.commit_at("refs/heads/" + branch); }
  std::string lock() { return repo_ + "/.git/refs/heads/main.lock"; }
  bool is_locked() { return files_.status(lock())->has_value(); }
  LocalRefs::End::Kind move() {
    const Result<LocalRefs::End> end = refs_.move({move_}, "dibs: land");
    return end ? end->kind : LocalRefs::End::Kind::unknown;
  }

  TempDirectory temp_;
  std::string repo_;
  Outlasting programs_;
  PosixFileSystem files_;
  GitProgram git_{programs_, [] {
                    return std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/nonexistent",
                                                    "GIT_COMMITTER_NAME=C",
                                                    "GIT_COMMITTER_EMAIL=c@example.com"};
                  }};
  GitLocalRefs refs_{files_, git_, repo_ + "/.git", {.directory = repo_ + "/.git/dibs/own.git"}};
  RefMove move_;
};

TEST_F(MovedRefs, MoveTheBranchThatTheUserIsOnWithoutLockingHead) {
  write_bytes(repo_ + "/.git/HEAD.lock", "");
  EXPECT_EQ(move(), LocalRefs::End::Kind::moved);
  EXPECT_EQ(at("main"), move_.to);
}

TEST_F(MovedRefs, AreWrittenIntoTheBranchsLog) {
  EXPECT_EQ(move(), LocalRefs::End::Kind::moved);
  const auto log = files_.read_file(repo_ + "/.git/logs/refs/heads/main", 64UL * 1024);
  ASSERT_TRUE(log && log->has_value());
  EXPECT_TRUE(contains(**log, "dibs: land"));
}

TEST_F(MovedRefs, ALockWithTheValueOfTheMoveIsCleared) {
  for (const char* end : {"", "\n"}) {
    write_bytes(lock(), move_.to + end);
    EXPECT_TRUE(refs_.clear_lock(move_));
    EXPECT_FALSE(is_locked());
  }
  EXPECT_EQ(move(), LocalRefs::End::Kind::moved);
}

TEST_F(MovedRefs, ALockThatMayBeAnothersStaysAndIsNamed) {
  for (const std::string& text : {std::string(), move_.from + "\n"}) {
    write_bytes(lock(), text);
    EXPECT_TRUE(refs_.clear_lock(move_));
    EXPECT_TRUE(is_locked());
    const Result<LocalRefs::End> end = refs_.move({move_}, "dibs: land");
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().kind, ErrorKind::contended);
    EXPECT_TRUE(contains(end.error().hint, "rm ")) << end.error().hint;
  }
}

TEST_F(MovedRefs, AnEmptyLockThatOutlastsEveryGitIsCleared) {
  write_bytes(lock(), "");
  programs_.all_ended = true;
  EXPECT_TRUE(refs_.clear_lock(move_));
  EXPECT_FALSE(is_locked());
  EXPECT_EQ(move(), LocalRefs::End::Kind::moved);
}

TEST_F(MovedRefs, AnEmptyLockThatIsNotTheSameAnyMoreStays) {
  write_bytes(lock(), "");
  programs_.all_ended = true;
  programs_.meanwhile = [&] { write_bytes(lock(), move_.from); };
  EXPECT_TRUE(refs_.clear_lock(move_));
  EXPECT_TRUE(is_locked());
}

}  // namespace
}  // namespace dibs
