// What a team says about its agents, in .dibs/agents.toml: what they can do, how much at once and
// at what cost. `next` weighs items for a worker by it; who is not in the file gets the defaults.
//
//   [agent."agent:copilot-*"]
//   capabilities = ["rust"]
//   types = ["bug"]
//   economical = true
//   capacity = 3
//   cost = 0.5
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/agent.h"

namespace dibs {

inline constexpr std::size_t kAgentsFileBytesMax = 256UL * 1024;
inline constexpr std::size_t kProfilesMax = 1000;
inline constexpr std::size_t kProfileWordsMax = 100;
inline constexpr std::uint32_t kCapacityMax = 1000;
inline constexpr std::uint32_t kCostMax = 100;

struct AgentProfile {
  std::string agents;                     // one agent, or with '*' at its end all that begin so
  std::vector<std::string> capabilities;  // the X of the labels needs:X that it may take
  std::vector<std::string> types;         // of items it is meant for; others are not kept from it
  bool economical = false;                // for what asks for no capability
  std::uint32_t capacity = 1;             // items it can hold at once
  std::uint32_t cost_hundredths = 0;      // 100: what is usual

  friend bool operator==(const AgentProfile&, const AgentProfile&) = default;
};

// Errors name file and line, and the nearest valid key.
[[nodiscard]] Result<std::vector<AgentProfile>> parse_agent_profiles(std::string_view toml,
                                                                     const std::string& file);

// The profile that names the agent, or else the longest beginning of its name; the defaults when
// none fits.
[[nodiscard]] AgentProfile profile_of(std::span<const AgentProfile> profiles, const AgentId& agent);

}  // namespace dibs
