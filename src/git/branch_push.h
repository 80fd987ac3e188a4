// One branch of a remote, moved from the user's own repository if it still is where it was seen:
// for changes that are a commit on a shared branch and nothing more. Leases move by
// git/remote_refs.
#pragma once

#include <string>

#include "base/result.h"
#include "git/git_program.h"
#include "git/push_report.h"
#include "model/ref_move.h"

namespace dibs {

// An error only when git could not be started.
[[nodiscard]] Result<PushEnd> push_branch(const GitProgram& git, const std::string& git_dir,
                                          const std::string& remote, const RefMove& move);

}  // namespace dibs
