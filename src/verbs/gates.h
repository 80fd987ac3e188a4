// Gates: what has to be passed before a claim becomes work (prechecks) and before work lands
// (postchecks, on the merged result). `start` and `done` call this, and so does `gate run`. The
// lease is kept alive while a gate runs; if it is lost, the gate is stopped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/configured.h"
#include "model/resource.h"
#include "rules/claim.h"
#include "verbs/gate_record.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// What gates look at.
struct GateSubject {
  std::string item;
  std::string branch;
  std::string target;
  std::string commit;     // that is looked at
  std::string work;       // the worker's own; empty before there is any
  std::string directory;  // where it is checked out; empty: a worktree is made for it
  Claimant who;
  Lease lease;
};

// Of one stage. Refused when one came with the repository and is not trusted.
[[nodiscard]] Result<std::vector<Gate>> gates_of(Workspace& workspace, GateStage stage);

// Refused when one that is required fails, or was not passed by hand. Notes are of those that
// failed and are not required.
[[nodiscard]] Result<std::vector<std::string>> pass_gates(Workspace& workspace,
                                                          const std::vector<Gate>& gates,
                                                          const GateSubject& subject);

// Refused when one that somebody has to pass by hand has not been passed for this work.
[[nodiscard]] Done check_passed_by_hand(Workspace& workspace, const std::vector<Gate>& gates,
                                        const std::string& item, const std::string& work);

// Whether every required one has been passed since then.
[[nodiscard]] Result<bool> all_passed_since(Workspace& workspace, const std::vector<Gate>& gates,
                                            const std::string& item, std::int64_t unix_ms);

// The names of those that are required, with commas between; empty when none is.
[[nodiscard]] std::string names_of_required(const std::vector<Gate>& gates);

struct ListedGate {
  Gate gate;
  bool may_run = true;
  std::optional<GateResult> last;  // about the item that was asked about
};
[[nodiscard]] Result<std::vector<ListedGate>> gate_list(Workspace& workspace,
                                                        const std::optional<std::string>& item);

struct GatePass {
  std::string item;
  std::string gate;
  std::string reason;
};
[[nodiscard]] Result<GateResult> gate_pass(Workspace& workspace, const GatePass& request);

struct GateRun {
  std::optional<std::string> item;  // none: what is held from this worktree
  std::optional<std::string> gate;  // none: all postchecks
};
struct GatesRun {
  Resource item;
  std::vector<GateResult> results;
  std::vector<std::string> notes;
};
// As `done` would, without landing.
[[nodiscard]] Result<GatesRun> gate_run(Workspace& workspace, const GateRun& request);

}  // namespace dibs::verbs
