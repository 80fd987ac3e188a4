// What the sources of other tools have in common: from pieces of text to a list of items.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "items/item_source.h"

namespace dibs {

inline constexpr std::size_t kSourceFileBytesMax = 256UL * 1024 * 1024;  // a file of many items

struct TextFile {
  std::string name;  // below the folder of the source
  std::string text;

  friend bool operator==(const TextFile&, const TextFile&) = default;
};

// How much of an item a folder has to give back: its own precision is a minute, and who works in it
// wants no more of our notes there than needed. What is converted has to come back exactly.
enum class Precision { of_the_form, exact };

/// One line of a text, by its places there.
struct TextLine {
  std::size_t begin = 0;
  std::size_t end = 0;   // without its line end
  std::size_t next = 0;  // where the next one begins

  [[nodiscard]] std::string_view in(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
  [[nodiscard]] std::string_view whole_in(std::string_view text) const {
    return text.substr(begin, next - begin);
  }
};
[[nodiscard]] std::vector<TextLine> lines_of(std::string_view text);

struct FoundItem {
  StoredItem stored;
  std::size_t line = 0;   // 0 where it has a file of its own
  std::size_t index = 0;  // of its text, for whoever read it
};

// Sorted by id. What has the id of another is broken, and so is the other: nobody can say which of
// them counts.
void set_duplicates_aside(std::vector<FoundItem>& found, std::vector<BrokenItem>& broken);

[[nodiscard]] const FoundItem* find_item(const std::vector<FoundItem>& found, const ItemId& id);

// The version of something stored as this text.
[[nodiscard]] std::string version_of(std::string_view text);

enum class Comparison { as_expected, moved };
// Whether a change still fits what is there; an error when that is broken, or the change no item.
[[nodiscard]] Result<Comparison> standing_of(const ItemSource::Change& change,
                                             const std::vector<FoundItem>& found,
                                             const std::vector<BrokenItem>& broken);
// No item may be changed twice at once.
[[nodiscard]] Done check_batch(const std::vector<ItemSource::Change>& changes);

[[nodiscard]] ItemList listed(const std::vector<FoundItem>& found, std::vector<BrokenItem> broken);
// Those of a list; an error when one of them is broken.
[[nodiscard]] Result<std::vector<StoredItem>> chosen(const ItemList& list,
                                                     const std::vector<ItemId>& ids);

}  // namespace dibs
