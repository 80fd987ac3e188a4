// Looking at what happened: history, the stream of events, and the numbers.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "sys/counters.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Events {
  std::uint64_t since = 0;
  std::optional<std::string> resource;
  std::size_t limit = 1000;  // the newest so many
};
[[nodiscard]] Result<History> events(Workspace& workspace, const Events& request);

// Hands over every event after `since`, as it comes, until `on_event` returns false.
[[nodiscard]] Done follow_events(Workspace& workspace, const Events& request,
                                 const std::function<bool(const PastEvent&)>& on_event);

using OpTotals = std::array<std::uint64_t, kOpCount>;

struct Metrics {
  Counts counts{};
  OpTotals ops{};
  std::size_t active = 0;
  std::size_t stale = 0;

  [[nodiscard]] std::uint64_t count(Counter counter) const {
    return counts[static_cast<std::size_t>(counter)];
  }
  [[nodiscard]] std::uint64_t count(Op op) const { return ops[static_cast<std::size_t>(op)]; }
  [[nodiscard]] double average_acquisition_ms() const;
};
[[nodiscard]] Result<Metrics> metrics(Workspace& workspace);

}  // namespace dibs::verbs
