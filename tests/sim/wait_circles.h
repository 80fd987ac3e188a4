// Whether a session that has begun to wait waits for itself in the end. Another way to tell than
// rules/deadlock.h: a walk from one session, over what could be known when it began.
#pragma once

#include <functional>
#include <optional>

#include "chronicle.h"

namespace dibs::sim {

struct WaitSight {
  const State& then;             // as it was looked at
  const State& now;              // as it became
  std::optional<WaitId> joined;  // whose place came since
  std::function<bool(const Waiter&)> waits;
  std::function<bool(const Lease&)> counts;
};

[[nodiscard]] bool waits_in_a_circle(const WaitSight& sight, const SessionId& session);

}  // namespace dibs::sim
