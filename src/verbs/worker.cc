#include "verbs/worker.h"

#include <algorithm>

#include "verbs/claim.h"

namespace dibs::verbs {

namespace {

Result<std::optional<std::string>> agents_file(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  return workspace.system().files.read_file((*repository)->root + "/.dibs/agents.toml",
                                            kAgentsFileBytesMax);
}

}  // namespace

Result<std::optional<Worker>> worker_asking(Workspace& workspace) {
  const Result<std::optional<std::string>> toml = agents_file(workspace);
  if (!toml) return fail(toml.error());
  if (!toml->has_value()) return std::nullopt;
  const Result<std::vector<AgentProfile>> profiles =
      parse_agent_profiles(**toml, ".dibs/agents.toml");
  if (!profiles) return fail(profiles.error());
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  Worker worker;
  worker.profile = profile_of(*profiles, *agent);
  const Result<std::vector<ListedLease>> held =
      list(workspace, {.agent_id = agent->text, .stale = false, .own_session = false});
  if (!held) return fail(held.error());
  worker.held = static_cast<std::uint32_t>(held->size());
  return worker;
}

Result<Schedule> schedule_of(Workspace& workspace) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const auto number = [&](std::string_view key) { return (*settings)->integer(key); };
  return Schedule{.weights = {.priority = number("schedule.priority"),
                              .path = number("schedule.path"),
                              .path_most = number("schedule.path_most"),
                              .estimate = number("schedule.estimate"),
                              .age = number("schedule.age"),
                              .capability = number("schedule.capability"),
                              .economical = number("schedule.economical"),
                              .load = number("schedule.load"),
                              .cost = number("schedule.cost"),
                              .success = number("schedule.success"),
                              .same_files = number("schedule.same_files")},
                  .oldest_every = static_cast<std::uint32_t>(number("schedule.oldest_every")),
                  .overlapping = (*settings)->text("schedule.overlapping") == "never"
                                     ? Overlapping::never
                                     : Overlapping::last};
}

}  // namespace dibs::verbs
