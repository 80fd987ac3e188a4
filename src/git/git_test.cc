// Repositories and worktrees of every shape, made by the real git in a temporary directory.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "git/repository.h"
#include "git/worktree_identity.h"
#include "sys/posix_file_system.h"
#include "sys/tree_removal.h"
#include "testing/fake_clock.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class Git : public testing::Test {
 protected:
  Git() : repo_(temp_ / "repo") { EXPECT_TRUE(make_repository(repo_)); }

  Repository at(const std::string& directory) {
    const Result<Repository> found = find_repository(files_, directory);
    EXPECT_TRUE(found) << directory;
    return found.value_or(Repository{});
  }
  std::string add_worktree(const std::string& name) {
    const std::string path = temp_ / name;
    EXPECT_TRUE(run_git(repo_, {"worktree", "add", "-q", "-b", name, path}));
    return path;
  }
  WorktreeIdentity identity(const std::string& directory) {
    const Result<WorktreeIdentity> found =
        worktree_identity(files_, clock_, random_, at(directory));
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found.value_or(WorktreeIdentity{});
  }
  std::optional<WorktreeIdentity> known_identity(const std::string& directory) {
    const auto found = find_worktree_identity(files_, at(directory));
    EXPECT_TRUE(found);
    return found ? *found : std::nullopt;
  }

  TempDirectory temp_;
  std::string repo_;
  PosixFileSystem files_;
  FakeClock clock_;
  SeededRandom random_{1};
};

// --- where we are ---

using FindRepository = Git;

TEST_F(FindRepository, FindsAPlainOneFromAnywhereInIt) {
  make_directories(repo_ + "/a/b");
  for (const std::string& directory : {repo_, repo_ + "/a", repo_ + "/a/b"}) {
    const Repository found = at(directory);
    EXPECT_EQ(found.root, repo_);
    EXPECT_EQ(found.git_dir, repo_ + "/.git");
    EXPECT_EQ(found.common_dir, repo_ + "/.git");
    EXPECT_FALSE(found.bare);
    EXPECT_FALSE(found.is_linked());
  }
}

TEST_F(FindRepository, FindsThatOfALinkedWorktree) {
  const std::string worktree = add_worktree("wt");
  const Repository found = at(worktree);
  EXPECT_EQ(found.root, worktree);
  EXPECT_EQ(found.git_dir, repo_ + "/.git/worktrees/wt");
  EXPECT_EQ(found.common_dir, repo_ + "/.git") << "all worktrees share one store";
  EXPECT_TRUE(found.is_linked());
}

TEST_F(FindRepository, FindsThatOfASubmodule) {
  ASSERT_TRUE(make_repository(temp_ / "library"));
  ASSERT_TRUE(run_git(repo_, {"submodule", "add", "-q", temp_ / "library", "sub"}));
  const Repository found = at(repo_ + "/sub");
  EXPECT_EQ(found.root, repo_ + "/sub");
  EXPECT_EQ(found.common_dir, repo_ + "/.git/modules/sub") << "its own, not its parent's";
}

TEST_F(FindRepository, FindsASeparateGitDirectory) {
  make_directories(temp_ / "work");
  ASSERT_TRUE(
      run_git(temp_ / "work", {"init", "-q", "--separate-git-dir", temp_ / "elsewhere.git"}));
  const Repository found = at(temp_ / "work");
  EXPECT_EQ(found.root, temp_ / "work");
  EXPECT_EQ(found.common_dir, temp_ / "elsewhere.git");
}

TEST_F(FindRepository, FindsABareOneAndTheWorktreesOfIt) {
  ASSERT_TRUE(run_git(temp_.path(), {"clone", "-q", "--bare", repo_, temp_ / "bare.git"}));
  const Repository bare = at(temp_ / "bare.git");
  EXPECT_TRUE(bare.bare);
  EXPECT_EQ(bare.common_dir, temp_ / "bare.git");
  ASSERT_TRUE(run_git(temp_ / "bare.git", {"worktree", "add", "-q", temp_ / "out", "main"}));
  EXPECT_EQ(at(temp_ / "out").common_dir, temp_ / "bare.git");
  EXPECT_FALSE(at(temp_ / "out").bare);
}

TEST_F(FindRepository, SaysWhatToDoOutsideOfOne) {
  make_directories(temp_ / "empty");
  const Result<Repository> found = find_repository(files_, temp_ / "empty");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::not_set_up);
  EXPECT_NE(found.error().hint.find("git init && dibs init"), std::string::npos);
}

