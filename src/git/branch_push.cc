#include "git/branch_push.h"

#include <fmt/core.h>

namespace dibs {

Result<PushEnd> push_branch(const GitProgram& git, const std::string& git_dir,
                            const std::string& remote, const RefMove& move) {
  const Result<ProgramEnd> end = git.run(
      {.git_dir = git_dir,
       .arguments = {"push", "--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no",
                     fmt::format("--force-with-lease={}:{}", move.name, move.from), "--", remote,
                     move.to + ":" + move.name},
       .input = {},
       .settings = {"push.followTags=false"}});
  if (!end) return fail(end.error());
  return judge_push(*end, {move});
}

}  // namespace dibs
