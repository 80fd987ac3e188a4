// The shortest way from an item along its dependencies back to itself. Breadth first, so that the
// cycle a person is shown is the smallest there is to break.
//
// Remembers where it has been: one search an object, or several in parts of the graph that share no
// item.
#pragma once

#include <optional>
#include <vector>

#include "rules/dependency_graph.h"

namespace dibs {

class RingSearch {
 public:
  explicit RingSearch(const DependencyGraph& graph) : graph_(graph), seen_(graph.size()) {}

  // item, …, item; only by way of items that `within` accepts.
  template <class Within>
  [[nodiscard]] std::optional<std::vector<ItemNumber>> through(
      ItemNumber item, std::span<const ItemNumber> dependencies, const Within& within) {
    reached_.assign({{.item = item, .from = 0}});
    if (look_at(0, dependencies, within)) return way_back(0);
    for (std::size_t at = 1; at < reached_.size(); ++at) {
      if (look_at(at, graph_.dependencies_of(reached_[at].item), within)) return way_back(at);
    }
    return std::nullopt;
  }

 private:
  struct Reached {
    ItemNumber item;
    std::size_t from;  // the place in reached_ of who depends on it
  };

  // Whether one of the dependencies is where the search began.
  template <class Within>
  bool look_at(std::size_t from, std::span<const ItemNumber> dependencies, const Within& within) {
    for (const ItemNumber dependency : dependencies) {
      if (dependency == reached_.front().item) return true;
      if (dependency >= graph_.size() || seen_[dependency] || !within(dependency)) continue;
      seen_[dependency] = true;
      reached_.push_back({.item = dependency, .from = from});
    }
    return false;
  }

  [[nodiscard]] std::vector<ItemNumber> way_back(std::size_t at) const {
    std::vector<ItemNumber> path{reached_.front().item};
    for (; at != 0; at = reached_[at].from) path.push_back(reached_[at].item);
    path.push_back(reached_.front().item);
    return {path.rbegin(), path.rend()};
  }

  DependencyGraph graph_;
  std::vector<bool> seen_;
  std::vector<Reached> reached_;
};

}  // namespace dibs
