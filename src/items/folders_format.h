// Folders of states as a form to import from and export to, with the states of the preset
// `folders`. For item_format.
#pragma once

#include "items/item_format.h"

namespace dibs {

inline constexpr std::string_view kFoldersFormat = "folders";

[[nodiscard]] ItemList import_folders(std::vector<TextFile> texts);
[[nodiscard]] Result<std::vector<TextFile>> export_folders(const std::vector<Item>& items);
[[nodiscard]] Done read_work_texts(SourceFiles& files, const std::string& folder,
                                   FolderTexts& into);
[[nodiscard]] ItemFormat::Place place_of_work(std::string_view name);

}  // namespace dibs
