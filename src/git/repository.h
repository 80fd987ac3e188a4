// Where we are: the repository around a directory, found by reading the files git itself reads. No
// process is started for it: one would cost more than the whole claim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

namespace dibs {

struct Repository {
  std::string git_dir;     // this worktree's own: .git, or .git/worktrees/NAME
  std::string common_dir;  // shared by all worktrees
  std::string root;        // of the work tree; of the git directory when there is none
  bool bare = false;

  [[nodiscard]] bool is_linked() const { return git_dir != common_dir; }
};

// The repository that `directory` (absolute, without symbolic links) is in; exit 10 when none is.
[[nodiscard]] Result<Repository> find_repository(FileSystem& files, const std::string& directory);

// One of git's own notes (gitdir, commondir, locked), trimmed; empty when it is not there or cannot
// be read.
[[nodiscard]] std::string note_in(FileSystem& files, const std::string& path);

// The branch that is checked out; empty when HEAD is detached.
[[nodiscard]] std::string current_branch(FileSystem& files, const Repository& repository);

// Every worktree of the repository, the main one first. Those whose directory is gone are left out.
[[nodiscard]] Result<std::vector<Repository>> all_worktrees(FileSystem& files,
                                                            const Repository& repository);

// The directory mode that core.sharedRepository asks for: 0700, or wider with setgid.
[[nodiscard]] unsigned shared_directory_mode(FileSystem& files, const Repository& repository);

}  // namespace dibs
