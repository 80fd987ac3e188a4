// Items that other clones have too: `dibs item sync`, and what the other verbs on items do about it
// by themselves where leases are on a remote already (items.sync).
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "items/item_sync.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct SyncedItems {
  std::string remote;
  ItemSyncEnd end;
};
// With the remote of the store when none is named.
[[nodiscard]] Result<SyncedItems> sync_items(Workspace& workspace,
                                             const std::optional<std::string>& remote);

// What makes items the same here and on the store's remote. Nothing where that is left to the user,
// and where items are no ref of their own.
[[nodiscard]] std::optional<ItemSync> automatic_sync(Workspace& workspace);

// Right after a change. It is made, whether the remote can be reached or not; if not, there is a
// warning and the next sync carries it.
void send_items(Workspace& workspace);
// Before a look, unless the last one is recent. A remote that cannot be reached is a warning.
void look_for_items(Workspace& workspace);

}  // namespace dibs::verbs
