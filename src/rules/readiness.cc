#include "rules/readiness.h"

#include <algorithm>

namespace dibs {

namespace {

// What one dependency means for those who have it, cycles aside.
Readiness effect_of(std::span<const StateKind> kinds, ItemNumber dependency) {
  if (dependency >= kinds.size()) return Readiness::dependency_missing;
  switch (kinds[dependency]) {
    case StateKind::open:
    case StateKind::active:
    case StateKind::waiting:
      return Readiness::waits;
    case StateKind::done:
      return Readiness::ready;
    case StateKind::dropped:
      return Readiness::dependency_dropped;
  }
  return Readiness::waits;
}

// The enumerators stand in the order in which they are told; ready, the lowest, only if all are.
Readiness first_told(Readiness one, Readiness other) {
  if (one == Readiness::ready) return other;
  if (other == Readiness::ready) return one;
  return std::min(one, other);
}

Readiness readiness_of(const DependencyGraph& graph, std::span<const StateKind> kinds,
                       const Cycles& cycles, ItemNumber item) {
  if (kinds[item] != StateKind::open) return Readiness::not_open;
  if (cycles.has(item)) return Readiness::in_cycle;
  Readiness result = Readiness::ready;
  for (const ItemNumber dependency : graph.dependencies_of(item)) {
    result = first_told(result, effect_of(kinds, dependency));
  }
  return result;
}

}  // namespace

std::vector<std::uint8_t> unfinished(std::span<const StateKind> kinds) {
  std::vector<std::uint8_t> counts(kinds.size());
  std::ranges::transform(kinds, counts.begin(), [](StateKind kind) {
    return static_cast<std::uint8_t>(is_finished(kind) ? 0 : 1);
  });
  return counts;
}

std::vector<Readiness> readiness(const DependencyGraph& graph, std::span<const StateKind> kinds,
                                 const Cycles& unfinished_cycles) {
  std::vector<Readiness> result(graph.size());
  for (ItemNumber item = 0; item < graph.size(); ++item) {
    result[item] = readiness_of(graph, kinds, unfinished_cycles, item);
  }
  return result;
}

std::vector<Blocker> blockers_of(const DependencyGraph& graph, std::span<const StateKind> kinds,
                                 const Cycles& unfinished_cycles, ItemNumber item) {
  std::vector<Blocker> blockers;
  const std::span<const ItemNumber> dependencies = graph.dependencies_of(item);
  for (std::uint32_t place = 0; place < dependencies.size(); ++place) {
    const ItemNumber dependency = dependencies[place];
    Readiness why = effect_of(kinds, dependency);
    if (why == Readiness::ready) continue;
    if (why == Readiness::waits && unfinished_cycles.share(item, dependency)) {
      why = Readiness::in_cycle;
    }
    blockers.push_back({.place = place, .dependency = dependency, .why = why});
  }
  return blockers;
}

}  // namespace dibs
