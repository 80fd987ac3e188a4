// Writing a change of items, for every verb that makes one.
#pragma once

#include "base/result.h"
#include "items/item_source.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// As ItemSource::write. Where a landing that was cut short left the items locked, that is settled
// first.
[[nodiscard]] Result<bool> write_items(Workspace& workspace, ItemSource& source,
                                       const ItemSource::Batch& batch);

}  // namespace dibs::verbs
