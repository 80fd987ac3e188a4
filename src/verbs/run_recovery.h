// What a run leaves when it is killed: commands that work on, worktrees with work in them, leases
// of a process that is gone. The next run finds it, and so does `dibs recover`.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sys/file_system.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// Says that a run is there, for as long as its process lives: `.git/dibs/run/RUN.lock`, locked.
/// One that can be locked is of a run that was killed.
class RunMark {
 public:
  [[nodiscard]] static Result<RunMark> make(Workspace& workspace, const std::string& run);
  // Nothing was left behind.
  void clear();

 private:
  RunMark(FileSystem& files, std::string path, std::unique_ptr<FileLock> lock)
      : files_(&files), path_(std::move(path)), lock_(std::move(lock)) {}

  FileSystem* files_;
  std::string path_;
  std::unique_ptr<FileLock> lock_;
};

// Stops what still works for runs that were killed, keeps the work, removes their worktrees and
// ends their leases. How many worktrees there were.
[[nodiscard]] Result<std::size_t> recover_runs(Workspace& workspace);

}  // namespace dibs::verbs
