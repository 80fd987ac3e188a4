#include "rules/cycles.h"

#include <algorithm>

#include "rules/components.h"
#include "rules/ring_search.h"

namespace dibs {

namespace {

bool is_cycle(const DependencyGraph& graph, std::span<const ItemNumber> component) {
  if (component.size() > 1) return true;
  return std::ranges::count(graph.dependencies_of(component[0]), component[0]) > 0;
}

void lead_with_ring(Cycle& cycle, std::span<const ItemNumber> ring) {
  cycle.ring = ring.size() - 1;  // without coming back
  std::vector<ItemNumber> members(ring.begin(), ring.end() - 1);
  std::vector<ItemNumber> sorted = members;
  std::ranges::sort(sorted);
  std::ranges::set_difference(cycle.members, sorted, std::back_inserter(members));
  cycle.members = std::move(members);
}

std::vector<Cycle> cycles_among(const DependencyGraph& graph, const Components& components) {
  std::vector<Cycle> found;
  for (std::size_t at = 0; at < components.size(); ++at) {
    if (!is_cycle(graph, components[at])) continue;
    found.push_back({.members = {components[at].begin(), components[at].end()}});
    std::ranges::sort(found.back().members);
  }
  std::ranges::sort(found, {}, [](const Cycle& cycle) { return cycle.members.front(); });
  return found;
}

std::vector<std::uint32_t> cycle_of_each(const DependencyGraph& graph,
                                         std::span<const Cycle> found) {
  std::vector<std::uint32_t> of(graph.size(), Cycles::kNoCycle);
  for (std::uint32_t at = 0; at < found.size(); ++at) {
    for (const ItemNumber member : found[at].members) of[member] = at;
  }
  return of;
}

}  // namespace

Cycles cycles(const DependencyGraph& graph, const Peeled& peeled) {
  Cycles result{.all = cycles_among(graph, components_left_by(peeled, graph))};
  if (result.all.empty()) return result;
  result.of = cycle_of_each(graph, result.all);
  RingSearch search(graph);
  for (Cycle& cycle : result.all) {
    const ItemNumber start = cycle.members.front();
    const auto within = [&](ItemNumber item) { return result.share(start, item); };
    // There is a ring: each member leads to each.
    lead_with_ring(cycle, *search.through(start, graph.dependencies_of(start), within));
  }
  return result;
}

Cycles cycles(const DependencyGraph& graph, std::span<const std::uint8_t> counts) {
  return cycles(graph, peel(graph, counts));
}

Cycles cycles(const DependencyGraph& graph) {
  return cycles(graph, std::vector<std::uint8_t>(graph.size(), 1));
}

}  // namespace dibs
