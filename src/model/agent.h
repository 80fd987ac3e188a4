// Who: `type:name`, as in agent:copilot-1, human:alice, ci:nightly.
#pragma once

#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace dibs {

using AgentId = Id<struct AgentTag>;

inline constexpr std::size_t kAgentIdMax = 100;
inline constexpr std::size_t kSessionIdMax = 128;

[[nodiscard]] Result<AgentId> parse_agent_id(std::string_view text);

// A session given from outside (DIBS_SESSION): letters, digits and `. _ : @ + -`.
[[nodiscard]] Result<SessionId> parse_session_id(std::string_view text);

// The session of an agent that names none: this agent in this worktree. Not the calling shell,
// because agents run every command in a new one.
[[nodiscard]] SessionId session_of(const AgentId& agent, const WorktreeId& worktree);

}  // namespace dibs
