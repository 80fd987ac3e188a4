// Looking at items: lists, what can be taken, what waits for what.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "items/catalog.h"
#include "rules/readiness.h"
#include "verbs/items.h"

namespace dibs::verbs {

inline constexpr std::size_t kListDefault = 100;

struct ItemQuery {
  std::optional<std::string> state;  // as shown; none: all that are not finished
  std::vector<std::string> labels;   // all of them
  std::size_t most = kListDefault;
};
struct ItemListing {
  std::vector<ShownItem> items;
  std::vector<BrokenItem> broken;
  bool more = false;  // than were asked for
};
// The more urgent first, then the older.
[[nodiscard]] Result<ItemListing> list_items(Workspace& workspace, const ItemQuery& query);
// What can be taken and nobody holds, best first.
[[nodiscard]] Result<ItemListing> ready_items(Workspace& workspace, const ItemQuery& query);

/// One thing that an item waits for.
struct WaitsFor {
  ItemId id;
  Readiness why = Readiness::waits;
  std::string state;  // of what it waits for; empty when there is no such item
};
struct BlockedItem {
  ShownItem shown;
  std::vector<WaitsFor> waits_for;
};
struct BlockedListing {
  std::vector<BlockedItem> items;
  std::vector<std::vector<ItemId>> cycles;
  std::vector<BrokenItem> broken;
  bool more = false;
};
[[nodiscard]] Result<BlockedListing> blocked_items(Workspace& workspace, const ItemQuery& query);

struct ItemGraph {
  std::vector<ShownItem> items;  // nothing before what it depends on, as far as there are no cycles
  std::vector<std::vector<ItemId>> cycles;
  bool more = false;
};
[[nodiscard]] Result<ItemGraph> item_graph(Workspace& workspace, const ItemQuery& query);

// An item as it is called now.
[[nodiscard]] Result<ShownItem> shown_now(Workspace& workspace, const OpenedItems& items,
                                          const Item& item);

using Taken = std::set<std::string>;
// Which of these items, from a place on, somebody holds.
[[nodiscard]] Result<Taken> taken_of(Workspace& workspace, const Catalog& catalog,
                                     const std::vector<std::uint32_t>& numbers, std::size_t from);

// What keeps an item from being taken; empty when nothing does.
[[nodiscard]] Result<std::vector<WaitsFor>> waits_of(const Catalog& catalog,
                                                     const Workflow& workflow, const Item& item);

}  // namespace dibs::verbs
