// The kinds of workers that the configuration names ([workers.NAME]), as `run` starts them and as
// `next --worker` weighs items for them. A kind works under an agent id of its own, so that what it
// holds and how its work ended count for it alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/agent_profile.h"
#include "model/configured.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// Those of these names, in the order of their names and each once; all of them without any name.
[[nodiscard]] Result<std::vector<WorkerKind>> worker_kinds(Workspace& workspace,
                                                           const std::vector<std::string>& names);

// What speaks for it. Its labels are what it can do; one without any is for what asks for nothing.
// All of its workers together hold `count` times `capacity`.
[[nodiscard]] AgentProfile profile_of(const WorkerKind& kind);

// agent:me and fast: agent:me.fast. Who is that already stays it.
[[nodiscard]] Result<AgentId> agent_of_kind(const AgentId& agent, std::string_view kind);

// What `next` and `run` say when there is nothing with these labels for these kinds, or for this
// agent where none is named.
[[nodiscard]] Error nothing_ready(const std::vector<std::string>& labels,
                                  const std::vector<std::string>& kinds);

}  // namespace dibs::verbs
