#include "git/tree_object.h"

#include "base/text.h"

namespace dibs {

std::string TreeEntry::object_hex() const {
  std::string hex;
  hex.reserve(2 * object.size());
  for (const char byte : object) append_hex(hex, static_cast<std::uint8_t>(byte));
  return hex;
}

std::optional<TreeEntry> next_entry(std::string_view& rest, std::size_t object_bytes) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos || rest.size() - end - 1 < object_bytes) return std::nullopt;
  const std::string_view head = rest.substr(0, end);
  const std::size_t space = head.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const TreeEntry entry{.mode = head.substr(0, space),
                        .name = head.substr(space + 1),
                        .object = rest.substr(end + 1, object_bytes)};
  rest.remove_prefix(end + 1 + object_bytes);
  return entry;
}

}  // namespace dibs
