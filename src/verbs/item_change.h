// How a change gets to the items: read, change, check, write, and again when somebody was faster.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verbs/opened_items.h"

namespace dibs::verbs {

/// What may be done to an item that another session holds.
enum class Scope {
  open_to_all,  // comments and labels
  holders,      // everything else
};

struct ItemChange {
  std::string item;  // an id, or the beginning of one
  std::string what;  // the first half of the commit's message
  Scope scope = Scope::holders;
  std::function<Result<Item>(const Catalog&, Item)> apply;
};
// The item as it is afterwards.
[[nodiscard]] Result<Item> change_item(Workspace& workspace, OpenedItems& items,
                                       const ItemChange& change);

// Single-writer: refused when another session holds one of them (worktree.enforce_leases).
[[nodiscard]] Done check_holders(Workspace& workspace, const std::vector<ItemId>& ids);

// `make` is asked again, with the items as they are then, when somebody was faster.
[[nodiscard]] Result<std::vector<Item>> add_items(
    Workspace& workspace, OpenedItems& items, const std::string& message,
    const std::function<Result<std::vector<Item>>(const Catalog&)>& make);

// Writes them, and others get to know: other clones, and the user's checkout of the branch that
// items lie on. False when somebody was faster. Once it is written, what does not work out is a
// warning.
[[nodiscard]] Result<bool> put_items(Workspace& workspace, const OpenedItems& items,
                                     const ItemSource::Batch& batch);

// Refused when these dependencies would make the item wait for itself; says how.
[[nodiscard]] Done check_no_cycle(const Catalog& catalog, const Item& item);
// The same for many that are new, and may depend on each other.
[[nodiscard]] Done check_no_cycles_with(const Catalog& catalog, const std::vector<Item>& added,
                                        const Workflow& workflow);

}  // namespace dibs::verbs
