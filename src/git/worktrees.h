// The linked worktrees of one repository: made many at once without a failure, and never removed
// before what would be lost is kept.
//
//   Worktrees worktrees(around);
//   Result<Repository> made = worktrees.add({.path = path, .branch = "dibs/42", .base = commit});
//   …
//   Result<FoundWorktree> found = worktrees.find(path);
//   Result<RemovedWorktree> gone = worktrees.remove(*found, rescue, {.label = "42", .why =
//   "done"});
//
// git's own `worktree add` fails when several run at once, because each writes the shared
// configuration; here they take turns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "git/repository.h"
#include "git/rescue.h"
#include "git/surroundings.h"

namespace dibs {

struct NewWorktree {
  enum class Files { checked_out, none };

  std::string path;    // absolute; nothing may be there, or an empty directory
  std::string branch;  // empty: HEAD is detached at `base`
  std::string base;    // the commit that a new branch starts from; empty: the branch exists
  std::optional<WorktreeId> id = std::nullopt;  // the name it was promised
  Files files = Files::checked_out;
};

struct FoundWorktree {
  Repository repository;
  bool missing = false;               // its directory is gone, git still knows it
  std::optional<std::string> locked;  // why, when somebody locked it

  [[nodiscard]] bool is_main() const { return !repository.is_linked(); }
};

struct RemovedWorktree {
  std::string branch;             // still there; empty when HEAD was detached
  std::optional<Rescued> rescue;  // none: there was nothing to lose
};

class Worktrees {
 public:
  explicit Worktrees(Surroundings around) : around_(std::move(around)) {}

  // Refused when something is at the path, or the branch is taken. Leaves nothing behind on
  // failure.
  [[nodiscard]] Result<Repository> add(const NewWorktree& request);
  // Keeps what would be lost, then removes it. Refuses the main worktree, a locked one, and one
  // with another repository or worktree inside.
  [[nodiscard]] Result<RemovedWorktree> remove(const FoundWorktree& worktree, Rescue& rescue,
                                               const KeepRequest& keep);

  // What git knows of one whose directory is gone.
  [[nodiscard]] Done forget(const FoundWorktree& missing);

  // All that git knows, also those whose directory is gone.
  [[nodiscard]] Result<std::vector<FoundWorktree>> all();
  // The worktree whose root is `path`; `not_found` when none is.
  [[nodiscard]] Result<FoundWorktree> find(const std::string& path);
  // The one that has this branch checked out.
  [[nodiscard]] Result<std::optional<FoundWorktree>> on_branch(const std::string& branch);

 private:
  [[nodiscard]] Done check_branch(const NewWorktree& request);
  [[nodiscard]] Done check_removable(const FoundWorktree& worktree);
  [[nodiscard]] Done make_parents(const std::string& path);
  [[nodiscard]] Done take_away(const Repository& repository);
  [[nodiscard]] bool move_away(const Repository& repository);

  Surroundings around_;
};

}  // namespace dibs
