// Something that lies where an item should, and cannot be read as one. It is shown and left alone.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "model/item.h"

namespace dibs {

struct BrokenItem {
  std::string file;
  std::size_t line = 0;  // 0: all of it
  std::string why;
  ItemId id = {};  // empty when not even that can be told

  friend bool operator==(const BrokenItem&, const BrokenItem&) = default;
};

[[nodiscard]] std::string to_json(const BrokenItem& broken);
[[nodiscard]] Result<BrokenItem> broken_from_json(const Json& json);

}  // namespace dibs
