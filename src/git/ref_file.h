// Where a ref stands, read from git's own files: starting git for it would cost more than what is
// usually done with the answer.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/file_system.h"

namespace dibs {

// The commit in hex; empty when there is no such ref. Symbolic refs are not followed.
[[nodiscard]] Result<std::string> ref_at(FileSystem& files, const std::string& git_dir,
                                         const std::string& ref);

}  // namespace dibs
