// A change of the local store that also moves refs of the repository, written down before it
// begins: `.git/dibs/landing.json`. The log and git's refs are two places; with this, whoever comes
// after a crash can tell how far the change got, and finish it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/ref_move.h"

namespace dibs {

struct PendingLanding {
  std::vector<RefMove> refs;
  std::string line;  // of the log, with its newline
  std::string reason;
};

[[nodiscard]] std::string to_json(const PendingLanding& landing);
[[nodiscard]] Result<PendingLanding> pending_landing_from_json(std::string_view text);

}  // namespace dibs
