#include "git/loose_work.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "testing/fake_disk.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class LooseWork : public testing::Test {
 protected:
  LooseWork()
      : git_(programs_, [] {
          return std::vector<std::string>{
              "PATH=/usr/bin:/bin",   "HOME=/none",
              "GIT_AUTHOR_NAME=A",    "GIT_AUTHOR_EMAIL=a@example.com",
              "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com"};
        }) {
    EXPECT_TRUE(make_repository(repo_));
    make_directories(repo_ + "/a/b");
    commit("a/b/one", "1");
  }

  void run(const std::vector<std::string>& words) { EXPECT_TRUE(run_git(repo_, words)); }
  void commit(const std::string& path, const std::string& text) {
    write_bytes(repo_ + "/" + path, text);
    run({"add", "-A"});
    run({"commit", "-q", "--allow-empty", "-m", "change " + path});
  }
  std::vector<std::string> lines_of(std::vector<std::string> words) {
    const Result<std::string> out = git_.output_of(
        {.git_dir = dir_, .arguments = std::move(words), .input = {}}, ErrorKind::internal);
    EXPECT_TRUE(out);
    std::vector<std::string> lines;
    for (const std::string_view line : split(trim(*out), '\n')) lines.emplace_back(line);
    return lines;
  }
  std::string at(const std::string& name) { return lines_of({"rev-parse", name}).front(); }
  std::optional<BroughtWork> loose(const std::string& work,
                                   const std::vector<std::string>& others) {
    return brought_loose(files_, dir_, work, others);
  }
  // On a disk without objects git is asked.
  void expect_as_git_says(const std::string& work, const std::vector<std::string>& others) {
    const Result<BroughtWork> told = brought_by(nowhere_, git_, dir_, work, others);
    const Result<BroughtWork> found = brought_by(files_, git_, dir_, work, others);
    ASSERT_TRUE(told && found && loose(work, others));
    EXPECT_EQ(found->commits, told->commits);
    // git tells a commit's tree even where it is its parent's.
    EXPECT_TRUE(std::ranges::includes(told->objects, found->objects));
    std::vector<std::string> words{"rev-list", "--objects", "--no-object-names", work, "--not"};
    words.insert(words.end(), others.begin(), others.end());
    std::vector<std::string> lacking = lines_of(std::move(words));
    std::erase(lacking, "");
    std::ranges::sort(lacking);
    EXPECT_TRUE(std::ranges::includes(found->objects, lacking));
  }

  TempDirectory temp_;
  std::string repo_ = temp_ / "repo";
  std::string dir_ = repo_ + "/.git";
  PosixPrograms programs_;
  GitProgram git_;
  PosixFileSystem files_;
  FakeClock clock_;
  FakeDisk nowhere_{clock_};
};

TEST_F(LooseWork, IsWhatGitSaysOfAnyHistory) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SeededRandom random(seed);
    run({"checkout", "-q", "-B", "main"});
    std::vector<std::string> branches{"main"};
    for (int step = 0; step < 14; ++step) {
      const std::string& other = branches[random.below(branches.size())];
      if (random.chance(20)) {
        branches.push_back(fmt::format("b{}-{}", seed, step));
        run({"checkout", "-q", "-b", branches.back()});
      } else if (random.chance(30)) {
        run({"merge", "-q", "-X", "ours", "-m", "both", other});
      } else if (random.chance(30)) {
        run({"checkout", "-q", other});
      } else {
        const std::vector<std::string> paths{"a/b/one", "a/two", "a/b/three", "four"};
        commit(paths[random.below(paths.size())], std::to_string(random.below(4)));
      }
    }
    const std::vector<std::string> all = lines_of({"rev-list", "--all"});
    for (int pair = 0; pair < 12; ++pair) {
      std::vector<std::string> others{all[random.below(all.size())]};
      if (random.chance(40)) others.push_back(all[random.below(all.size())]);
      expect_as_git_says(all[random.below(all.size())], others);
    }
  }
}

TEST_F(LooseWork, IsNothingNewOfWhatTheTargetHas) {
  const std::string before = at("main");
  commit("a/two", "2");
  EXPECT_EQ(loose(before, {at("main")})->commits, 0U);
  EXPECT_EQ(loose(at("main"), {at("main")})->commits, 0U);
}

TEST_F(LooseWork, IsLeftToGitWhereSomethingIsPacked) {
  const std::string before = at("main");
  commit("a/two", "2");
  run({"gc", "-q"});
  EXPECT_FALSE(loose(at("main"), {before}));
  commit("a/two", "3");
  EXPECT_FALSE(loose(at("main"), {before})) << "what it stood on is in the pack";
  EXPECT_FALSE(loose("main", {before})) << "a name is no commit";
}

TEST_F(LooseWork, IsLeftToGitWhereHistoryIsLong) {
  const std::string before = at("main");
  std::string tip = before;
  for (int i = 0; i < 260; ++i)
    tip = lines_of({"commit-tree", "-p", tip, "-m", "one more", "main^{tree}"}).front();
  EXPECT_FALSE(loose(tip, {before}));
}

}  // namespace
}  // namespace dibs