TEST_F(FindRepository, IsNotMisledByAFileThatPointsNowhereUseful) {
  make_directories(temp_ / "odd");
  write_bytes(temp_ / "odd/.git", "this is no pointer\n");
  EXPECT_FALSE(find_repository(files_, temp_ / "odd"));
}

TEST_F(FindRepository, FollowsALinkToAGitDirectory) {
  make_directories(temp_ / "linked");
  make_symlink(repo_ + "/.git", temp_ / "linked/.git");
  EXPECT_EQ(at(temp_ / "linked").git_dir, repo_ + "/.git");
}

TEST_F(FindRepository, KnowsTheBranchUnlessHeadIsDetached) {
  EXPECT_EQ(current_branch(files_, at(repo_)), "main");
  EXPECT_EQ(current_branch(files_, at(add_worktree("topic"))), "topic");
  ASSERT_TRUE(run_git(repo_, {"checkout", "-q", "--detach"}));
  EXPECT_EQ(current_branch(files_, at(repo_)), "");
}

TEST_F(FindRepository, ListsAllWorktreesTheMainOneFirst) {
  const std::string one = add_worktree("one");
  const std::string two = add_worktree("two");
  const std::string gone = add_worktree("gone");
  ASSERT_TRUE(remove_tree(gone));
  for (const std::string& from : {repo_, one}) {
    std::vector<std::string> roots;
    const auto worktrees = all_worktrees(files_, at(from)).value();
    for (const Repository& worktree : worktrees) roots.push_back(worktree.root);
    EXPECT_EQ(roots, (std::vector<std::string>{repo_, one, two})) << "seen from " << from;
  }
}

TEST_F(FindRepository, SharesAsTheRepositorySays) {
  EXPECT_EQ(shared_directory_mode(files_, at(repo_)), kPrivateDirectory);
  const std::vector<std::pair<std::string, unsigned>> cases{
      {"group", 02770U}, {"true", 02770U}, {"all", 02775U},  {"world", 02775U},
      {"0640", 02750U},  {"0660", 02770U}, {"umask", 0700U}, {"false", 0700U}};
  for (const auto& [value, mode] : cases) {
    ASSERT_TRUE(run_git(repo_, {"config", "core.sharedRepository", value}));
    EXPECT_EQ(shared_directory_mode(files_, at(repo_)), mode) << value;
  }
}

// --- who a worktree is ---

using Identity = Git;

TEST_F(Identity, IsMadeOnceAndStaysTheSame) {
  EXPECT_FALSE(known_identity(repo_));
  const WorktreeIdentity first = identity(repo_);
  EXPECT_TRUE(first.id.text.starts_with("wt:"));
  EXPECT_EQ(first.id.text.size(), 11U);
  EXPECT_EQ(first.branch, "main");
  EXPECT_EQ(first.root, repo_);
  clock_.advance_ms(1000);
  const WorktreeIdentity again = identity(repo_);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.created_unix_ms, first.created_unix_ms);
  EXPECT_FALSE(again.moved_from);
  EXPECT_EQ(known_identity(repo_)->id, first.id);
}

TEST_F(Identity, IsKeptInThePrivateGitDirectoryAndNeverInTheWorkTree) {
  const std::string worktree = add_worktree("wt");
  identity(worktree);
  EXPECT_NE(read_bytes(repo_ + "/.git/worktrees/wt/dibs/worktree.json"), "");
  EXPECT_EQ(*files_.list(worktree), (std::vector<std::string>{".git"}));
}

TEST_F(Identity, DiffersBetweenWorktrees) {
  std::set<std::string> ids{identity(repo_).id.text};
  for (const char* name : {"one", "two", "three"}) ids.insert(identity(add_worktree(name)).id.text);
  EXPECT_EQ(ids.size(), 4U);
}

TEST_F(Identity, IsMadeAnewWhereAPowerLossLeftAnEmptyOne) {
  const std::string worktree = add_worktree("wt");
  const WorktreeId promised{"wt:00000001"};
  ASSERT_TRUE(put_worktree_identity(files_, clock_, at(worktree), promised));
  EXPECT_EQ(identity(worktree).id, promised);
  write_bytes(repo_ + "/.git/worktrees/wt/dibs/worktree.json", "");
  EXPECT_FALSE(known_identity(worktree));
  const WorktreeIdentity anew = identity(worktree);
  EXPECT_NE(anew.id, promised);
  EXPECT_EQ(identity(worktree).id, anew.id);
}

