// `gate list`, `gate pass` and `gate run`.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/commits.h"
#include "verbs/claim.h"
#include "verbs/gates.h"
#include "verbs/item_names.h"
#include "verbs/landing.h"
#include "verbs/trust.h"
#include "verbs/work_site.h"

namespace dibs::verbs {

namespace {

Result<Resource> whole_item_name(Workspace& workspace, const std::string& text) {
  Result<Resource> item = parse_item(text);
  if (!item) return item;
  return resolved(workspace, *std::move(item));
}

Error no_such_gate(const std::string& name) {
  return {.kind = ErrorKind::not_found,
          .message = fmt::format("there is no gate '{}'", printable(name)),
          .hint = "see those there are: dibs gate list",
          .fields = {}};
}

// Where the work on an item stands; empty when nobody works on it in this clone.
Result<std::string> work_on(Workspace& workspace, const Resource& item) {
  const Result<Status> now = status(workspace, item.key().text);
  if (!now) return fail(now.error());
  for (const ListedLease& entry : now->leases) {
    const Result<std::optional<FoundWorktree>> worktree =
        worktree_called(workspace, entry.lease.worktree);
    if (!worktree) return fail(worktree.error());
    if (!worktree->has_value()) continue;
    return Commits(workspace.system().files, workspace.system().git,
                   (*worktree)->repository.git_dir)
        .resolve("HEAD");
  }
  return std::string();
}

Result<GateSubject> subject_of(Workspace& workspace, const WorkSite& site, const Gate& gate) {
  if (!site.lease) {
    return fail(ErrorKind::refused,
                fmt::format("you do not hold {}", printable(site.item.key().text)),
                fmt::format("take it first: dibs start {}", shell_word(site.item.name)));
  }
  const Result<LandingPreview> preview = preview_landing(workspace, site);
  if (!preview) return fail(preview.error());
  const bool before = gate.stage == GateStage::precheck;
  return GateSubject{.item = site.item.name,
                     .branch = site.branch,
                     .target = preview->target,
                     .commit = before ? preview->work : preview->commit,
                     .work = before ? std::string() : preview->work,
                     .directory = before ? site.worktree.repository.root : std::string(),
                     .who = site.who,
                     .lease = *site.lease};
}

// The one that was asked for, or all postchecks that are commands.
Result<std::vector<Gate>> chosen_gates(Workspace& workspace, const GateRun& request) {
  if (!request.gate) {
    Result<std::vector<Gate>> all = gates_of(workspace, GateStage::postcheck);
    if (all) std::erase_if(*all, &Gate::manual);
    return all;
  }
  for (const GateStage stage : {GateStage::postcheck, GateStage::precheck}) {
    Result<std::vector<Gate>> gates = gates_of(workspace, stage);
    if (!gates) return gates;
    std::erase_if(*gates, [&](const Gate& gate) { return gate.command.name != *request.gate; });
    if (!gates->empty()) return gates;
  }
  return fail(no_such_gate(*request.gate));
}

}  // namespace

Result<std::vector<ListedGate>> gate_list(Workspace& workspace,
                                          const std::optional<std::string>& item) {
  const Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  std::vector<GateResult> results;
  if (item) {
    const Result<Resource> whole = whole_item_name(workspace, *item);
    if (!whole) return fail(whole.error());
    Result<std::vector<GateResult>> kept = gate_results(workspace, whole->name);
    if (!kept) return fail(kept.error());
    results = *std::move(kept);
  }
  std::vector<ListedGate> listed;
  for (const Gate& gate : all->gates) {
    const auto last = std::ranges::find(results, gate.command.name, &GateResult::gate);
    listed.push_back(
        {.gate = gate,
         .may_run = check_trusted(workspace, {&gate.command, 1}).has_value(),
         .last = last == results.end() ? std::nullopt : std::optional<GateResult>(*last)});
  }
  return listed;
}

Result<GateResult> gate_pass(Workspace& workspace, const GatePass& request) {
  if (Done fine = check_reason(request.reason); !fine) return fail(fine.error());
  const Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  const auto gate =
      std::ranges::find(all->gates, request.gate, [](const Gate& one) { return one.command.name; });
  if (gate == all->gates.end()) return fail(no_such_gate(request.gate));
  if (!gate->manual) {
    return fail(
        ErrorKind::refused,
        fmt::format("the gate {} is a command, and passes when that succeeds", gate->command.name),
        fmt::format("run it: dibs gate run {} {}", shell_word(request.item),
                    shell_word(request.gate)));
  }
  const Result<Resource> item = whole_item_name(workspace, request.item);
  if (!item) return fail(item.error());
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  GateResult result{.gate = request.gate,
                    .outcome = GateOutcome::passed,
                    .at_unix_ms = workspace.system().clock.now().unix_ms,
                    .agent = agent->text,
                    .work = {},
                    .reason = request.reason,
                    .output = {}};
  if (gate->stage == GateStage::postcheck) {
    Result<std::string> work = work_on(workspace, *item);
    if (!work) return fail(work.error());
    if (work->empty()) {
      return fail(ErrorKind::refused,
                  fmt::format("nobody works on {} in this clone", printable(item->key().text)),
                  "see who does: dibs claim list");
    }
    result.work = *std::move(work);
  }
  if (Done kept = keep_gate_result(workspace, item->name, result); !kept) return fail(kept.error());
  return result;
}

Result<GatesRun> gate_run(Workspace& workspace, const GateRun& request) {
  const Result<std::vector<Gate>> gates = chosen_gates(workspace, request);
  if (!gates) return fail(gates.error());
  const Result<WorkSite> site = find_work_site(workspace, request.item);
  if (!site) return fail(site.error());
  GatesRun run{.item = site->item, .results = {}, .notes = {}};
  if (gates->empty()) return run;
  const Result<GateSubject> subject = subject_of(workspace, *site, gates->front());
  if (!subject) return fail(subject.error());
  Result<std::vector<std::string>> notes = pass_gates(workspace, *gates, *subject);
  if (!notes) return fail(notes.error());
  run.notes = *std::move(notes);
  Result<std::vector<GateResult>> results = gate_results(workspace, site->item.name);
  if (!results) return fail(results.error());
  std::ranges::copy_if(*results, std::back_inserter(run.results), [&](const GateResult& result) {
    return std::ranges::any_of(*gates,
                               [&](const Gate& gate) { return gate.command.name == result.gate; });
  });
  return run;
}

}  // namespace dibs::verbs
