// Worktrees made, found and removed by the real git, and what is kept of them.
#include "git/worktrees.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "git/commits.h"
#include "git/raw_index.h"
#include "git/restore.h"
#include "git/uncommitted.h"
#include "git/worktree_identity.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "sys/tree_removal.h"
#include "testing/fake_clock.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class WorktreesTest : public testing::Test {
 protected:
  WorktreesTest()
      : repo_(temp_ / "repo"), git_(programs_, [] {
          return std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/nonexistent"};
        }) {
    EXPECT_TRUE(make_repository(repo_));
    write_bytes(repo_ + "/file", "as it was\n");
    EXPECT_TRUE(run_git(repo_, {"add", "file"}));
    EXPECT_TRUE(run_git(repo_, {"commit", "-q", "-m", "file"}));
    make_directories(repo_ + "/.git/dibs/locks");
  }

  Surroundings around() {
    return {.files = files_,
            .git = git_,
            .clock = clock_,
            .random = random_,
            .common_dir = repo_ + "/.git",
            .directory = repo_ + "/.git/dibs"};
  }
  Worktrees worktrees() { return Worktrees(around()); }
  Rescue rescue() { return Rescue(around()); }
  std::string head() { return Commits(files_, git_, repo_ + "/.git").resolve("main").value_or(""); }
  Repository add(const std::string& branch) {
    const Result<Repository> made =
        worktrees().add({.path = temp_ / branch, .branch = branch, .base = head()});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made.value_or(Repository{});
  }
  FoundWorktree found(const std::string& path) {
    const Result<FoundWorktree> worktree = worktrees().find(path);
    EXPECT_TRUE(worktree) << path;
    return worktree.value_or(FoundWorktree{});
  }

  TempDirectory temp_;
  std::string repo_;
  PosixFileSystem files_;
  PosixPrograms programs_;
  GitProgram git_;
  FakeClock clock_;
  SeededRandom random_{1};
};

// --- making and finding ---

TEST_F(WorktreesTest, GivesANewOneTheNameItWasPromised) {
  const WorktreeId id = new_worktree_id(random_);
  const Result<Repository> made =
      worktrees().add({.path = temp_ / "a/b/c", .branch = "dibs/42", .base = head(), .id = id});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->root, temp_ / "a/b/c") << "folders above it are made too";
  EXPECT_EQ(current_branch(files_, *made), "dibs/42");
  EXPECT_EQ(worktree_identity(files_, clock_, random_, *made)->id, id);
  EXPECT_EQ(read_bytes(made->root + "/file"), "as it was\n");
}

TEST_F(WorktreesTest, MakesManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(8);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::string name = "wt" + std::to_string(i);
      const auto made = worktrees().add({.path = temp_ / name, .branch = name, .base = head()});
      if (!made) errors[i] = made.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(worktrees().all()->size(), 9U);
}

TEST_F(WorktreesTest, RefusesWhatIsTaken) {
  add("one");
  write_bytes(temp_ / "a-file", "x");
  const std::vector<std::pair<NewWorktree, ErrorKind>> cases{
      {{.path = temp_ / "two", .branch = "one", .base = head()}, ErrorKind::refused},
      {{.path = temp_ / "two", .branch = "one", .base = ""}, ErrorKind::refused},
      {{.path = temp_ / "one", .branch = "two", .base = head()}, ErrorKind::refused},
      {{.path = temp_ / "a-file", .branch = "two", .base = head()}, ErrorKind::refused},
      {{.path = temp_ / "two", .branch = "nowhere", .base = ""}, ErrorKind::not_found},
      {{.path = temp_ / "two", .branch = "a..b", .base = head()}, ErrorKind::usage},
      {{.path = temp_ / "two", .branch = "-b", .base = head()}, ErrorKind::usage}};
  for (const auto& [request, kind] : cases) {
    const Result<Repository> made = worktrees().add(request);
    ASSERT_FALSE(made) << request.branch;
    EXPECT_EQ(made.error().kind, kind) << made.error().message;
    EXPECT_FALSE(files_.status(temp_ / "two")->has_value()) << "nothing is left behind";
  }
}

