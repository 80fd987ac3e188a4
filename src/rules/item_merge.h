// Two versions of an item made into one, field by field, so that of two people who changed it at
// once neither has to do it again. For the sync of dibs' own items and for git's merges of items
// that lie in the tree.
//
// A field that one side changed is as that side has it. Where both did: the later change of the
// item has the title, state, priority and what else is one value; of labels, dependencies, globs
// and comments whatever either side added is there and whatever either took away is not; the body
// is merged by lines, and both versions stand where they cannot be.
#pragma once

#include <optional>

#include "model/item.h"

namespace dibs {

// Which side is `ours` makes no difference, and an item with itself is itself. Without a base
// everything counts as added. What comes out may be more than an item may have (check_item).
[[nodiscard]] Item merge_items(const std::optional<Item>& base, const Item& ours,
                               const Item& theirs);

}  // namespace dibs
