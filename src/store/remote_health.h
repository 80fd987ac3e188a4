// What a git remote is set to that a claim would suffer from: what it denies, whether it flushes,
// how long it waits for its locks, how many refs it has. For `dibs doctor`.
//
// A remote does not tell its clients how it is configured, and a push that is only rehearsed never
// reaches the checks. So all but the number of refs is read where the remote is a path on this
// machine; of any other it is said that it cannot be known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/git_program.h"
#include "store/upkeep.h"
#include "sys/file_system.h"

namespace dibs {

/// Of the git directory `common_dir`, the remote `name`; dibs was seen to have so many refs there.
struct RemoteInQuestion {
  std::string common_dir;
  std::string name;
  std::size_t lock_refs = 0;
};
[[nodiscard]] std::vector<Finding> remote_health(FileSystem& files, const GitProgram& git,
                                                 const RemoteInQuestion& remote);

// The path that a remote's address means, seen from `place`; nothing when it is on a server.
[[nodiscard]] std::optional<std::string> path_of_address(std::string_view address,
                                                         const std::string& place);
// Whether a core.fsync of this value flushes what a push brings, and the refs it moves.
[[nodiscard]] bool flushes_pushes(std::string_view core_fsync);

}  // namespace dibs
