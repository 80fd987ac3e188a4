#include "verbs/dead_locks.h"

#include "git/repository.h"

namespace dibs::verbs {

void remove_dead_locks(FileSystem& files, const std::string& worktree) {
  const Result<Repository> repository = find_repository(files, worktree);
  if (!repository || !repository->is_linked()) return;
  for (const char* name : {"/index.lock", "/HEAD.lock"})
    (void)files.remove(repository->git_dir + name);
  const std::string branch = current_branch(files, *repository);
  if (!branch.empty())
    (void)files.remove(repository->common_dir + "/refs/heads/" + branch + ".lock");
}

}  // namespace dibs::verbs
