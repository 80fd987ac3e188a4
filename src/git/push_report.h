// What `git push --porcelain` said, read: whether all refs moved, and if not, why.
#pragma once

#include <string>
#include <vector>

#include "git/git_program.h"
#include "model/ref_move.h"

namespace dibs {

/// How a push ended. Only `moved` means that anything happened, and then all of it did.
struct PushEnd {
  enum class Kind {
    moved,
    lost,     // another was faster: a ref is not where it was seen
    refused,  // the remote will not have it, however often we try
    unsent,   // the remote could not be reached; nothing has happened
    unknown,  // it may have happened
  };
  Kind kind = Kind::unknown;
  std::string why;
  std::vector<std::string> lost_at = {};  // the refs that were not where they should be, if told
};

[[nodiscard]] PushEnd judge_push(const ProgramEnd& end, const std::vector<RefMove>& moves);

}  // namespace dibs
