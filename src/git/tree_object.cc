#include "git/tree_object.h"

#include "base/text.h"

namespace dibs {

namespace {

std::string raw_bytes(std::string_view hex) {
  std::string raw;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    raw += static_cast<char>(hex_digit(hex[i]) * 16 + hex_digit(hex[i + 1]));
  return raw;
}

// git sorts a folder as if its name ended in a slash.
std::string sorted_as(std::string_view mode, std::string_view name) {
  return std::string(name) + (mode == kTreeMode ? "/" : "");
}

}  // namespace

std::string TreeEntry::object_hex() const { return to_hex(object); }

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

TreeSearch find_entry(std::string_view tree, std::string_view name, std::size_t object_bytes) {
  while (!tree.empty()) {
    const std::optional<TreeEntry> entry = next_entry(tree, object_bytes);
    if (!entry) return {.entry = std::nullopt, .is_whole = false};
    if (entry->name == name) return {.entry = entry};
  }
  return {};
}

// All of it is looked at: a folder and a file of one name would not stand beside each other.
std::optional<std::string> with_entry(std::string_view tree, const NewTreeEntry& entry) {
  const std::string own_place = sorted_as(entry.mode, entry.name);
  std::size_t at = 0;        // where it belongs, or the one of its name begins
  std::size_t replaced = 0;  // bytes
  std::size_t begin = 0;
  for (std::string_view rest = tree; !rest.empty();) {
    const auto other = next_entry(rest, entry.object_hex.size() / 2);
    if (!other || (other->name == entry.name && other->mode != entry.mode)) return std::nullopt;
    const std::size_t end = tree.size() - rest.size();
    if (other->name == entry.name) {
      replaced = end - begin;
    } else if (sorted_as(other->mode, other->name) < own_place) {
      at = end;
    }
    begin = end;
  }
  std::string line(entry.mode);
  line.append(" ").append(entry.name).append(1, '\0').append(raw_bytes(entry.object_hex));
  std::string changed(tree);
  return changed.replace(at, replaced, line);
}

}  // namespace dibs
