// `dibs item stamp`: what somebody put into new/ gets an id that no other clone makes, and goes on
// to the state after it. For items that lie in folders.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/item.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct StampedItem {
  ItemId was;
  ItemId id;
};
// These, or everything that is new; all in one commit. What depends on them does so under their new
// ids.
[[nodiscard]] Result<std::vector<StampedItem>> stamp_items(Workspace& workspace,
                                                           const std::vector<std::string>& names);

}  // namespace dibs::verbs
