// What worktrees and rescues are made with: the machine's seams, and the repository they belong to.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "git/git_program.h"
#include "git/repository.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/randomness.h"

namespace dibs {

struct Surroundings {
  FileSystem& files;
  const GitProgram& git;
  Clock& clock;
  Random& random;
  std::string common_dir;  // of the user's repository
  std::string directory;   // .git/dibs, for locks and scratch files
  unsigned file_mode = kPrivateFile;
};

// Whoever adds or removes a worktree, or fetches into the repository, does it under this lock: a
// fetch looks at the HEAD of every worktree, and fails on one that is only half made.
[[nodiscard]] Result<std::unique_ptr<FileLock>> lock_worktrees(const Surroundings& around);

// Reading, hashing and deleting a whole work tree takes as long as the tree is large.
inline constexpr std::int64_t kWholeTreeMs = 30LL * 60 * 1000;

// A git that works on all of a work tree which may be about to go: without housekeeping that
// outlives the call.
[[nodiscard]] GitProgram::Call whole_tree_call(const Repository& worktree,
                                               std::vector<std::string> arguments);

}  // namespace dibs
