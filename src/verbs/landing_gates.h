// Which gates a landing has to pass, and what its commits say about that.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "verbs/gates.h"
#include "verbs/landing.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct LandingGates {
  std::vector<Gate> to_pass;
  // "Dibs-Gates: lint, test": it is on the target only if those passed. Or why they were skipped.
  std::string trailer;
};

// Refused when one is not trusted, or a required one is to be skipped for no reason.
[[nodiscard]] Result<LandingGates> landing_gates(Workspace& workspace, const Land& request);

}  // namespace dibs::verbs
