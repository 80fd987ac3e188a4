// Of several landings from one clone, one merges at a time: the others would lose the race for the
// target and merge again. Only that; nothing depends on it.
#pragma once

#include <memory>

#include "sys/file_system.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// Null when it was not to be had in time: whoever has it may be paused, or on a slow remote.
[[nodiscard]] std::unique_ptr<FileLock> landing_turn(Workspace& workspace);

}  // namespace dibs::verbs