TEST_F(WorktreesTest, FindsThemByPathAndByBranch) {
  const Repository one = add("one");
  const Repository gone = add("gone");
  ASSERT_TRUE(remove_tree(gone.root));
  EXPECT_TRUE(found(repo_).is_main());
  EXPECT_EQ(found(one.root + "/").repository.git_dir, one.git_dir);
  EXPECT_FALSE(found(one.root).missing);
  EXPECT_TRUE(found(gone.root).missing);
  EXPECT_EQ(worktrees().on_branch("one")->value().repository.root, one.root);
  EXPECT_FALSE(worktrees().on_branch("nowhere")->has_value());
  EXPECT_EQ(worktrees().find(temp_.path()).error().kind, ErrorKind::not_found);
}

// --- what is not committed ---

TEST_F(WorktreesTest, TellsTrackedFromUntrackedChanges) {
  const Repository one = add("one");
  const auto look = [&] { return uncommitted_in(files_, git_, one).value(); };
  EXPECT_FALSE(look().any());
  write_bytes(one.root + "/file", "changed\n");
  write_bytes(one.root + "/b", "");
  write_bytes(one.root + "/a b", "");
  EXPECT_EQ(look().tracked.first, (std::vector<std::string>{"file"}));
  EXPECT_EQ(look().untracked.first, (std::vector<std::string>{"a b", "b"}));
  for (int i = 0; i < 20; ++i) write_bytes(one.root + "/n" + std::to_string(i), "");
  EXPECT_EQ(look().untracked.count, 22U);
  EXPECT_EQ(look().untracked.first.size(), kNamedPathsMax);
}

TEST_F(WorktreesTest, SeesChangesThatGitWasToldToOverlook) {
  const Repository one = add("one");
  for (const char* mark : {"--assume-unchanged", "--skip-worktree"}) {
    ASSERT_TRUE(run_git(one.root, {"update-index", mark, "file"}));
    write_bytes(one.root + "/file", "as it was\n");
    EXPECT_FALSE(uncommitted_in(files_, git_, one)->any()) << mark;
    write_bytes(one.root + "/file", "changed, quietly\n");
    EXPECT_EQ(uncommitted_in(files_, git_, one)->tracked.count, 1U) << mark;
  }
}

TEST_F(WorktreesTest, ReadsAnIndexListing) {
  using namespace std::string_literals;
  const std::vector<IndexEntry> entries =
      parse_index_listing("H 100644 ab 0\ta b\0S 120000 cd 0\tc\nd\0M 100755 ef 2\te\0junk\0"s);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].path, "a b");
  EXPECT_TRUE(entries[1].skipped());
  EXPECT_EQ(entries[1].path, "c\nd");
  EXPECT_EQ(index_line(entries[2], "x/"), "100755 ef 2\tx/e\0"s);
}

// --- as git makes them ---

TEST_F(WorktreesTest, MakesThemAsGitWould) {
  const Repository ours = add("ours");
  ASSERT_TRUE(run_git(repo_, {"worktree", "add", "-q", "-b", "gits", temp_ / "gits"}));
  const std::string git_dir = repo_ + "/.git/worktrees/";
  EXPECT_EQ(ours.git_dir, git_dir + "ours");
  EXPECT_EQ(read_bytes(git_dir + "ours/commondir"), read_bytes(git_dir + "gits/commondir"));
  EXPECT_EQ(read_bytes(git_dir + "ours/gitdir"), ours.root + "/.git\n");
  EXPECT_EQ(read_bytes(git_dir + "ours/HEAD"), "ref: refs/heads/ours\n");
  EXPECT_EQ(read_bytes(ours.root + "/.git"), "gitdir: " + git_dir + "ours\n");
  EXPECT_EQ(read_bytes(ours.root + "/file"), "as it was\n");
  EXPECT_TRUE(run_git(ours.root, {"diff", "--quiet", "HEAD"}));
  EXPECT_TRUE(run_git(ours.root, {"diff", "--quiet", "--cached", "HEAD"}));
  EXPECT_FALSE(found(ours.root).locked);
  EXPECT_FALSE(run_git(ours.root, {"rev-parse", "-q", "--verify", "@{upstream}"}));
  ASSERT_TRUE(run_git(repo_, {"worktree", "prune", "--expire=now"}));
  EXPECT_TRUE(run_git(ours.root, {"status"}));
}

