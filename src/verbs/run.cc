#include "verbs/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "verbs/gates.h"
#include "verbs/item_view.h"
#include "verbs/observe.h"
#include "verbs/run_loop.h"
#include "verbs/run_recovery.h"
#include "verbs/trust.h"
#include "verbs/worker_kinds.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kLeftMax = 100'000;

Result<RunIdentity> identity_of(Workspace& workspace) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  System& system = workspace.system();
  RunIdentity who{.run = "run-" + make_ulid(system.clock.now().unix_ms, system.random.bytes<10>()),
                  .agent = agent->text,
                  .pid = system.machine.own_pid(),
                  .directory = system.current_directory,
                  .global_words = {}};
  const Result<std::string> configured = workspace.configured_store();
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!configured) return fail(configured.error());
  if (!backend) return fail(backend.error());
  if (*configured != (*backend)->kind)
    who.global_words = {"--store", std::string((*backend)->kind)};
  return who;
}

// How much there may be to do, for whoever wants to know how long it takes; a guess, since what
// waits for others is not among it.
std::size_t items_left(Workspace& workspace, const Run& request) {
  const Result<ItemListing> ready =
      ready_items(workspace, {.state = std::nullopt, .labels = request.labels, .most = kLeftMax});
  return ready ? ready->items.size() : 0;
}

Result<std::int64_t> beat_pace_ms(Workspace& workspace) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  return (*settings)->integer("coordination.heartbeat_interval_secs") * 1000;
}

std::vector<std::string> names_of(const std::vector<RunKind>& kinds) {
  std::vector<std::string> names;
  for (const RunKind& kind : kinds) {
    if (!kind.name.empty()) names.push_back(kind.name);
  }
  return names;
}

std::optional<Error> error_of(const RunLoop& loop, const Run& request) {
  if (loop.error()) return loop.error();
  const DispatchTotals totals = loop.dispatch().totals();
  if (loop.dispatch().is_draining()) return std::nullopt;
  if (totals.commands == 0) return nothing_ready(request.labels, names_of(request.kinds));
  if (totals.parked == 0) return std::nullopt;
  return Error{.kind = ErrorKind::refused,
               .message = fmt::format("{} item{} failed too often", totals.parked,
                                      totals.parked == 1 ? "" : "s"),
               .hint = "see what they said: dibs item list --state pending",
               .fields = {}};
}

// Every item would fail for the same reason, until all are parked.
Done check_gates_trusted(Workspace& workspace) {
  for (const GateStage stage : {GateStage::precheck, GateStage::postcheck}) {
    if (const Result<std::vector<Gate>> gates = gates_of(workspace, stage); !gates)
      return fail(gates.error());
  }
  return {};
}

RunSummary summary_of(const RunLoop& loop, const RunIdentity& who, const Run& request) {
  const Dispatch& dispatch = loop.dispatch();
  RunSummary summary{.run = who.run,
                     .totals = dispatch.totals(),
                     .workers = limits_of(request).all_workers(),
                     .elapsed_ms = loop.elapsed_ms(),
                     .interrupted = dispatch.is_draining() && !loop.error()};
  for (std::size_t kind = 0; kind < request.kinds.size(); ++kind) {
    if (!request.kinds[kind].name.empty())
      summary.kinds.push_back({.kind = request.kinds[kind], .totals = dispatch.totals_of({kind})});
  }
  return summary;
}

}  // namespace

Result<std::vector<RunKind>> configured_kinds(Workspace& workspace,
                                              const std::vector<std::string>& names) {
  const Result<std::vector<WorkerKind>> configured = worker_kinds(workspace, names);
  if (!configured) return fail(configured.error());
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  std::vector<RunKind> kinds;
  std::vector<ConfiguredCommand> commands;
  std::size_t all = 0;
  for (const WorkerKind& kind : *configured) {
    const auto count = static_cast<std::size_t>(kind.count);
    if (const Result<AgentId> own = agent_of_kind(*agent, kind.command.name); !own)
      return fail(own.error());
    commands.push_back(kind.command);
    kinds.push_back({.name = kind.command.name,
                     .command = kind.command.words,
                     .workers = count,
                     .model = kind.model});
    all += count;
  }
  if (all > kWorkersMax)
    return fail(ErrorKind::usage,
                fmt::format("these are {} workers, and a run has {} at most", all, kWorkersMax),
                "choose some of them: dibs run --worker " + kinds.front().name);
  if (Done trusted = check_trusted(workspace, commands); !trusted) return fail(trusted.error());
  return kinds;
}

std::string_view name_of(RunEvent::What what) {
  using What = RunEvent::What;
  switch (what) {
    case What::begun:
      return "begun";
    case What::started:
      return "started";
    case What::landed:
      return "landed";
    case What::failed:
      return "failed";
    case What::parked:
      return "parked";
    case What::put_back:
      return "put_back";
    case What::lost:
      return "lost";
    case What::draining:
      return "draining";
    case What::warning:
      return "warning";
  }
  return "warning";
}

double RunSummary::utilisation() const {
  const auto all_ms = static_cast<double>(elapsed_ms) * static_cast<double>(workers);
  return all_ms <= 0 ? 0.0 : std::min(1.0, static_cast<double>(totals.busy_ms) / all_ms);
}

std::int64_t RunSummary::waiting_ms() const {
  const std::int64_t all_ms = elapsed_ms * static_cast<std::int64_t>(workers);
  return std::max<std::int64_t>(all_ms - totals.busy_ms, 0);
}

Result<RunEnd> run(Workspace& workspace, const Run& request, const RunWatch& watch) {
  const Result<RunIdentity> who = identity_of(workspace);
  if (!who) return fail(who.error());
  if (Done trusted = check_gates_trusted(workspace); !trusted) return fail(trusted.error());
  // From here on an interrupt ends the run in order, and does not leave its mark behind.
  Result<Children> children = Children::make();
  if (!children) return fail(children.error());
  Result<RunMark> mark = RunMark::make(workspace, who->run);
  if (!mark) return fail(mark.error());
  const Result<std::size_t> recovered = recover_runs(workspace);
  if (!recovered) return fail(recovered.error());
  const Result<History> past = events(workspace, {.since = 0, .resource = {}, .limit = 1});
  if (!past) return fail(past.error());
  const Result<std::int64_t> beat_every_ms = beat_pace_ms(workspace);
  if (!beat_every_ms) return fail(beat_every_ms.error());
  const std::size_t left = watch.on_frame ? items_left(workspace, request) : 0;
  watch.on_event(
      {.what = RunEvent::What::begun,
       .item = {},
       .worker = std::nullopt,
       .text = *recovered == 0
                   ? std::string()
                   : fmt::format("{} worktree{} of runs that were killed {} cleared up", *recovered,
                                 *recovered == 1 ? "" : "s", *recovered == 1 ? "was" : "were")});
  RunLoop loop({.files = workspace.system().files,
                .clock = workspace.system().clock,
                .children = *children,
                .who = *who,
                .request = request,
                .watch = watch,
                .beat_every_ms = *beat_every_ms,
                .left = left});
  loop.run(past->cursor.seq);
  RunEnd end{.summary = summary_of(loop, *who, request), .error = error_of(loop, request)};
  mark->clear();
  return end;
}

}  // namespace dibs::verbs
