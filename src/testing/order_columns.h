// The columns that ready items are ordered by, for tests: written down, or made up by RapidCheck.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/ready_order.h"
#include "testing/property.h"

namespace dibs {

/// Owns the columns of the order.
struct Columns {
  std::vector<std::uint8_t> priority;
  std::vector<std::uint32_t> path_length;
  std::vector<std::uint32_t> estimate_min;
  std::vector<std::int64_t> created_unix_ms;

  void add(int urgency, std::uint32_t length, std::uint32_t estimate, std::int64_t created) {
    priority.push_back(static_cast<std::uint8_t>(urgency));
    path_length.push_back(length);
    estimate_min.push_back(estimate);
    created_unix_ms.push_back(created);
  }
  [[nodiscard]] OrderColumns view() const {
    return {.priority = priority,
            .path_length = path_length,
            .estimate_min = estimate_min,
            .created_unix_ms = created_unix_ms};
  }
};

inline std::vector<ItemNumber> order_of(const Columns& columns) {
  return ready_order(std::vector(columns.priority.size(), Readiness::ready), columns.view());
}

// Few different values, so that many are alike.
inline Columns any_columns(std::size_t size) {
  Columns columns;
  for (std::size_t item = 0; item < size; ++item) {
    columns.add(*any_in(0, 3), *any_in<std::uint32_t>(0, 3), *any_in<std::uint32_t>(0, 3),
                *any_in<std::int64_t>(0, 3));
  }
  return columns;
}

}  // namespace dibs
