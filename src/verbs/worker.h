// What is known about whoever asks for work: what the team says it can do, what it holds, and how
// its work ended so far. It is this agent, or kinds of workers that somebody asks for.
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
  std::string kind;   // the name of its [workers.NAME]; empty: the agent itself
  std::string model;  // as its kind says
  Worker worker;      // without its record: past_of knows that
  AgentId agent;
  std::vector<AgentProfile> profiles;  // everybody's
  std::vector<Key> holds;
};
// These kinds. Without any it is this agent; and nobody without `.dibs/agents.toml`: then all
// agents are alike, and nothing is looked up.
[[nodiscard]] Result<std::vector<AskingWorker>> workers_asking(
    Workspace& workspace, const std::vector<std::string>& kinds);

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
