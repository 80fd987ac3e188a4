// What is known about the agent that asks for work: what the team says it can do, what it holds,
// and how its work ended so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "items/catalog.h"
#include "rules/choice.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct AskingWorker {
  Worker worker;  // without its record: past_of knows that
  AgentId agent;
  std::vector<AgentProfile> profiles;  // everybody's
  std::vector<Key> holds;
};
// Nothing without `.dibs/agents.toml`: then all workers are alike, and nothing is looked up.
[[nodiscard]] Result<std::optional<AskingWorker>> worker_asking(Workspace& workspace);

/// What the newest part of the store's history says about a worker.
struct WorkerPast {
  std::vector<TypeRecord> record;        // of all agents that have the same profile
  std::vector<std::uint32_t> worked_on;  // items that it landed last, or holds
};
[[nodiscard]] Result<WorkerPast> past_of(Workspace& workspace, const AskingWorker& asking,
                                         const Catalog& catalog);

// Weights and the rest, as the settings say.
[[nodiscard]] Result<Schedule> schedule_of(Workspace& workspace);

}  // namespace dibs::verbs
