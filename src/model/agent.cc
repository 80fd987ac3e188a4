#include "model/agent.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {
constexpr std::string_view kLowercase = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kWordCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+-";
constexpr std::string_view kSessionCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+-:";

bool made_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// Long input is shown shortened: an error message is not the place for 10 KB.
std::string shown(std::string_view text) {
  constexpr std::size_t kShownMax = 60;
  if (text.size() <= kShownMax) return printable(text);
  return printable(text.substr(0, kShownMax)) + "…";
}
}  // namespace

Result<AgentId> parse_agent_id(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool well_formed = text.size() <= kAgentIdMax && colon != std::string_view::npos &&
                           made_of(text.substr(0, colon), kLowercase) &&
                           made_of(text.substr(colon + 1), kWordCharacters);
  if (well_formed) return AgentId{std::string(text)};
  return fail(ErrorKind::usage, fmt::format("'{}' is not an agent id", shown(text)),
              "use type:name with letters, digits and ._@+- in the name, for example: "
              "--agent-id agent:copilot-1");
}

Result<SessionId> parse_session_id(std::string_view text) {
  if (text.size() <= kSessionIdMax && made_of(text, kSessionCharacters)) {
    return SessionId{std::string(text)};
  }
  return fail(ErrorKind::usage, fmt::format("'{}' is not a session id", shown(text)),
              fmt::format("set DIBS_SESSION to at most {} letters, digits and ._:@+-, for example: "
                          "export DIBS_SESSION=run-1",
                          kSessionIdMax));
}

SessionId session_of(const AgentId& agent, const WorktreeId& worktree) {
  return SessionId{worktree.empty() ? agent.text : agent.text + "@" + worktree.text};
}

}  // namespace dibs
