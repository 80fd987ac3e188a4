// Looking at who waits: the lines for resources, and who waits for whom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/deadlock.h"
#include "verbs/claim.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Queued {
  Waiter waiter;
  std::optional<std::int64_t> eta_ms;  // none: nobody has held it before, so who knows
};
struct Queue {
  Key resource;
  std::vector<ListedLease> holders;
  std::vector<Queued> waiters;  // the next one first
};
// The line for a resource, which may be empty; without one, every line that somebody stands in.
[[nodiscard]] Result<std::vector<Queue>> queues(Workspace& workspace,
                                                const std::optional<std::string>& resource);

struct WaitsFound {
  std::vector<Wait> waits;
  std::vector<Deadlock> deadlocks;
};
[[nodiscard]] Result<WaitsFound> find_deadlocks(Workspace& workspace);

}  // namespace dibs::verbs
