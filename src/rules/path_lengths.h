// How much waits behind an item: what finishing it brings nearer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rules/dependency_graph.h"
#include "rules/peeling.h"

namespace dibs {

// For each item the number of items on the longest chain of those that wait for it, and for one
// another; 0 when none does. Only items with counts[i] != 0 wait and are waited for. Items that
// wait for one another in a circle share one value, and all of them are on a chain that leads
// through one of them.
[[nodiscard]] std::vector<std::uint32_t> path_lengths(const DependencyGraph& graph,
                                                      std::span<const std::uint8_t> counts);
// The same for who has peeled already.
[[nodiscard]] std::vector<std::uint32_t> path_lengths(const DependencyGraph& graph, Peeled peeled);

}  // namespace dibs
