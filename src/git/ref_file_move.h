// Moves one ref as git does it, without git: its lock appears, whole and at once, the ref is
// compared, and the lock becomes the ref. For a ref that git keeps no log of.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "git/local_refs.h"
#include "model/ref_move.h"
#include "sys/file_system.h"

namespace dibs {

/// Where the lock is made before it gets its name: a path on the same file system, which one
/// process uses at a time.
struct RefFilePlace {
  std::string common_dir;
  std::string prepared;
};

// Nothing where git should do it, and nothing has happened: the ref is not there yet, somebody has
// its lock, or the file system cannot do this. After an error nothing has happened either.
[[nodiscard]] Result<std::optional<LocalRefs::End>> move_ref_file(FileSystem& files,
                                                                  const RefFilePlace& place,
                                                                  const RefMove& move);

}  // namespace dibs
