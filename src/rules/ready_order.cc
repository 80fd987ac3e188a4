#include "rules/ready_order.h"

#include <algorithm>

namespace dibs {

namespace {

std::vector<Rank> ranks_of_ready(std::span<const Readiness> readiness,
                                 const OrderColumns& columns) {
  std::vector<Rank> ranks;
  for (ItemNumber item = 0; item < readiness.size(); ++item) {
    if (readiness[item] == Readiness::ready) ranks.push_back(rank_of(columns, item));
  }
  return ranks;
}

}  // namespace

Rank rank_of(const OrderValues& values, ItemNumber item) {
  const std::uint32_t little_waits = ~values.path_length;
  return {.urgency = std::uint64_t{values.priority} << 32U | little_waits,
          .estimate_min = values.estimate_min - 1,  // 0 becomes the largest
          .created_unix_ms = values.created_unix_ms,
          .item = item};
}

Rank rank_of(const OrderColumns& columns, ItemNumber item) {
  return rank_of({.priority = columns.priority[item],
                  .path_length = columns.path_length[item],
                  .estimate_min = columns.estimate_min[item],
                  .created_unix_ms = columns.created_unix_ms[item]},
                 item);
}

std::vector<ItemNumber> best(std::span<const Readiness> readiness, const OrderColumns& columns,
                             std::size_t limit) {
  std::vector<Rank> ranks = ranks_of_ready(readiness, columns);
  if (limit < ranks.size()) {
    std::ranges::nth_element(ranks, ranks.begin() + static_cast<std::ptrdiff_t>(limit));
    ranks.resize(limit);
  }
  std::ranges::sort(ranks);
  std::vector<ItemNumber> items(ranks.size());
  std::ranges::transform(ranks, items.begin(), &Rank::item);
  return items;
}

std::vector<ItemNumber> ready_order(std::span<const Readiness> readiness,
                                    const OrderColumns& columns) {
  return best(readiness, columns, readiness.size());
}

}  // namespace dibs
