// Items that wait for one another in a circle. dibs closes no cycle itself, but imported data has
// them: they are shown, and only their members are kept from being taken.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rules/dependency_graph.h"
#include "rules/peeling.h"

namespace dibs {

/// All items from which each leads to each. The first `ring` of them depend each on the next, and
/// the last of those on the first: the smallest ring through the lowest number. The rest follow
/// by number.
struct Cycle {
  std::vector<ItemNumber> members;
  std::size_t ring = 0;

  friend bool operator==(const Cycle&, const Cycle&) = default;
};

struct Cycles {
  std::vector<Cycle> all;         // by their lowest number
  std::vector<std::uint32_t> of;  // for each item which of them, or kNoCycle; empty without cycles

  static constexpr std::uint32_t kNoCycle = 0xffffffff;
  [[nodiscard]] bool has(ItemNumber item) const { return !of.empty() && of[item] != kNoCycle; }
  [[nodiscard]] bool share(ItemNumber one, ItemNumber other) const {
    return has(one) && of[one] == of[other];
  }
};

// All of them; with `counts`, those that lead through items with counts[i] != 0 alone.
[[nodiscard]] Cycles cycles(const DependencyGraph& graph);
[[nodiscard]] Cycles cycles(const DependencyGraph& graph, std::span<const std::uint8_t> counts);
// The same for who has peeled already.
[[nodiscard]] Cycles cycles(const DependencyGraph& graph, const Peeled& peeled);

}  // namespace dibs
