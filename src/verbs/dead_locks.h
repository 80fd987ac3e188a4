// What a git that was killed leaves in its worktree: lock files, which keep every later git from
// its work. Only for who knows that nothing works there any more.
#pragma once

#include <string>

#include "sys/file_system.h"

namespace dibs::verbs {

// Of the worktree's index and HEAD, and of the branch that it is on.
void remove_dead_locks(FileSystem& files, const std::string& worktree);

}  // namespace dibs::verbs
