// Landing through gates. One at a time has the branch; with gates that take long, others wait
// meanwhile, and whoever has the branch takes their work along: all of it is merged, one on top of
// the other, and gated once. If that fails, half of it is tried, down to its own work alone. So
// whoever broke it is left at last, and is told; the others land.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "verbs/landing_gates.h"
#include "verbs/landing_step.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// What has passed the gates: the merge of `target`, where it stood, with some work.
struct Passed {
  std::string target;
  std::string commit;
};

// On top of each other, its own first. Who does not merge is left for its own turn, where it is
// told why.
[[nodiscard]] std::vector<Stacked> stack_up(Workspace& workspace, Stacked own,
                                            const std::vector<Landable>& others,
                                            const MergePlan& plan, const LandingGates& gates);

struct GatedLanding {
  Target target;
  std::string target_at;           // where the target stands now
  std::string commit;              // its own
  std::string item_state;          // what the item became
  std::vector<std::string> along;  // whose work landed with it
  std::vector<std::string> notes;
};
// `contended` when the target moved meanwhile, and the new merge has to pass the gates, unless they
// need not be asked again (gates.reuse): `passed` is kept from one call to the next for that.
// `lease_lost` also when somebody else has landed it, together with its own.
[[nodiscard]] Result<GatedLanding> land_through_gates(Workspace& workspace,
                                                      const Landable& landable, const Land& request,
                                                      const LandingGates& gates,
                                                      std::optional<Passed>& passed);

}  // namespace dibs::verbs
