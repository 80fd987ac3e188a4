// The merge of items for files that lie in the work tree, where git finds them changed on two
// branches: `dibs merge-driver`. Which format a file has, its path tells.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

struct FileVersions {
  std::string base;  // empty: both added it
  std::string ours;
  std::string theirs;
  std::string path = {};  // in the repository
};

struct MergedFile {
  std::string text;
  // What both sides changed and nobody can decide, by name; the text has both, with git's marks.
  std::vector<std::string> clashes = {};
};

/// One format that items lie in the tree in.
struct MergeFormat {
  std::string_view name;
  bool (*is_at)(std::string_view path);
  // The merged file, or why it cannot be made.
  Result<MergedFile> (*merge)(const FileVersions& versions);
};

// Nothing when dibs keeps no items in files of this path.
[[nodiscard]] const MergeFormat* format_at(std::string_view path);

}  // namespace dibs
