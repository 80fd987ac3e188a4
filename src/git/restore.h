// The way back from a snapshot: a worktree as it was, files byte for byte, index, branch,
// submodules.
#pragma once

#include <string>

#include "base/result.h"
#include "git/rescue.h"
#include "git/surroundings.h"
#include "git/worktrees.h"

namespace dibs {

struct Restored {
  Repository worktree;
  std::string branch;  // empty: HEAD is detached, as it was
};

// The snapshot stays until it is dropped.
[[nodiscard]] Result<Restored> restore_worktree(const Surroundings& around, Worktrees& worktrees,
                                                const Rescued& rescued, const std::string& path);

}  // namespace dibs