TEST_F(WorktreesTest, LeavesSparseCheckoutsToGit) {
  make_directories(repo_ + "/some");
  write_bytes(repo_ + "/some/thing", "thing\n");
  ASSERT_TRUE(run_git(repo_, {"add", "-A"}));
  ASSERT_TRUE(run_git(repo_, {"commit", "-q", "-m", "thing"}));
  ASSERT_TRUE(run_git(repo_, {"sparse-checkout", "set", "other"}));
  const Repository sparse = add("sparse");
  EXPECT_EQ(read_bytes(sparse.root + "/some/thing"), "");
}

TEST_F(WorktreesTest, LeavesNothingOfOneThatCouldNotBeMade) {
  // A branch cannot be where another is a folder.
  ASSERT_TRUE(run_git(repo_, {"branch", "taken/by"}));
  const Result<Repository> made =
      worktrees().add({.path = temp_ / "none", .branch = "taken", .base = head()});
  EXPECT_FALSE(made);
  EXPECT_EQ(worktrees().all()->size(), 1U);
  EXPECT_FALSE(files_.status(temp_ / "none")->has_value());
}

// --- commits ---

TEST_F(WorktreesTest, ResolvesAndComparesCommits) {
  const Repository one = add("one");
  ASSERT_TRUE(run_git(one.root, {"commit", "-q", "--allow-empty", "-m", "more"}));
  const Commits commits(files_, git_, one.git_dir);
  const std::string tip = commits.resolve("HEAD").value();
  EXPECT_NE(tip, head());
  EXPECT_EQ(commits.resolve("main").value(), head());
  EXPECT_TRUE(commits.is_ancestor(head(), tip).value());
  EXPECT_FALSE(commits.is_ancestor(tip, head()).value());
  EXPECT_EQ(commits.symbolic("HEAD")->value(), "refs/heads/one");
  for (const char* nothing : {"", "nowhere", "--all", "-n"})
    EXPECT_EQ(commits.resolve(nothing).error().kind, ErrorKind::not_found) << nothing;
  EXPECT_TRUE(commits.all_reachable({tip}, {"--glob=refs/*"}).value());
  EXPECT_FALSE(commits.all_reachable({tip}, {"--exclude=refs/heads/one", "--glob=refs/*"}).value());
}

// --- keeping ---

TEST_F(WorktreesTest, KeepsNothingWhenThereIsNothingToLose) {
  const Repository one = add("one");
  ASSERT_TRUE(run_git(one.root, {"commit", "-q", "--allow-empty", "-m", "on a branch"}));
  const auto kept = rescue().snapshot(one, {.label = "one", .why = "test"});
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->has_value());
  EXPECT_TRUE(rescue().list()->empty());
}

TEST_F(WorktreesTest, KeepsCommitsOfABranchThatGoesToo) {
  const Repository one = add("one");
  ASSERT_TRUE(run_git(one.root, {"commit", "-q", "--allow-empty", "-m", "not landed"}));
  const auto kept =
      rescue().snapshot(one, {.label = "one", .why = "test", .going = {"refs/heads/one"}});
  ASSERT_TRUE(kept && kept->has_value());
  EXPECT_EQ((*kept)->note.head, Commits(files_, git_, one.git_dir).resolve("HEAD").value());
}

