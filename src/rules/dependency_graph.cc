#include "rules/dependency_graph.h"

#include "rules/ring_search.h"

namespace dibs {

std::optional<std::vector<ItemNumber>> cycle_closed_by(const DependencyGraph& graph,
                                                       ItemNumber item,
                                                       std::span<const ItemNumber> dependencies) {
  return RingSearch(graph).through(item, dependencies, [](ItemNumber) { return true; });
}

}  // namespace dibs
