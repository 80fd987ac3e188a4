// Where an imported item came from: the text itself, so that it can be written back byte for byte
// to the form it had. Kept as one member among those that dibs does not know.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/item.h"

namespace dibs {

inline constexpr std::string_view kOriginMember = "origin";

struct Origin {
  std::string format;    // beads, aitasks, json
  std::string name;      // the file, where an item has one
  std::size_t line = 0;  // where it has none: which line it was
  std::string before;    // lines before it that are no items
  std::string text;
  std::string after;  // and behind it, when it was the last

  friend bool operator==(const Origin&, const Origin&) = default;
};

[[nodiscard]] std::optional<Origin> origin_of(const Item& item);
[[nodiscard]] Item with_origin(Item item, const Origin& origin);
[[nodiscard]] Item without_origin(Item item);

}  // namespace dibs
