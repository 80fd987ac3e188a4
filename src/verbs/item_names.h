// From what a person typed to the item that is meant, before anything is leased: the beginning of
// an id will do, and what dibs does not know is leased as written, so that it works beside any
// tracker.
#pragma once

#include <string>

#include "base/result.h"
#include "model/resource.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// The resource with its whole name; what is no item stays as it is.
[[nodiscard]] Result<Resource> resolved(Workspace& workspace, Resource resource);

// The same for what is about to be claimed: refused when the item is finished or waits for others,
// and when nobody knows it and `items.require` is set; otherwise that is a warning.
[[nodiscard]] Result<Resource> claimable(Workspace& workspace, Resource resource);

}  // namespace dibs::verbs
