// In which order ready items are shown and taken: the more urgent first, then what most waits
// behind, then the shorter, then the older. Every comparison ends with the number, so the order is
// the same wherever it is computed.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "rules/dependency_graph.h"
#include "rules/readiness.h"

namespace dibs {

/// The columns of the index that the order goes by.
struct OrderColumns {
  std::span<const std::uint8_t> priority;       // 0 is the most urgent
  std::span<const std::uint32_t> path_length;   // from path_lengths
  std::span<const std::uint32_t> estimate_min;  // 0: unknown
  std::span<const std::int64_t> created_unix_ms;
};

/// An item's place in the order: the lesser comes first, member by member.
struct Rank {
  std::uint64_t urgency = 0;       // the priority, and below it how little waits
  std::uint32_t estimate_min = 0;  // the largest number when unknown
  std::int64_t created_unix_ms = 0;
  ItemNumber item = 0;

  friend auto operator<=>(const Rank&, const Rank&) = default;
};

/// What the order goes by, of one item.
struct OrderValues {
  std::uint8_t priority = 0;
  std::uint32_t path_length = 0;
  std::uint32_t estimate_min = 0;
  std::int64_t created_unix_ms = 0;
};
[[nodiscard]] Rank rank_of(const OrderValues& values, ItemNumber item);
[[nodiscard]] Rank rank_of(const OrderColumns& columns, ItemNumber item);

// The first `limit` of the ready items, in order; sorts no more than those.
[[nodiscard]] std::vector<ItemNumber> best(std::span<const Readiness> readiness,
                                           const OrderColumns& columns, std::size_t limit);

// All of them, in order: what an index keeps.
[[nodiscard]] std::vector<ItemNumber> ready_order(std::span<const Readiness> readiness,
                                                  const OrderColumns& columns);

}  // namespace dibs
