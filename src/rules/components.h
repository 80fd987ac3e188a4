// The strongly connected components of what peeling leaves over: items that wait for one another in
// a circle, together; every other item alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rules/dependency_graph.h"
#include "rules/peeling.h"

namespace dibs {

/// Each component comes after all that it depends on.
struct Components {
  std::vector<ItemNumber> members;      // one component's after the other's
  std::vector<std::uint32_t> first{0};  // where each begins; one more at the end

  [[nodiscard]] std::size_t size() const { return first.size() - 1; }
  [[nodiscard]] std::span<const ItemNumber> operator[](std::size_t at) const {
    return std::span(members).subspan(first[at], first[at + 1] - first[at]);
  }
};

[[nodiscard]] Components components_left_by(const Peeled& peeled, const DependencyGraph& graph);

}  // namespace dibs
