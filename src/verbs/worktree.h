// The verbs on worktrees: made for an item or a branch, removed without losing work, and what was
// kept of them brought back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/rescue.h"
#include "git/worktree_identity.h"
#include "model/record.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct WorktreeInfo {
  std::optional<WorktreeIdentity> identity;  // none: no dibs command has run there yet
  std::string root;
  std::string branch;
  bool current = false;
  bool main = false;
  std::vector<Key> held;  // what its leases are on
};
[[nodiscard]] Result<WorktreeInfo> worktree_info(Workspace& workspace);
[[nodiscard]] Result<std::vector<WorktreeInfo>> worktree_list(Workspace& workspace);
[[nodiscard]] Result<WorktreeInfo> worktree_init(Workspace& workspace);

struct WorktreeAdd {
  std::optional<std::string> item;    // gets the branch dibs/ITEM
  std::optional<std::string> branch;  // an existing one, or a new one from the target
  std::optional<std::string> path;
};
struct WorktreeAdded {
  WorktreeIdentity identity;
  std::string path;
  std::string branch;
  std::string commit;  // that it is at
  std::string base;    // the target branch it started from; empty: the branch was there
};
// Takes no lease.
[[nodiscard]] Result<WorktreeAdded> worktree_add(Workspace& workspace, const WorktreeAdd& request);

struct WorktreeRemoved {
  std::string path;
  std::string branch;  // still there; empty when HEAD was detached
  std::optional<Rescued> rescue;
};
// Keeps what would be lost first. Refused while a lease lives there.
[[nodiscard]] Result<WorktreeRemoved> worktree_remove(Workspace& workspace,
                                                      const std::string& path);
// The refusal, for whoever is about to remove it in another way.
[[nodiscard]] Done check_no_lease_in(Workspace& workspace, const Repository& worktree);

[[nodiscard]] Result<std::vector<Rescued>> rescue_list(Workspace& workspace);

struct RescueRestored {
  Rescued rescued;
  std::string path;
  std::string branch;
};
// Without a path: where it was.
[[nodiscard]] Result<RescueRestored> rescue_restore(Workspace& workspace, const std::string& name,
                                                    const std::optional<std::string>& path);
[[nodiscard]] Result<Rescued> rescue_drop(Workspace& workspace, const std::string& name);

}  // namespace dibs::verbs
