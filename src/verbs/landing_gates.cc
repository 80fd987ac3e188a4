#include "verbs/landing_gates.h"

#include <fmt/core.h>

#include "base/json.h"
#include "base/text.h"
#include "verbs/trust.h"

namespace dibs::verbs {

namespace {

// Nothing runs, so nothing has to be trusted.
Result<LandingGates> skipped(Workspace& workspace, const Land& request) {
  if (Done fine = check_reason(request.reason); !fine) return fail(fine.error());
  Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  std::erase_if(all->gates, [](const Gate& gate) { return gate.stage != GateStage::postcheck; });
  const std::string required = names_of_required(all->gates);
  if (required.empty()) return LandingGates{};
  if (!trim(request.reason).empty()) {
    return LandingGates{
        .to_pass = {},
        .trailer = fmt::format("Dibs-Gates-Skipped: {} ({})", required, trim(request.reason))};
  }
  return fail(Error{.kind = ErrorKind::refused,
                    .message = fmt::format("{} must pass, and nobody says why not", required),
                    .hint = "say so; it is written into the commit: "
                            "dibs done --no-gates --reason TEXT",
                    .fields = {{"gate", json_string(required)}}});
}

}  // namespace

Result<LandingGates> landing_gates(Workspace& workspace, const Land& request) {
  if (request.gates == Land::Gates::skip) return skipped(workspace, request);
  Result<std::vector<Gate>> gates = gates_of(workspace, GateStage::postcheck);
  if (!gates) return fail(gates.error());
  const std::string required = names_of_required(*gates);
  return LandingGates{.to_pass = *std::move(gates),
                      .trailer = required.empty() ? "" : "Dibs-Gates: " + required};
}

}  // namespace dibs::verbs
