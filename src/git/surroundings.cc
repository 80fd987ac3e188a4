#include "git/surroundings.h"

namespace dibs {

Result<std::unique_ptr<FileLock>> lock_worktrees(const Surroundings& around) {
  return around.files.lock(around.directory + "/locks/worktrees.lock", Patience::wait_long,
                           around.file_mode);
}

}  // namespace dibs
