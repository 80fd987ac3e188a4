// Where work starts from and lands: the target branch, and the folder that worktrees are made in.
// `worktree add`, `start` and `done` must agree on both.
#pragma once

#include <string>

#include "base/result.h"
#include "git/surroundings.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Target {
  std::string branch;  // "main"
  std::string commit;  // where it is now
  std::string remote;  // that it was read from; empty: the local branch
};

// The branch that the settings name (landing.target), else the one the remote calls its own, else
// main, master or the current one. With a store on a git remote it is fetched first, so that
// nothing starts from a stale copy; otherwise the local branch counts.
[[nodiscard]] Result<Target> find_target(Workspace& workspace);

// The same as it was seen last, without asking the remote; fetched only where it was never seen.
[[nodiscard]] Result<Target> known_target(Workspace& workspace);

// Where a worktree of that name goes when nobody says where: worktree.directory, or the folder
// REPOSITORY.worktrees beside the repository.
[[nodiscard]] Result<std::string> default_worktree_path(Workspace& workspace,
                                                        const std::string& name);

// Where the branch of a claimed item begins, after it was claimed: on the remote's branch for the
// claim if there is one, else at the target.
[[nodiscard]] Result<std::string> work_base(Workspace& workspace, const Target& target,
                                            const std::string& claim_state,
                                            const std::string& item);

// What worktrees and rescues of this workspace are made with.
[[nodiscard]] Result<Surroundings> surroundings(Workspace& workspace);

}  // namespace dibs::verbs
