// A worktree's own name, wt:1a2b3c4d. It lives in the worktree's private git directory, so it is
// never committed, goes with the worktree when that is moved, and is told apart when it is copied.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "git/repository.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/randomness.h"

namespace dibs {

struct WorktreeIdentity {
  WorktreeId id;
  std::string branch;  // when it was made
  std::string root;
  std::int64_t created_unix_ms = 0;
  std::optional<std::int64_t> relocated_unix_ms;
  std::optional<std::string> moved_from;  // set by the call that noticed the move
};

// Reads it and changes nothing; nothing when the worktree has none yet.
[[nodiscard]] Result<std::optional<WorktreeIdentity>> find_worktree_identity(
    FileSystem& files, const Repository& repository);

// Reads it, makes it on the first call, and notes a move. The common case writes nothing.
[[nodiscard]] Result<WorktreeIdentity> worktree_identity(FileSystem& files, Clock& clock,
                                                         Random& random,
                                                         const Repository& repository);

// For a worktree that is yet to be made: a lease can be taken under the name it will have, so that
// nobody works where nothing is held.
[[nodiscard]] WorktreeId new_worktree_id(Random& random);
// Gives a worktree that has just been made the name that was promised to it. It is not flushed, as
// the worktree is not: one that loses its name to a power loss gets a new one.
[[nodiscard]] Result<WorktreeIdentity> put_worktree_identity(FileSystem& files, Clock& clock,
                                                             const Repository& repository,
                                                             const WorktreeId& id);

}  // namespace dibs
