// What a tree object of git holds: its entries, one after the other. To hand over a few hundred
// trees costs git half of what `git ls-tree` does to write down what is in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dibs {

/// "MODE NAME\0" and the bytes of the object's name.
struct TreeEntry {
  std::string_view mode;
  std::string_view name;
  std::string_view object;

  [[nodiscard]] bool is_file() const { return mode.starts_with("100"); }
  [[nodiscard]] bool is_folder() const { return mode == "40000"; }
  [[nodiscard]] std::string object_hex() const;
};

// The first one, which is taken away; nothing when there is none, or it is not whole.
[[nodiscard]] std::optional<TreeEntry> next_entry(std::string_view& rest, std::size_t object_bytes);

}  // namespace dibs
