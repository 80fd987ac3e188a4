#include "verbs/gates.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "verbs/gate_tree.h"
#include "verbs/last_words.h"
#include "verbs/lease_keeping.h"
#include "verbs/trust.h"

namespace dibs::verbs {

namespace {

std::string how_it_ended(const Gate& gate, const GateResult& result) {
  if (result.outcome == GateOutcome::timed_out)
    return fmt::format("took longer than {} s", gate.timeout_secs);
  return fmt::format("failed with exit code {}", result.exit_code);
}

Error failed(const Gate& gate, const GateSubject& subject, const GateResult& result) {
  return {.kind = ErrorKind::refused,
          .message = fmt::format("the gate {} {}{}", gate.command.name, how_it_ended(gate, result),
                                 last_words(result.output)),
          .hint = fmt::format("see all that was kept of it: dibs gate list {} --output",
                              shell_word(subject.item)),
          .fields = {{"gate", json_string(gate.command.name)},
                     {"exit_code", std::to_string(result.exit_code)},
                     {"timed_out", result.outcome == GateOutcome::timed_out ? "true" : "false"},
                     {"output", json_string(result.output)}}};
}

Error stopped(const Gate& gate) {
  return {.kind = ErrorKind::lease_lost,
          .message = fmt::format("the lease was lost while the gate {} ran", gate.command.name),
          .hint = {},
          .fields = {}};
}

Error not_passed(const Gate& gate, const std::string& item, const GateResult* last) {
  const std::string& name = gate.command.name;
  return {.kind = ErrorKind::refused,
          .message = last == nullptr
                         ? fmt::format("the gate {} has to be passed by somebody", name)
                         : fmt::format("the gate {} was passed, but the work went on since", name),
          .hint = fmt::format("look at the work, then: dibs gate pass {} {} --reason TEXT",
                              shell_word(item), shell_word(name)),
          .fields = {{"gate", json_string(name)}}};
}

const GateResult* last_of(const std::vector<GateResult>& results, const std::string& gate) {
  const auto found = std::ranges::find(results, gate, &GateResult::gate);
  return found == results.end() ? nullptr : &*found;
}

WatchedCall call_of(Workspace& workspace, const Gate& gate, const GateSubject& subject,
                    const std::string& directory) {
  WatchedCall call{.command = gate.command.words,
                   .directory = directory,
                   .environment = {"DIBS_ITEM=" + subject.item, "DIBS_BRANCH=" + subject.branch,
                                   "DIBS_TARGET=" + subject.target, "DIBS_COMMIT=" + subject.commit,
                                   "DIBS_GATE=" + gate.command.name},
                   .most_ms = gate.timeout_secs * 1000,
                   .tail_bytes = kGateOutputMax};
  keep_lease_during(call, workspace, subject.who, subject.lease);
  return call;
}

GateOutcome outcome_of(const WatchedEnd& end) {
  if (end.cut == WatchedEnd::Cut::timed_out) return GateOutcome::timed_out;
  if (end.cut == WatchedEnd::Cut::stopped) return GateOutcome::stopped;
  return end.succeeded() ? GateOutcome::passed : GateOutcome::failed;
}

Result<GateResult> run_one(Workspace& workspace, const Gate& gate, const GateSubject& subject,
                           const std::string& directory) {
  Clock& clock = workspace.system().clock;
  const Instant begun = clock.now();
  const Result<WatchedEnd> end =
      workspace.system().run_command(call_of(workspace, gate, subject, directory));
  if (!end) return fail(end.error());
  GateResult result{.gate = gate.command.name,
                    .outcome = outcome_of(*end),
                    .exit_code = end->exit_code,
                    .at_unix_ms = clock.now().unix_ms,
                    .took_ms = clock.now().boot_ms - begun.boot_ms,
                    .agent = subject.who.agent.text,
                    .work = subject.work,
                    .reason = {},
                    .output = end->tail};
  if (Done kept = keep_gate_result(workspace, subject.item, result); !kept)
    workspace.warn(kept.error().message);
  return result;
}

// Whether work may go on past a gate that did not pass.
Done past(const Gate& gate, const GateSubject& subject, const GateResult& result) {
  if (result.outcome == GateOutcome::stopped) return fail(stopped(gate));
  if (gate.required) return fail(failed(gate, subject, result));
  return {};
}

// Notes are of those that failed and are not required.
Result<std::vector<std::string>> run_all(Workspace& workspace, const std::vector<Gate>& gates,
                                         const GateSubject& subject, const std::string& directory) {
  std::vector<std::string> notes;
  for (const Gate& gate : gates) {
    if (gate.manual) continue;
    const Result<GateResult> result = run_one(workspace, gate, subject, directory);
    if (!result) return fail(result.error());
    if (result->outcome == GateOutcome::passed) continue;
    if (const Done passed = past(gate, subject, *result); !passed) return fail(passed.error());
    notes.push_back(fmt::format("the gate {} {}, and is not required", gate.command.name,
                                how_it_ended(gate, *result)));
  }
  return notes;
}

}  // namespace

Result<std::vector<Gate>> gates_of(Workspace& workspace, GateStage stage) {
  Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  std::erase_if(all->gates, [&](const Gate& gate) { return gate.stage != stage; });
  std::vector<ConfiguredCommand> commands;
  for (const Gate& gate : all->gates) commands.push_back(gate.command);
  if (commands.empty()) return std::vector<Gate>{};
  if (Done trusted = check_trusted(workspace, commands); !trusted) return fail(trusted.error());
  return std::move(all->gates);
}

Done check_passed_by_hand(Workspace& workspace, const std::vector<Gate>& gates,
                          const std::string& item, const std::string& work) {
  const Result<std::vector<GateResult>> results = gate_results(workspace, item);
  if (!results) return fail(results.error());
  for (const Gate& gate : gates) {
    if (!gate.manual || !gate.required) continue;
    const GateResult* last = last_of(*results, gate.command.name);
    if (last == nullptr || last->work != work) return fail(not_passed(gate, item, last));
  }
  return {};
}

Result<std::vector<std::string>> pass_gates(Workspace& workspace, const std::vector<Gate>& gates,
                                            const GateSubject& subject) {
  if (gates.empty()) return std::vector<std::string>{};
  // What a person has not seen yet need not be built either.
  if (Done passed = check_passed_by_hand(workspace, gates, subject.item, subject.work); !passed)
    return fail(passed.error());
  if (std::ranges::all_of(gates, &Gate::manual)) return std::vector<std::string>{};
  if (!subject.directory.empty()) return run_all(workspace, gates, subject, subject.directory);
  const Result<GateTree> tree = GateTree::at(workspace, subject.commit);
  if (!tree) return fail(tree.error());
  return run_all(workspace, gates, subject, tree->path());
}

Result<bool> all_passed_since(Workspace& workspace, const std::vector<Gate>& gates,
                              const std::string& item, std::int64_t unix_ms) {
  const Result<std::vector<GateResult>> results = gate_results(workspace, item);
  if (!results) return fail(results.error());
  return std::ranges::all_of(gates, [&](const Gate& gate) {
    if (gate.manual || !gate.required) return true;
    const GateResult* last = last_of(*results, gate.command.name);
    return last != nullptr && last->outcome == GateOutcome::passed && last->at_unix_ms >= unix_ms;
  });
}

std::string names_of_required(const std::vector<Gate>& gates) {
  std::string names;
  for (const Gate& gate : gates) {
    if (gate.required) names += (names.empty() ? "" : ", ") + gate.command.name;
  }
  return names;
}

}  // namespace dibs::verbs
