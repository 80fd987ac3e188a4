// Removing a directory with all that is in it. It is no part of FileSystem: what goes so are
// scratch directories and work trees, which other programs filled.
#pragma once

#include <string>

#include "base/result.h"

namespace dibs {

// As much of it as can be, and an error when something stays. Fine when it is not there. Symbolic
// links go and are not followed; another file system that is mounted inside stays.
[[nodiscard]] Done remove_tree(const std::string& path);

}  // namespace dibs
