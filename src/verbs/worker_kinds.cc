#include "verbs/worker_kinds.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/trust.h"

namespace dibs::verbs {

namespace {

Error unknown_kind(const std::string& name, const std::vector<WorkerKind>& kinds) {
  std::vector<std::string_view> known;
  for (const WorkerKind& kind : kinds) known.push_back(kind.command.name);
  const std::optional<std::string_view> near = nearest(name, known);
  return {.kind = ErrorKind::usage,
          .message = fmt::format("there is no worker '{}' in the configuration", printable(name)),
          .hint = near ? fmt::format("did you mean: --worker {}", *near)
                       : "see which there are: dibs trust --list",
          .fields = {}};
}

}  // namespace

Result<std::vector<WorkerKind>> worker_kinds(Workspace& workspace,
                                             const std::vector<std::string>& names) {
  Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  std::vector<WorkerKind>& kinds = all->workers;
  const auto name_of = [](const WorkerKind& kind) { return kind.command.name; };
  for (const std::string& name : names) {
    if (std::ranges::find(kinds, name, name_of) == kinds.end())
      return fail(unknown_kind(name, kinds));
  }
  if (names.empty()) return std::move(kinds);
  std::erase_if(kinds, [&](const WorkerKind& kind) {
    return std::ranges::find(names, kind.command.name) == names.end();
  });
  return std::move(kinds);
}

AgentProfile profile_of(const WorkerKind& kind) {
  const std::int64_t capacity = std::min<std::int64_t>(kind.count * kind.capacity, kCapacityMax);
  return {.agents = {},
          .capabilities = kind.labels,
          .types = {},
          .economical = kind.labels.empty(),
          .capacity = static_cast<std::uint32_t>(capacity),
          .cost_hundredths = kind.cost_hundredths};
}

Result<AgentId> agent_of_kind(const AgentId& agent, std::string_view kind) {
  const std::string end = "." + std::string(kind);
  if (agent.text.ends_with(end)) return agent;
  if (Result<AgentId> own = parse_agent_id(agent.text + end)) return own;
  return fail(ErrorKind::usage,
              fmt::format("'{}{}', as which that worker would work, is too long", agent.text, end),
              "choose a shorter name, for the worker or for yourself: "
              "export DIBS_AGENT_ID=agent:your-name");
}

Error nothing_ready(const std::vector<std::string>& labels, const std::vector<std::string>& kinds) {
  return {.kind = ErrorKind::nothing_ready,
          .message = fmt::format("nothing{} is ready{}", labels.empty() ? "" : " with these labels",
                                 kinds.empty() ? "" : " that these workers could take"),
          .hint = kinds.empty() ? "see what waits, and what for: dibs blocked"
                                : "see what others could take: dibs ready",
          .fields = {}};
}

}  // namespace dibs::verbs
