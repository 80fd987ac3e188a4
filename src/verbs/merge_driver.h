// `dibs merge-driver`: called by git, for a file of items that two branches changed.
#pragma once

#include <string>

#include "base/result.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// As git hands them over: paths of three files, and where the file is in the repository.
struct MergeFiles {
  std::string base;
  std::string ours;  // becomes the merged one
  std::string theirs;
  std::string path;
};
// What cannot be merged by field is left in `ours` as git would have left it: merged by lines, or
// with conflict marks, and then it is an error.
[[nodiscard]] Done merge_files(Workspace& workspace, const MergeFiles& files);

}  // namespace dibs::verbs
