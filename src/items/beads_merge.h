// A whole issues.jsonl of beads that two branches changed, merged issue by issue: lines that one
// side added are there, in the order they had; lines that nobody changed keep their bytes.
#pragma once

#include <string_view>

#include "items/file_merge.h"

namespace dibs {

// ".beads/issues.jsonl", in the root of the repository or below it.
[[nodiscard]] bool is_beads_file(std::string_view path);

[[nodiscard]] Result<MergedFile> merge_beads_files(const FileVersions& versions);

}  // namespace dibs
