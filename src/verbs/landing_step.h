// The step that counts: the target moves, the items become what landed items are, and the leases go
// back; all of it or nothing. One landing, or several that were merged on top of each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "verbs/landing_merge.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// Work that was merged, and the commit that this made on top of what came before it.
struct Stacked {
  Landable landable;
  std::string commit;
};

struct LandingStep {
  std::string target_at;  // where the target stands now
  std::string commit;     // the first one's; the same, unless others are on top of it
  std::vector<std::string> item_states;  // what each item became; empty: dibs does not know it
};
// `contended` when the target or an item has moved since: merge again. `lease_lost` and the like
// are about the first one; if another has lost its lease, all of it is `contended`, too.
[[nodiscard]] Result<LandingStep> land_step(Workspace& workspace, const MergePlan& plan,
                                            std::span<const Stacked> stack);

[[nodiscard]] bool is_about_the_lease(ErrorKind kind);

}  // namespace dibs::verbs
