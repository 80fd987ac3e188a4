// Who will be in whose way: the branches that items are being worked on, and the target, held
// against each other before anybody lands. Only what is committed is seen, and only worktrees of
// this clone.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/tip_merges.h"
#include "model/agent.h"
#include "model/record.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct LiveBranch {
  std::string branch;  // empty: HEAD is detached
  std::string commit;
  std::vector<Key> items;  // held from its worktree; none: it is the target
  std::string path;        // of the worktree; empty: it is the target
  AgentId agent;
};

struct Conflicts {
  std::vector<LiveBranch> branches;   // the target is the last
  std::vector<Collision> collisions;  // pairs are numbers of branches
  std::vector<Key> elsewhere;         // items that are held from no worktree of this clone
  std::size_t pairs = 0;
  std::size_t known = 0;   // pairs that had been compared before
  std::size_t merged = 0;  // pairs that git was asked about
};
[[nodiscard]] Result<Conflicts> conflicts(Workspace& workspace);

}  // namespace dibs::verbs
