// Files and directories put on disk by several threads at once. A file system with a journal
// commits flushes together that are asked for at the same time, and those that come one after the
// other each for itself: nine fresh files take as long as one, or nine times as long.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dibs {

struct FailedFlush {
  std::string path;
  int error = 0;  // as errno has it
};

// Nothing when all are on disk; one that is not there is passed over. Each is flushed once, also
// when another has failed, and of several failures the first in the list is told. The caller
// flushes the first one and then waits, so that what it does itself is the same each time.
[[nodiscard]] std::optional<FailedFlush> sync_together(const std::vector<std::string>& paths);

}  // namespace dibs
