// A task of aitasks that two branches changed, merged: the front matter key by key, the text below
// it by lines, with both versions where both changed the same ones.
#pragma once

#include <string_view>

#include "items/file_merge.h"

namespace dibs {

// A task below "aitasks/", in the root of the repository or below it.
[[nodiscard]] bool is_task_file(std::string_view path);

[[nodiscard]] Result<MergedFile> merge_task_files(const FileVersions& versions);

}  // namespace dibs
