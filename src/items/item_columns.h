// What scheduling asks of items, as columns: one number an item, no text.
#pragma once

#include <cstdint>
#include <vector>

#include "model/state_kind.h"
#include "rules/cycles.h"
#include "rules/dependency_graph.h"
#include "rules/readiness.h"

namespace dibs {

struct ItemColumns {
  std::vector<StateKind> kinds;
  std::vector<std::uint8_t> priorities;
  std::vector<std::uint32_t> estimates_min;  // 0: none
  std::vector<std::int64_t> created_unix_ms;
  std::vector<std::uint32_t> first;  // where each item's dependencies begin; one more at the end
  std::vector<std::uint32_t> depends_on;  // item numbers, or kNoItem

  [[nodiscard]] DependencyGraph graph() const { return {.first = first, .depends_on = depends_on}; }
};

/// What follows from the columns.
struct Standings {
  Cycles cycles;  // of unfinished items
  std::vector<Readiness> readiness;
  std::vector<std::uint32_t> path_lengths;
};
[[nodiscard]] Standings standings_of(const ItemColumns& columns);

// What can be taken, best first; at most so many.
[[nodiscard]] std::vector<ItemNumber> ready_items(const ItemColumns& columns,
                                                  const Standings& standings, std::size_t most);

}  // namespace dibs
