// A linked worktree made with one git process: `git worktree add` starts three more of its own, and
// that is most of what starting an item costs. The files that say where it is are written here
// (gitrepository-layout describes them), and one `git checkout` makes branch, index and files.
#pragma once

#include <optional>

#include "base/result.h"
#include "git/surroundings.h"
#include "git/worktrees.h"

namespace dibs {

// What a dibs that was killed left of a worktree at that path is removed, or unlocked if it is
// whole. Nobody was told of it.
[[nodiscard]] Done clear_half_made(const Surroundings& around, const NewWorktree& request);

// How the checkout ended; whatever it left is removed when it failed. Nothing where git should do
// all of it: worktrees with settings of their own, sparse ones, repositories that a group shares.
// Called under the lock of additions, for a path where nothing is; git goes on holding that lock if
// we are killed.
[[nodiscard]] Result<std::optional<ProgramEnd>> make_worktree(const Surroundings& around,
                                                              const NewWorktree& request,
                                                              const FileLock& turn);

}  // namespace dibs
