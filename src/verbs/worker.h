// What is known about the agent that asks for work: what the team says it can do, what it holds,
// and how its work ended so far.
#pragma once

#include <optional>

#include "base/result.h"
#include "rules/choice.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// Nothing without `.dibs/agents.toml`: then all workers are alike, and nothing is looked up.
[[nodiscard]] Result<std::optional<Worker>> worker_asking(Workspace& workspace);

// Weights and the rest, as the settings say.
[[nodiscard]] Result<Schedule> schedule_of(Workspace& workspace);

}  // namespace dibs::verbs
