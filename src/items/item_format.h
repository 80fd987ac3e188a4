// The forms that items can be imported from and exported to. Import keeps each original text with
// its item (origin.h), so that exporting what was imported gives the same bytes; and what a form
// has no words for travels with it, so that any item comes back from any form as it was.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "items/source_site.h"

namespace dibs {

struct ItemFormat {
  enum class Shape { file, folder };

  std::string_view name;
  Shape shape = Shape::file;
  // Of a file there is one text, with the name that people are shown.
  ItemList (*import_texts)(std::vector<TextFile> texts);
  Result<std::vector<TextFile>> (*export_texts)(const std::vector<Item>& items);
  // Of a folder: its files that may be items, and where the item lies that such a file is about.
  Done (*read_texts)(SourceFiles& files, const std::string& folder, FolderTexts& into) = nullptr;
  struct Place {
    ItemId id;
    std::string path;
  };
  Place (*place_of)(std::string_view name) = nullptr;
};

[[nodiscard]] std::span<const ItemFormat> item_formats();
// Null when there is none of that name.
[[nodiscard]] const ItemFormat* find_item_format(std::string_view name);

[[nodiscard]] Result<ItemList> import_items(FileSystem& files, const ItemFormat& format,
                                            const std::string& path);
// The file is replaced; a folder must not hold other items under the same ids.
[[nodiscard]] Done export_items(FileSystem& files, const ItemFormat& format,
                                const std::string& path, const std::vector<Item>& items);

}  // namespace dibs
