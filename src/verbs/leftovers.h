// What killed processes left in and around .git/dibs, whichever store is used: temporary files, and
// the directories that snapshots are taken in. `recover` and `doctor --fix` remove it.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// Only what is older than an hour: what is younger may be under way. How much there was.
[[nodiscard]] Result<std::size_t> remove_leftovers(Workspace& workspace);

}  // namespace dibs::verbs
