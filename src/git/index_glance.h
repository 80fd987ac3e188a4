// What is out of the ordinary in an index, told from the file itself: that spares a git process
// wherever only that is the question. Format: git's Documentation/gitformat-index.
#pragma once

#include <optional>
#include <string_view>

#include "git/repository.h"
#include "sys/file_system.h"

namespace dibs {

struct IndexGlance {
  bool marked = false;      // some entry is assumed unchanged, or not in the work tree
  bool submodules = false;  // some entry is one
};

// Nothing when it is of a kind that only git should read: another version, split or sparse.
[[nodiscard]] std::optional<IndexGlance> glance_at_index(std::string_view bytes,
                                                         std::size_t object_bytes);
// Of a worktree; also nothing when there is no index, or it cannot be read.
[[nodiscard]] std::optional<IndexGlance> glance_at_index_of(FileSystem& files,
                                                            const Repository& worktree);

}  // namespace dibs
