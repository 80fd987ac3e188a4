// Dependency graphs for tests: written down as lists, or made up by RapidCheck; and the slow,
// obvious answers to what the rules compute fast.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "rules/dependency_graph.h"
#include "testing/property.h"

namespace dibs {

using DependencyLists = std::vector<std::vector<ItemNumber>>;

/// Owns the columns that a DependencyGraph looks at.
struct GraphColumns {
  std::vector<std::uint32_t> first{0};
  std::vector<ItemNumber> depends_on;

  explicit GraphColumns(const DependencyLists& lists) {
    for (const std::vector<ItemNumber>& list : lists) {
      depends_on.insert(depends_on.end(), list.begin(), list.end());
      first.push_back(static_cast<std::uint32_t>(depends_on.size()));
    }
  }
  [[nodiscard]] DependencyGraph graph() const { return {.first = first, .depends_on = depends_on}; }
};

// 1 to 9 items; with self-loops, dependencies named twice and some that no item has.
inline DependencyLists any_dependencies() {
  const auto size = *any_in<ItemNumber>(1, 10);
  const auto edges = *any_in<std::uint32_t>(0, 2 * size + 1);
  DependencyLists lists(size);
  for (std::uint32_t edge = 0; edge < edges; ++edge) {
    const auto to = *any_in<ItemNumber>(0, size + 1);
    lists[*any_in<ItemNumber>(0, size)].push_back(to == size ? kNoItem : to);
  }
  return lists;
}

inline std::vector<std::uint8_t> any_counts(std::size_t size) {
  std::vector<std::uint8_t> counts(size);
  for (std::uint8_t& count : counts) count = *any_in<int>(0, 4) == 0 ? 0 : 1;
  return counts;
}

/// How many steps each item is from each by way of items that count, at least one step; by
/// Floyd and Warshall.
class Distances {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max() / 2;

  Distances(const DependencyLists& lists, const std::vector<std::uint8_t>& counts)
      : steps_(lists.size(), std::vector<int>(lists.size(), kNever)) {
    const std::size_t size = lists.size();
    for (std::size_t from = 0; from < size; ++from) {
      for (const ItemNumber to : lists[from]) {
        if (to < size && counts[from] != 0 && counts[to] != 0) steps_[from][to] = 1;
      }
    }
    for (std::size_t by = 0; by < size; ++by) {
      for (std::size_t from = 0; from < size; ++from) {
        for (std::size_t to = 0; to < size; ++to) {
          steps_[from][to] = std::min(steps_[from][to], steps_[from][by] + steps_[by][to]);
        }
      }
    }
  }

  [[nodiscard]] int steps(std::size_t from, std::size_t to) const { return steps_[from][to]; }
  [[nodiscard]] bool leads(std::size_t from, std::size_t to) const {
    return steps_[from][to] < kNever;
  }
  [[nodiscard]] bool circle(std::size_t one, std::size_t other) const {
    return leads(one, other) && leads(other, one);
  }

 private:
  std::vector<std::vector<int>> steps_;
};

}  // namespace dibs
