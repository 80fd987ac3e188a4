// Waiting for a file lock that another process has, but not for ever: that process may be stopped.
// Used by the file system; nobody else waits.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace dibs {

// Takes the lock on an open file in turn, as the kernel gives it. An error, with the process if it
// can be found, when one and the same process has had it for `most_ms`; nobody goes on waiting
// after twice that. Uses SIGALRM, so of several threads that wait at once some may wait longer.
[[nodiscard]] Done wait_for_lock(int fd, const std::string& path, std::int64_t most_ms);

}  // namespace dibs
