// What the commits of a branch brought, and putting that on disk. git flushes refs and packs but
// leaves loose objects to the disk's own time, unless `core.fsync` says otherwise: after a power
// loss a target that has landed could stand at commits whose files are empty.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "sys/file_system.h"

namespace dibs {

struct BroughtWork {
  std::size_t commits = 0;
  std::vector<std::string> objects;  // commits, trees and files
};

// Everything that `work` has and none of `others` has; all are commits, by their full names.
[[nodiscard]] Result<BroughtWork> brought_by(FileSystem& files, const GitProgram& git,
                                             const std::string& common_dir, const std::string& work,
                                             const std::vector<std::string>& others);

// Those that are loose: git has flushed what is in a pack.
[[nodiscard]] Done flush_objects(FileSystem& files, const std::string& common_dir,
                                 const std::vector<std::string>& objects);

}  // namespace dibs
