// Takes a dependency graph apart from its ends: first the items that nobody waits for, then those
// that only they waited for, and so on. What is left over is a cycle or something a cycle waits
// for, and that is rare: one linear pass answers for nearly every repository.
//
// `path_lengths` and `cycles` begin with it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rules/dependency_graph.h"

namespace dibs {

struct Peeled {
  // Items on the longest chain that waits for each; of what is left over, the part known so far.
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint32_t> waiting;  // how many dependents still stand before each
  std::size_t left = 0;                // items with any: none when there is no cycle
};

// Items with counts[i] == 0 are looked through as if they were not there.
[[nodiscard]] Peeled peel(const DependencyGraph& graph, std::span<const std::uint8_t> counts);

}  // namespace dibs
