#include "model/agent_profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "model/item.h"
#include "model/toml_members.h"

namespace dibs {

namespace {

using toml_members::read_flag;
using toml_members::read_member;
using toml_members::read_words;
using toml_members::wrong;

bool read_capacity(const toml::node& node, AgentProfile& profile) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number || *number < 1 || *number > kCapacityMax) return false;
  profile.capacity = static_cast<std::uint32_t>(*number);
  return true;
}

bool read_cost(const toml::node& node, AgentProfile& profile) {
  if (!node.is_number()) return false;
  const double number = *node.value<double>();
  if (!(number >= 0 && number <= kCostMax)) return false;  // this way round it refuses nan too
  profile.cost_hundredths = static_cast<std::uint32_t>(std::lround(number * 100));
  return true;
}

constexpr std::array<toml_members::Member<AgentProfile>, 5> kMembers{{
    {.name = "capabilities",
     .read = [](const toml::node& node,
                AgentProfile& to) { return read_words(node, to.capabilities); },
     .wanted = "a list of at most 100 words, like this: [\"rust\"]"},
    {.name = "types",
     .read = [](const toml::node& node, AgentProfile& to) { return read_words(node, to.types); },
     .wanted = "a list of at most 100 words, like this: [\"bug\"]"},
    {.name = "economical",
     .read = [](const toml::node& node,
                AgentProfile& to) { return read_flag(node, to.economical); },
     .wanted = "true or false"},
    {.name = "capacity", .read = read_capacity, .wanted = "a whole number from 1 to 1000"},
    {.name = "cost", .read = read_cost, .wanted = "a number from 0 to 100"},
}};

// Whether an agent can be called so, or begin so when there is a star.
bool names_agents(std::string_view agents) {
  if (!agents.ends_with('*')) return parse_agent_id(agents).has_value();
  const std::string begin(agents.substr(0, agents.size() - 1));
  return begin.empty() || parse_agent_id(begin + "a") || parse_agent_id(begin + ":a");
}

constexpr std::string_view kExample = R"(write it like this: [agent."agent:copilot-*"])";

Result<AgentProfile> read_profile(const toml::key& key, const toml::node& node,
                                  const std::string& file) {
  const toml::table* members = node.as_table();
  if (members == nullptr || !names_agents(key.str())) {
    return wrong(file, key.source(),
                 fmt::format("'{}' names no agent and no beginning of agents with a '*' after it",
                             printable(key.str())),
                 std::string(kExample));
  }
  AgentProfile profile{.agents = std::string(key.str())};
  for (const auto& [name, value] : *members) {
    if (const Done read = read_member(file, "profile", kMembers, name, value, profile); !read)
      return fail(read.error());
  }
  return profile;
}

Result<toml::table> parse_file(std::string_view text, const std::string& file) {
  if (text.size() > kAgentsFileBytesMax) {
    return fail(ErrorKind::usage, fmt::format("{} is too large", printable(file)),
                fmt::format("it may have {} KiB; name many agents at once with a '*'",
                            kAgentsFileBytesMax / 1024));
  }
  return parse_toml(text, file);
}

// How much of the agent's name a profile says; nothing when it is not about that agent.
std::size_t fit(const AgentProfile& profile, std::string_view agent) {
  const std::string_view agents = profile.agents;
  if (agents == agent) return agent.size() + 2;
  const bool begins =
      agents.ends_with('*') && agent.starts_with(agents.substr(0, agents.size() - 1));
  return begins ? agents.size() : 0;
}

}  // namespace

Result<std::vector<AgentProfile>> parse_agent_profiles(std::string_view text,
                                                       const std::string& file) {
  const Result<toml::table> table = parse_file(text, file);
  if (!table) return fail(table.error());
  std::vector<AgentProfile> profiles;
  for (const auto& [section, content] : *table) {
    const toml::table* agents = content.as_table();
    if (section.str() != "agent" || agents == nullptr) {
      return wrong(file, section.source(),
                   fmt::format("'{}' is no agent", printable(section.str())),
                   std::string(kExample));
    }
    for (const auto& [name, node] : *agents) {
      if (profiles.size() == kProfilesMax) {
        return wrong(file, name.source(), fmt::format("more than {} agents", kProfilesMax),
                     "name many agents at once with a '*'");
      }
      Result<AgentProfile> profile = read_profile(name, node, file);
      if (!profile) return fail(profile.error());
      profiles.push_back(std::move(*profile));
    }
  }
  return profiles;
}

AgentProfile profile_of(std::span<const AgentProfile> profiles, const AgentId& agent) {
  const auto best = std::ranges::max_element(
      profiles, {}, [&](const AgentProfile& profile) { return fit(profile, agent.text); });
  if (best == profiles.end() || fit(*best, agent.text) == 0) return {};
  return *best;
}

}  // namespace dibs
