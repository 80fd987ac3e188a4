// What a tree object of git holds: its entries, one after the other, as git sorts them. To hand
// over a few hundred trees costs git half of what `git ls-tree` does to write down what is in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dibs {

inline constexpr std::string_view kTreeMode = "40000";

/// "MODE NAME\0" and the bytes of the object's name.
struct TreeEntry {
  std::string_view mode;
  std::string_view name;
  std::string_view object;

  [[nodiscard]] bool is_file() const { return mode.starts_with("100"); }
  [[nodiscard]] bool is_folder() const { return mode == kTreeMode; }
  [[nodiscard]] std::string object_hex() const;
};

// The first one, which is taken away; nothing when there is none, or it is not whole.
[[nodiscard]] std::optional<TreeEntry> next_entry(std::string_view& rest, std::size_t object_bytes);

/// What a tree says about a name.
struct TreeSearch {
  std::optional<TreeEntry> entry;
  bool is_whole = true;  // if not, it may be in the rest
};
[[nodiscard]] TreeSearch find_entry(std::string_view tree, std::string_view name,
                                    std::size_t object_bytes);

/// One to be put into a tree.
struct NewTreeEntry {
  std::string_view mode;
  std::string_view name;
  std::string_view object_hex;
};
// The tree with that entry, in the place of the one of that name or as a new one. Nothing when the
// tree is not whole, or the one of that name is of another kind.
[[nodiscard]] std::optional<std::string> with_entry(std::string_view tree,
                                                    const NewTreeEntry& entry);

}  // namespace dibs
