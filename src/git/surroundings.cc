#include "git/surroundings.h"

namespace dibs {

Result<std::unique_ptr<FileLock>> lock_worktrees(const Surroundings& around) {
  return around.files.lock(around.directory + "/locks/worktrees.lock", Patience::wait_long,
                           around.file_mode);
}

GitProgram::Call whole_tree_call(const Repository& worktree, std::vector<std::string> arguments) {
  return {.git_dir = worktree.git_dir,
          .arguments = std::move(arguments),
          .input = {},
          .most_ms = kWholeTreeMs,
          .work_tree = worktree.root,
          .settings = {"gc.auto=0", "maintenance.auto=false"}};
}

}  // namespace dibs