void expect_moved(const WorktreeIdentity& before, const WorktreeIdentity& after,
                  const std::string& to) {
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.moved_from, before.root);
  EXPECT_EQ(after.root, to);
  EXPECT_TRUE(after.relocated_unix_ms);
}

TEST_F(Identity, IsKeptWhenGitMovesTheWorktree) {
  const std::string worktree = add_worktree("wt");
  const WorktreeIdentity before = identity(worktree);
  ASSERT_TRUE(run_git(repo_, {"worktree", "move", worktree, temp_ / "moved"}));
  expect_moved(before, identity(temp_ / "moved"), temp_ / "moved");
  EXPECT_FALSE(identity(temp_ / "moved").moved_from) << "noted once";
  EXPECT_TRUE(identity(temp_ / "moved").relocated_unix_ms);
}

TEST_F(Identity, IsKeptWhenTheWorktreeIsMovedByHand) {
  const std::string worktree = add_worktree("wt");
  const WorktreeIdentity before = identity(worktree);
  move_tree(worktree, temp_ / "moved");
  EXPECT_EQ(known_identity(temp_ / "moved")->id, before.id) << "also to one who only looks";
  expect_moved(before, identity(temp_ / "moved"), temp_ / "moved");
}

TEST_F(Identity, IsKeptWhenTheWholeRepositoryIsMoved) {
  const WorktreeIdentity before = identity(repo_);
  move_tree(repo_, temp_ / "moved");
  expect_moved(before, identity(temp_ / "moved"), temp_ / "moved");
}

TEST_F(Identity, IsNewInACopyOfTheRepository) {
  const WorktreeIdentity original = identity(repo_);
  copy_tree(repo_, temp_ / "copy");
  EXPECT_FALSE(known_identity(temp_ / "copy"));
  const WorktreeIdentity copy = identity(temp_ / "copy");
  EXPECT_NE(copy.id, original.id);
  EXPECT_EQ(identity(temp_ / "copy").id, copy.id) << "and stays";
  EXPECT_EQ(identity(repo_).id, original.id) << "and the original keeps its own";
}

TEST_F(Identity, IsNewInACopyOfALinkedWorktreeThatSharesItsGitDirectory) {
  const std::string worktree = add_worktree("wt");
  const WorktreeIdentity original = identity(worktree);
  copy_tree(worktree, temp_ / "copy");
  EXPECT_FALSE(known_identity(temp_ / "copy"));
  const WorktreeIdentity copy = identity(temp_ / "copy");
  EXPECT_NE(copy.id, original.id);
  EXPECT_EQ(identity(temp_ / "copy").id, copy.id);
  EXPECT_EQ(known_identity(temp_ / "copy")->id, copy.id);
  EXPECT_EQ(identity(worktree).id, original.id);
  EXPECT_FALSE(identity(worktree).moved_from);
}

TEST_F(Identity, OfTwoFirstCommandsAtOnceIsOne) {
  for (int round = 0; round < 5; ++round) {
    const std::string worktree = add_worktree("wt" + std::to_string(round));
    std::vector<std::string> ids(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      threads.emplace_back([&, i] {
        PosixFileSystem files;
        SeededRandom random(100 + i);
        const Result<Repository> repository = find_repository(files, worktree);
        const Result<WorktreeIdentity> made =
            worktree_identity(files, clock_, random, repository.value());
        ids[i] = made ? made->id.text : made.error().message;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::ranges::count(ids, ids[0]), 4);
    EXPECT_TRUE(ids[0].starts_with("wt:")) << ids[0];
  }
}

TEST_F(Identity, ThatCannotBeReadSaysHowToMendIt) {
  identity(repo_);
  for (const char* bad : {"{", "{}", R"({"worktree_id":"x","root":"/","created_at":"now"})"}) {
    write_bytes(repo_ + "/.git/dibs/worktree.json", bad);
    const auto broken = worktree_identity(files_, clock_, random_, at(repo_));
    ASSERT_FALSE(broken) << bad;
    EXPECT_NE(broken.error().hint.find("rm '"), std::string::npos);
  }
}

TEST_F(Identity, WritesNothingWhenNothingIsNew) {
  identity(repo_);
  const std::string path = repo_ + "/.git/dibs/worktree.json";
  const auto before = files_.status(path)->value().inode;
  clock_.advance_ms(5000);
  identity(repo_);
  EXPECT_EQ(files_.status(path)->value().inode, before);
}

}  // namespace
}  // namespace dibs
