// Where an item is worked on: a worktree of this repository, the agent in it, and the lease that
// the work is done under. What `done` and `abandon` start from.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "git/worktrees.h"
#include "model/resource.h"
#include "rules/claim.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct WorkSite {
  Resource item;
  FoundWorktree worktree;         // missing: it landed, and nothing is left of it here
  std::string branch;             // empty: HEAD is detached
  Claimant who;                   // the caller, as it acts in that worktree
  std::optional<Lease> lease;     // none: it has ended
  std::optional<PastEvent> last;  // what was last written down about it and this session
};

// By the item, or else what is held from the worktree we are in. A lease that has ended is found by
// its history: whoever lost one has to be told that, and not that there is none, and whoever landed
// may ask again, from wherever it did before.
[[nodiscard]] Result<WorkSite> find_work_site(Workspace& workspace,
                                              const std::optional<std::string>& item);

// An item and nothing else that can be held.
[[nodiscard]] Result<Resource> parse_item(const std::string& text);

// Worktrees by their name; nothing when it is not one of this repository.
[[nodiscard]] Result<std::optional<FoundWorktree>> worktree_called(Workspace& workspace,
                                                                   const WorktreeId& id);

}  // namespace dibs::verbs
