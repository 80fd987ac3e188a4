// What the merges of all other tools' forms share: the fields of an item are merged by
// rules/item_merge, and the text is changed to say so.
#pragma once

#include "items/foreign_text.h"

namespace dibs {

struct ForeignVersions {
  const ForeignText* base = nullptr;  // null: both added it
  const ForeignText& ours;
  const ForeignText& theirs;
};

// `text` already has what dibs does not know as it is to be, and stays so.
[[nodiscard]] Done merge_meanings(ForeignText& text, const ForeignVersions& versions);

}  // namespace dibs
