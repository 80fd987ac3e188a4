// What becomes of files that conflict when work lands, where the configuration says so
// ([[conflicts]]): one side's version, or what a resolver makes of both. Everything else is left to
// the worker, as without a rule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "verbs/landing_merge.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct ResolvedMerge {
  std::string tree;
  std::string trailer;             // "Dibs-Resolved: a.lock (theirs)"
  std::vector<std::string> notes;  // the same for the person
};

// Nothing: some of it is for a person to mend. Refused when a resolver fails, or is not trusted.
[[nodiscard]] Result<std::optional<ResolvedMerge>> resolve_conflicts(Workspace& workspace,
                                                                     const Landable& landable,
                                                                     const std::string& onto);

}  // namespace dibs::verbs
