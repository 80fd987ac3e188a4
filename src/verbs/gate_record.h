// What gates said about an item last, and who passed one by hand and why. Kept in this
// clone, a file an item (.git/dibs/gates/ITEM.json), until the item lands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

inline constexpr std::size_t kGateOutputMax = 16UL * 1024;  // of one gate, the last of it

enum class GateOutcome { passed, failed, timed_out, stopped };
[[nodiscard]] std::string_view name_of(GateOutcome outcome);

struct GateResult {
  std::string gate;
  GateOutcome outcome = GateOutcome::failed;
  int exit_code = 0;
  std::int64_t at_unix_ms = 0;
  std::int64_t took_ms = 0;
  std::string agent;
  std::string work;    // the commit of the worker's branch; empty: before there was any
  std::string reason;  // of what was passed by hand
  std::string output;  // the last of it
};

// At most one for each gate: the last.
[[nodiscard]] Result<std::vector<GateResult>> gate_results(Workspace& workspace,
                                                           const std::string& item);
[[nodiscard]] Done keep_gate_result(Workspace& workspace, const std::string& item,
                                    const GateResult& result);
[[nodiscard]] Done forget_gate_results(Workspace& workspace, const std::string& item);

}  // namespace dibs::verbs
