#include "rules/path_lengths.h"

#include <algorithm>

#include "rules/components.h"

namespace dibs {

namespace {

// Hands the length of a whole component on to what it depends on.
void settle(const DependencyGraph& graph, std::span<const ItemNumber> component, Peeled& peeled) {
  std::uint32_t length = 0;
  for (const ItemNumber member : component) length = std::max(length, peeled.lengths[member]);
  length += static_cast<std::uint32_t>(component.size() - 1);
  for (const ItemNumber member : component) {
    for (const ItemNumber needed : graph.dependencies_of(member)) {
      if (needed < graph.size() && peeled.waiting[needed] != 0) {
        peeled.lengths[needed] = std::max(peeled.lengths[needed], length + 1);
      }
    }
  }
  // Last, because the members depend on one another too.
  for (const ItemNumber member : component) peeled.lengths[member] = length;
}

}  // namespace

std::vector<std::uint32_t> path_lengths(const DependencyGraph& graph, Peeled peeled) {
  const Components components = components_left_by(peeled, graph);
  for (std::size_t at = components.size(); at > 0; --at) settle(graph, components[at - 1], peeled);
  return std::move(peeled.lengths);
}

std::vector<std::uint32_t> path_lengths(const DependencyGraph& graph,
                                        std::span<const std::uint8_t> counts) {
  return path_lengths(graph, peel(graph, counts));
}

}  // namespace dibs
