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
  std::string after;    // and behind it, when it was the last
  std::string earlier;  // what it carried there: the origin that it had before that, as JSON

  friend bool operator==(const Origin&, const Origin&) = default;
};

// The latest one in that form; nothing when it never had it.
[[nodiscard]] std::optional<Origin> origin_in(const Item& item, std::string_view format);
// On top of those it has.
[[nodiscard]] Item with_origin(Item item, const Origin& origin);
// The item as the text of that origin had it: with what was there before. Without such an origin
// nothing changes.
[[nodiscard]] Item before_origin(Item item, std::string_view format);

}  // namespace dibs
