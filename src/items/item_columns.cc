#include "items/item_columns.h"

#include <utility>

#include "rules/path_lengths.h"
#include "rules/peeling.h"
#include "rules/ready_order.h"

namespace dibs {

Standings standings_of(const ItemColumns& columns) {
  Standings standings;
  const std::vector<std::uint8_t> open = unfinished(columns.kinds);
  Peeled peeled = peel(columns.graph(), open);
  standings.cycles = cycles(columns.graph(), peeled);
  standings.readiness = readiness(columns.graph(), columns.kinds, standings.cycles);
  standings.path_lengths = path_lengths(columns.graph(), std::move(peeled));
  return standings;
}

std::vector<ItemNumber> ready_items(const ItemColumns& columns, const Standings& standings,
                                    std::size_t most) {
  const OrderColumns order{.priority = columns.priorities,
                           .path_length = standings.path_lengths,
                           .estimate_min = columns.estimates_min,
                           .created_unix_ms = columns.created_unix_ms};
  return best(standings.readiness, order, most);
}

}  // namespace dibs
