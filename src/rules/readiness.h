// Which items can be taken, and what keeps the others: `ready`, `blocked` and `next` show what
// these say.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/state_kind.h"
#include "rules/cycles.h"
#include "rules/dependency_graph.h"

namespace dibs {

/// The first of these that holds: what needs a person's hand comes before what time will settle.
enum class Readiness : std::uint8_t {
  ready,
  not_open,
  in_cycle,            // waits, in the end, for itself
  dependency_missing,  // no item has that id
  dependency_dropped,  // ended, and never to be satisfied
  waits,               // for what is not finished
};

// 1 for each unfinished item: what `path_lengths` counts, and `cycles` where readiness is meant.
[[nodiscard]] std::vector<std::uint8_t> unfinished(std::span<const StateKind> kinds);

// `unfinished_cycles` are cycles(graph, unfinished(kinds)): a circle in which something is finished
// holds nobody up.
[[nodiscard]] std::vector<Readiness> readiness(const DependencyGraph& graph,
                                               std::span<const StateKind> kinds,
                                               const Cycles& unfinished_cycles);

/// One dependency that keeps an item from being ready.
struct Blocker {
  std::uint32_t place =
      0;  // among the item's dependencies: the id stands there when no item has it
  ItemNumber dependency = kNoItem;
  Readiness why = Readiness::waits;

  friend bool operator==(const Blocker&, const Blocker&) = default;
};

// What keeps one item, in the order of its dependencies; also for an item that is not open.
[[nodiscard]] std::vector<Blocker> blockers_of(const DependencyGraph& graph,
                                               std::span<const StateKind> kinds,
                                               const Cycles& unfinished_cycles, ItemNumber item);

}  // namespace dibs
