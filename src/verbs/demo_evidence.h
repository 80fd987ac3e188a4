// What came of a demo, found out by looking: at the target's history, at the events of the leases,
// at what is still there. Nothing is taken from what the workers or the run said, but for failed
// tries, which leave no other trace.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "verbs/demo_proof.h"
#include "verbs/demo_site.h"

namespace dibs::verbs {

// Everything but failures, the sleeper's exit and the run's error. `runs` are their names.
[[nodiscard]] Result<DemoEvidence> look_at(DemoSite& site, const DemoPlan& plan,
                                           const std::vector<std::string>& runs);

}  // namespace dibs::verbs