TEST_F(WorktreesTest, TouchesNeitherFilesNorIndex) {
  const Repository one = add("one");
  write_bytes(one.root + "/file", "changed\n");
  write_bytes(one.root + "/new", "new\n");
  const std::string index = read_bytes(one.git_dir + "/index");
  ASSERT_TRUE(rescue().snapshot(one, {.label = "one", .why = "test"})->has_value());
  EXPECT_EQ(read_bytes(one.git_dir + "/index"), index);
  EXPECT_EQ(read_bytes(one.root + "/file"), "changed\n");
  EXPECT_EQ(files_.list(repo_ + "/.git/dibs")->size(), 1U) << "no scratch files are left";
}

TEST_F(WorktreesTest, ListsFindsAndDropsWhatIsKept) {
  const Repository one = add("one");
  write_bytes(one.root + "/new", "new\n");
  const Rescued first = rescue().snapshot(one, {.label = "a/b", .why = "first"})->value();
  clock_.advance_ms(5000);
  const Rescued second = rescue().snapshot(one, {.label = "a/b", .why = "second"})->value();
  EXPECT_TRUE(first.name.starts_with("a_2fb/")) << first.name;
  const std::vector<Rescued> all = rescue().list().value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, first.name) << "oldest first";
  EXPECT_EQ(all[1].note.why, "second");
  EXPECT_EQ(rescue().find(second.name.substr(second.name.find('/') + 1))->name, second.name);
  ASSERT_TRUE(rescue().drop(first.name));
  EXPECT_EQ(rescue().drop(first.name).error().kind, ErrorKind::not_found);
  EXPECT_EQ(rescue().list()->size(), 1U);
}

TEST_F(WorktreesTest, RemovesAndRestoresByteForByte) {
  write_bytes(repo_ + "/.gitattributes", "* text=auto\n");
  ASSERT_TRUE(run_git(repo_, {"add", ".gitattributes"}));
  ASSERT_TRUE(run_git(repo_, {"commit", "-q", "-m", "attributes"}));
  const Repository one = add("one");
  write_bytes(one.root + "/file", "mixed\r\nends\n");
  Rescue keeper = rescue();
  const Result<RemovedWorktree> removed =
      worktrees().remove(found(one.root), keeper, {.label = "one", .why = "test"});
  ASSERT_TRUE(removed && removed->rescue) << (removed ? "" : removed.error().message);
  EXPECT_FALSE(files_.status(one.root)->has_value());
  Worktrees trees = worktrees();
  const auto restored = restore_worktree(around(), trees, *removed->rescue, temp_ / "back");
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->branch, "one");
  EXPECT_EQ(read_bytes(temp_ / "back/file"), "mixed\r\nends\n");
}

TEST_F(WorktreesTest, RefusesToRemoveTheMainOne) {
  Rescue keeper = rescue();
  const auto removed = worktrees().remove(found(repo_), keeper, {.label = "x", .why = "test"});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().kind, ErrorKind::refused);
}

TEST_F(WorktreesTest, SaysEverythingInTheMessageOfASnapshot) {
  RescueNote note{.label = "42\n", .why = "\x1b[31mred", .agent = "agent:a"};
  note.path = "/a \"b\"";
  note.index = "1";
  note.things = "2";
  note.unix_ms = 1'700'000'000'000;
  note.refs = {{"refs/heads/x", "3"}};
  note.submodules = {{.path = "libs/one", .name = "one", .commit = "4"}};
  const std::optional<RescueNote> read = parse_rescue_message(to_message(note));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_message(*read), to_message(note));
  EXPECT_EQ(to_message(note).find('\x1b'), std::string::npos);
  for (const char* bad : {"", "x", "x\n\n", "x\n\n{}", "x\n\n[1]", "x\n\n{\"at\":\"now\"}"})
    EXPECT_FALSE(parse_rescue_message(bad)) << bad;
}

}  // namespace
}  // namespace dibs
