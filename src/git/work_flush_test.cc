#include "git/work_flush.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "sys/programs.h"
#include "testing/fake_disk.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

/// A real repository, and a disk on which its loose objects are written but not flushed.
class WorkFlush : public testing::Test {
 protected:
  WorkFlush()
      : git_(programs_,
             [] { return std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/none"}; }) {
    EXPECT_TRUE(make_repository(repo_));
    make_directories(repo_ + "/a/b");
    commit("a/b/one", "1");
    run({"checkout", "-q", "-b", "work"});
  }

  void run(const std::vector<std::string>& words) { EXPECT_TRUE(run_git(repo_, words)); }
  void commit(const std::string& path, const std::string& text) {
    write_bytes(repo_ + "/" + path, text);
    run({"add", "-A"});
    run({"commit", "-q", "-m", "change " + path});
  }
  std::set<std::string> objects(const std::vector<std::string>& which) {
    std::vector<std::string> words{"rev-list", "--objects", "--no-object-names"};
    words.insert(words.end(), which.begin(), which.end());
    const Result<std::string> out = git_.output_of(
        {.git_dir = repo_ + "/.git", .arguments = words, .input = {}}, ErrorKind::internal);
    EXPECT_TRUE(out);
    std::set<std::string> names;
    for (const std::string_view line : split(*out, '\n')) names.emplace(line);
    names.erase("");
    return names;
  }
  std::string path_of(const std::string& name) {
    return repo_ + "/.git/objects/" + name.substr(0, 2) + "/" + name.substr(2);
  }
  void write_unflushed(const std::set<std::string>& names) {
    for (const std::string& name : names) {
      disk_.make_durable_directory(repo_ + "/.git/objects/" + name.substr(0, 2));
      disk_.put(path_of(name), "");
      EXPECT_TRUE((*disk_.open(path_of(name), Open::append, kPrivateFile))->append("all of it"));
    }
  }
  Done flush() {
    const Result<BroughtWork> brought = brought_by(disk_, git_, repo_ + "/.git", "work", {"main"});
    EXPECT_TRUE(brought);
    return flush_objects(disk_, repo_ + "/.git", brought->objects);
  }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  PosixPrograms programs_;
  GitProgram git_;
  FakeClock clock_;
  FakeDisk disk_{clock_};
};

TEST_F(WorkFlush, PutsOnDiskWhatTheBranchBroughtAndNothingElse) {
  commit("a/b/one", "2");
  commit("a/two \"quoted\"\t", "2");
  run({"checkout", "-q", "main"});
  commit("a/three", "3");
  run({"checkout", "-q", "work"});
  run({"merge", "-q", "-m", "both", "main"});
  commit("a/b/one", "4");
  const std::set<std::string> brought = objects({"work", "^main"});
  ASSERT_GT(brought.size(), 10U);
  write_unflushed(objects({"--all"}));
  const std::uint64_t before = disk_.changes();
  ASSERT_TRUE(flush());
  EXPECT_EQ(disk_.changes() - before, brought.size());
  disk_.crash();
  for (const std::string& name : brought) EXPECT_EQ(disk_.contents(path_of(name)), "all of it");
}

TEST_F(WorkFlush, CountsTheCommitsThatTheTargetLacks) {
  EXPECT_EQ(brought_by(disk_, git_, repo_ + "/.git", "work", {"main"})->commits, 0U);
  commit("a/b/one", "2");
  run({"commit", "-q", "--allow-empty", "-m", "nothing"});
  EXPECT_EQ(brought_by(disk_, git_, repo_ + "/.git", "work", {"main"})->commits, 2U);
}

TEST_F(WorkFlush, PassesOverWhatIsInAPack) {
  commit("a/b/one", "2");
  EXPECT_TRUE(flush());
}

TEST_F(WorkFlush, SaysThatTheDiskRefused) {
  commit("a/b/one", "2");
  write_unflushed(objects({"work"}));
  disk_.fail_at(1);
  EXPECT_FALSE(flush());
}

}  // namespace
}  // namespace dibs
