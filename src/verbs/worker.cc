#include "verbs/worker.h"

#include <algorithm>

#include "model/resource.h"
#include "rules/track_record.h"
#include "verbs/claim.h"
#include "verbs/worker_kinds.h"

namespace dibs::verbs {

namespace {

// How far back a record goes: enough to tell, and read in a few milliseconds.
constexpr std::uint64_t kPastEntries = 10'000;
constexpr std::size_t kPastEndsMax = 200;  // leases of these agents that ended

Result<std::optional<std::string>> agents_file(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  return workspace.system().files.read_file((*repository)->root + "/.dibs/agents.toml",
                                            kAgentsFileBytesMax);
}

// The item that a lease is on; nothing when it is none, or gone.
Result<std::optional<std::uint32_t>> item_of(const Catalog& catalog, const Key& key) {
  const std::optional<Resource> resource = resource_of(key);
  if (!resource || resource->kind != ResourceKind::item) return std::nullopt;
  return catalog.find(resource->name);
}

// What every event of the agents in question mentions.
std::string mention_of(const AskingWorker& asking) {
  std::string agents = asking.worker.profile.agents;
  if (agents.empty()) return asking.agent.text;
  if (agents.ends_with('*')) agents.pop_back();
  return agents;
}

/// What the catalog says about the items of the past. What it cannot read is left out.
class PastItems {
 public:
  PastItems(const Catalog& catalog, const ItemColumns& columns)
      : catalog_(catalog), columns_(columns) {}

  [[nodiscard]] std::optional<std::string> type_of(const Key& key) const {
    const auto number = item_of(catalog_, key);
    if (!number || !number->has_value()) return std::nullopt;
    const Result<Catalog::Words> words = catalog_.words(**number);
    return words ? std::optional(std::string(words->type)) : std::nullopt;
  }

  [[nodiscard]] bool is_finished(const Key& key) const {
    const auto number = item_of(catalog_, key);
    return number && number->has_value() && dibs::is_finished(columns_.kinds[**number]);
  }

 private:
  const Catalog& catalog_;
  const ItemColumns& columns_;
};

// How leases of the agents in question ended lately.
Result<std::vector<PastEvent>> newest_events(Workspace& workspace, const AskingWorker& asking) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  Result<History> history =
      (*ledger)->store().history({.since = {},
                                  .resource = {},
                                  .mentioning = mention_of(asking),
                                  .newest = kPastEndsMax,
                                  .ops = {kLeaseEnds.begin(), kLeaseEnds.end()},
                                  .last_entries = kPastEntries});
  if (!history) return fail(history.error());
  return std::move(history->events);
}

bool is_alike(const AskingWorker& asking, const AgentId& agent) {
  if (asking.worker.profile.agents.empty()) return agent == asking.agent;
  return dibs::profile_of(asking.profiles, agent).agents == asking.worker.profile.agents;
}

Done add_items(std::vector<std::uint32_t>& items, const Catalog& catalog,
               const std::vector<Key>& keys) {
  for (const Key& key : keys) {
    const Result<std::optional<std::uint32_t>> number = item_of(catalog, key);
    if (!number) return fail(number.error());
    if (number->has_value()) items.push_back(**number);
  }
  return {};
}

Done learn_holds(Workspace& workspace, AskingWorker& asking) {
  const Result<std::vector<ListedLease>> held =
      list(workspace, {.agent_id = asking.agent.text, .stale = false, .own_session = false});
  if (!held) return fail(held.error());
  asking.worker.held = static_cast<std::uint32_t>(held->size());
  for (const ListedLease& entry : *held) asking.holds.push_back(entry.resource);
  return {};
}

Result<std::optional<AskingWorker>> agent_asking(Workspace& workspace) {
  const Result<std::optional<std::string>> toml = agents_file(workspace);
  if (!toml) return fail(toml.error());
  if (!toml->has_value()) return std::nullopt;
  Result<std::vector<AgentProfile>> profiles = parse_agent_profiles(**toml, ".dibs/agents.toml");
  if (!profiles) return fail(profiles.error());
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  AskingWorker asking{.kind = {},
                      .model = {},
                      .worker = {},
                      .agent = *agent,
                      .profiles = *std::move(profiles),
                      .holds = {}};
  asking.worker.profile = dibs::profile_of(asking.profiles, *agent);
  if (Done learnt = learn_holds(workspace, asking); !learnt) return fail(learnt.error());
  return asking;
}

// What its table says counts, and not what .dibs/agents.toml says of agents with such a name.
Result<AskingWorker> kind_asking(Workspace& workspace, const WorkerKind& kind) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  Result<AgentId> own = agent_of_kind(*agent, kind.command.name);
  if (!own) return fail(own.error());
  AskingWorker asking{.kind = kind.command.name,
                      .model = kind.model,
                      .worker = {.profile = profile_of(kind), .held = 0, .record = {}},
                      .agent = *std::move(own),
                      .profiles = {},
                      .holds = {}};
  if (Done learnt = learn_holds(workspace, asking); !learnt) return fail(learnt.error());
  return asking;
}

}  // namespace

Result<WorkerPast> past_of(Workspace& workspace, const AskingWorker& asking,
                           const Catalog& catalog) {
  const Result<std::vector<PastEvent>> events = newest_events(workspace, asking);
  if (!events) return fail(events.error());
  const Result<const ItemColumns*> columns = catalog.columns();
  if (!columns) return fail(columns.error());
  const PastItems items(catalog, **columns);
  const TrackRecord track =
      track_record_of(asking.agent, *events,
                      {.counts = [&](const AgentId& agent) { return is_alike(asking, agent); },
                       .type_of = [&](const Key& key) { return items.type_of(key); },
                       .is_finished = [&](const Key& key) { return items.is_finished(key); }});
  WorkerPast past{.record = track.types, .worked_on = {}};
  for (const std::vector<Key>* keys : {&track.landed_last, &asking.holds}) {
    if (Done added = add_items(past.worked_on, catalog, *keys); !added) return fail(added.error());
  }
  return past;
}

Result<std::vector<AskingWorker>> workers_asking(Workspace& workspace,
                                                 const std::vector<std::string>& kinds) {
  std::vector<AskingWorker> asking;
  if (kinds.empty()) {
    Result<std::optional<AskingWorker>> own = agent_asking(workspace);
    if (!own) return fail(own.error());
    if (own->has_value()) asking.push_back(**std::move(own));
    return asking;
  }
  const Result<std::vector<WorkerKind>> configured = worker_kinds(workspace, kinds);
  if (!configured) return fail(configured.error());
  for (const WorkerKind& kind : *configured) {
    Result<AskingWorker> one = kind_asking(workspace, kind);
    if (!one) return fail(one.error());
    asking.push_back(*std::move(one));
  }
  return asking;
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
