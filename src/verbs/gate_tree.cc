#include "verbs/gate_tree.h"

#include <fmt/core.h>

#include <array>

#include "base/sha.h"
#include "base/text.h"
#include "git/worktrees.h"
#include "verbs/target.h"

namespace dibs::verbs {

namespace {

constexpr int kTreesMax = 16;
constexpr std::size_t kMarkSize = 8;

/// A place that is ours while we have its lock.
struct Place {
  std::string path;
  std::unique_ptr<FileLock> lock;
};

// The first that nobody uses; if all are in use, the first that comes free is waited for.
Result<Place> free_place(Workspace& workspace, const std::string& directory) {
  for (int n = 1; n <= kTreesMax; ++n) {
    const std::string name = fmt::format("gate-{}", n);
    Result<std::unique_ptr<FileLock>> lock = workspace.system().files.lock(
        fmt::format("{}/locks/{}.lock", directory, name),
        n == kTreesMax ? Patience::wait_long : Patience::at_once, workspace.file_mode());
    if (!lock) return fail(lock.error());
    if (!*lock) continue;
    // With the repository's mark: several may have their worktrees in one folder.
    const std::string mark = sha256_hex(directory).substr(0, kMarkSize);
    Result<std::string> path = default_worktree_path(workspace, fmt::format("{}-{}", name, mark));
    if (!path) return fail(path.error());
    return Place{.path = *std::move(path), .lock = *std::move(lock)};
  }
  return fail(ErrorKind::internal, "no place to run gates in");
}

bool is_worktree(const Surroundings& around, const std::string& path) {
  const Result<std::optional<FileStatus>> there = around.files.status(path + "/.git");
  return there && there->has_value();
}

}  // namespace

Done discard_worktree(const Surroundings& around, const std::string& path) {
  if (!is_worktree(around, path)) return {};
  const auto turn = lock_worktrees(around);
  if (!turn) return fail(turn.error());
  // Twice forced: git locks a worktree while it makes it, and leaves it so when it is killed.
  const Result<ProgramEnd> end =
      around.git.run({.git_dir = around.common_dir,
                      .arguments = {"worktree", "remove", "--force", "--force", path},
                      .input = {},
                      .most_ms = kWholeTreeMs});
  if (!end) return fail(end.error());
  if (end->succeeded()) return {};
  return fail(ErrorKind::internal,
              fmt::format("git cannot remove {}: {}", printable(path), complaint_of(*end)),
              fmt::format("remove it yourself: git worktree remove -f -f {}", shell_word(path)));
}

Result<GateTree> GateTree::at(Workspace& workspace, const std::string& commit) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  Result<Place> place = free_place(workspace, around->directory);
  if (!place) return fail(place.error());
  const bool kept = (*settings)->text("gates.tree") == "kept";
  GateTree tree(*around, std::move(place->path), std::move(place->lock),
                kept ? Afterwards::keep : Afterwards::remove);
  if (Done ready = tree.check_out(commit); !ready) return fail(ready.error());
  return tree;
}

// One that is there is ours: kept on purpose, or left by a dibs that was killed.
Done GateTree::check_out(const std::string& commit) {
  if (afterwards_ == Afterwards::remove) {
    if (Done gone = discard_worktree(around_, path_); !gone) return gone;
  }
  if (!is_worktree(around_, path_)) {
    const Result<Repository> made =
        Worktrees(around_).add({.path = path_, .branch = {}, .base = commit});
    return made ? Done{} : Done(fail(made.error()));
  }
  const Result<Repository> there = find_repository(around_.files, path_);
  if (!there) return fail(there.error());
  using Words = std::vector<std::string>;
  for (const Words& words : std::array<Words, 2>{
           {{"checkout", "-q", "--force", "--detach", commit}, {"clean", "-q", "-f", "-d"}}}) {
    const Result<std::string> done =
        around_.git.output_of(whole_tree_call(*there, words), ErrorKind::internal);
    if (!done) return fail(done.error());
  }
  return {};
}

// What cannot be removed now is removed before the next gate.
GateTree::~GateTree() {
  if (lock_ && afterwards_ == Afterwards::remove) (void)discard_worktree(around_, path_);
}

}  // namespace dibs::verbs
