// What the branch of an item is called. Where the store shows claims as branches, its name begins
// with what the workflow calls a claim of the item's state: "indevelopment-42".
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// For an item that is claimed now; an item that dibs does not know, or whose state has no such
// word, gets what store.claim_state says. Empty where claims do not show as branches.
[[nodiscard]] Result<std::string> claim_state_of(Workspace& workspace, const std::string& item);

// "dibs/42" for item 42; with a claim state, "STATE-42".
[[nodiscard]] std::string item_branch(const std::string& claim_state, const std::string& item);
// For an item that is claimed now.
[[nodiscard]] Result<std::string> branch_for_item(Workspace& workspace, const std::string& item);
// All that it may have been called, whatever state it was claimed in.
[[nodiscard]] Result<std::vector<std::string>> branches_of_item(Workspace& workspace,
                                                                const std::string& item);

}  // namespace dibs::verbs
