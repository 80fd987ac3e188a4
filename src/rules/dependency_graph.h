// Who waits for whom, as the index keeps it: items are numbers from 0, and the dependencies of all
// of them lie in one column, one item's after the other's. Nothing is copied, so that a hundred
// thousand items can be asked about straight from a mapped file.
//
// `path_lengths`, `cycles` and `readiness` read it; whoever changes an item asks `cycle_closed_by`
// first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dibs {

/// The place of an item in the columns of the index.
using ItemNumber = std::uint32_t;

// A dependency on an id that no item has. Any number that is no item's is taken for one.
inline constexpr ItemNumber kNoItem = 0xffffffff;

struct DependencyGraph {
  std::span<const std::uint32_t>
      first;  // where each item's dependencies begin; one more at the end
  std::span<const ItemNumber> depends_on;

  [[nodiscard]] std::uint32_t size() const {
    return first.empty() ? 0 : static_cast<std::uint32_t>(first.size() - 1);
  }
  [[nodiscard]] std::span<const ItemNumber> dependencies_of(ItemNumber item) const {
    return depends_on.subspan(first[item], first[item + 1] - first[item]);
  }
};

// The shortest cycle, item → … → item, that there would be if `item` depended on `dependencies`
// instead of what it depends on now. `item` may be one that is not in the graph yet.
[[nodiscard]] std::optional<std::vector<ItemNumber>> cycle_closed_by(
    const DependencyGraph& graph, ItemNumber item, std::span<const ItemNumber> dependencies);

}  // namespace dibs
