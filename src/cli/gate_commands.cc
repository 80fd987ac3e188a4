// What work has to pass: gate list, gate run, gate pass.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "base/time.h"
#include "cli/invocation.h"
#include "verbs/gates.h"

namespace dibs::cli {

namespace {

constexpr std::array<Positional, 1> kOptionalItem{
    {{.name = "ITEM", .meaning = "with what each gate said about it last", .least = 0}}};
constexpr std::array<Option, 1> kListOptions{
    {{.name = "--output", .meaning = "with all that was kept of what they said"}}};

std::string result_json(const verbs::GateResult& result) {
  return JsonObject()
      .add("gate", result.gate)
      .add("outcome", name_of(result.outcome))
      .add("exit_code", result.exit_code)
      .add("at", rfc3339(result.at_unix_ms))
      .add("took_ms", result.took_ms)
      .add("agent_id", result.agent)
      .add("work", result.work)
      .add("reason", result.reason)
      .add("output", result.output)
      .text();
}

std::string gate_json(const verbs::ListedGate& listed) {
  const Gate& gate = listed.gate;
  JsonArray words;
  for (const std::string& word : gate.command.words) words.add(word);
  return JsonObject()
      .add("name", gate.command.name)
      .add("stage", name_of(gate.stage))
      .add("manual", gate.manual)
      .add("required", gate.required)
      .add("timeout_secs", gate.timeout_secs)
      .add_raw("command", words.text())
      .add("origin", gate.command.origin)
      .add("may_run", listed.may_run)
      .add_raw("last", listed.last ? result_json(*listed.last) : "null")
      .text();
}

void say_result(Terminal& terminal, const verbs::GateResult& result) {
  const bool passed = result.outcome == verbs::GateOutcome::passed;
  std::string text = fmt::format(
      "  {} {} by {}", terminal.styled(passed ? Style::good : Style::bad, name_of(result.outcome)),
      rfc3339(result.at_unix_ms), printable(result.agent));
  if (!passed) text += fmt::format(", exit code {}", result.exit_code);
  if (!result.reason.empty()) text += ": " + printable(result.reason);
  terminal.say(text);
}

void say_output(Terminal& terminal, const verbs::GateResult& result) {
  for (const std::string_view line : split(trim(result.output), '\n'))
    terminal.say("    " + printable(trim(line)));
}

void say_gate(Terminal& terminal, const verbs::ListedGate& listed) {
  const Gate& gate = listed.gate;
  terminal.say(fmt::format("{}  {}{}  {}{}", terminal.styled(Style::strong, gate.command.name),
                           name_of(gate.stage), gate.required ? "" : ", not required",
                           gate.manual ? "passed by hand" : shown(gate.command),
                           listed.may_run ? "" : "  [not trusted: dibs trust]"));
}

Done run_gate_list(Invocation& call) {
  const Result<std::vector<verbs::ListedGate>> gates =
      verbs::gate_list(call.workspace, call.args.word(0));
  if (!gates) return fail(gates.error());
  JsonArray list;
  for (const verbs::ListedGate& listed : *gates) {
    list.add_raw(gate_json(listed));
    say_gate(call.terminal, listed);
    if (listed.last) say_result(call.terminal, *listed.last);
    if (listed.last && call.args.has("--output")) say_output(call.terminal, *listed.last);
  }
  if (gates->empty()) call.terminal.say("there are no gates");
  call.terminal.reply(
      JsonObject().add_raw("gates", list.text()).add("count", std::uint64_t{gates->size()}));
  return {};
}

constexpr std::array<Positional, 2> kRunWords{
    {{.name = "ITEM", .meaning = "an item that you hold"},
     {.name = "NAME", .meaning = "one gate; left out, all postchecks", .least = 0}}};

Done run_gate_run(Invocation& call) {
  const Result<verbs::GatesRun> run =
      verbs::gate_run(call.workspace, {.item = call.args.word(0), .gate = call.args.word(1)});
  if (!run) return fail(run.error());
  JsonArray results;
  for (const verbs::GateResult& result : run->results) {
    results.add_raw(result_json(result));
    call.terminal.say(result.gate);
    say_result(call.terminal, result);
  }
  JsonArray notes;
  for (const std::string& note : run->notes) {
    notes.add(note);
    call.terminal.say("note: " + note);
  }
  if (run->results.empty()) call.terminal.say("there is no gate to run");
  call.terminal.reply(JsonObject()
                          .add("item", run->item.key().text)
                          .add_raw("results", results.text())
                          .add_raw("notes", notes.text()));
  return {};
}

constexpr std::array<Positional, 2> kPassWords{
    {{.name = "ITEM", .meaning = "an item id"}, {.name = "NAME", .meaning = "a manual gate"}}};
constexpr std::array<Option, 1> kPassOptions{{{.name = "--reason",
                                               .takes = Takes::text,
                                               .value = "TEXT",
                                               .meaning = "what you looked at; it is kept"}}};

Done run_gate_pass(Invocation& call) {
  const std::optional<std::string> reason = call.args.text("--reason");
  const std::string item = call.args.words().front();
  const std::string gate = call.args.words().back();
  if (!reason || trim(*reason).empty()) {
    return fail(
        ErrorKind::usage, "passing a gate by hand needs a reason",
        fmt::format("for example: dibs gate pass {} {} --reason \"read it, and it is fine\"",
                    shell_word(item), shell_word(gate)));
  }
  const Result<verbs::GateResult> result =
      verbs::gate_pass(call.workspace, {.item = item, .gate = gate, .reason = *reason});
  if (!result) return fail(result.error());
  call.terminal.reply(JsonObject().add("item", item).add_raw("result", result_json(*result)));
  call.terminal.say(fmt::format("{} {} for {}", call.terminal.styled(Style::good, "passed"),
                                printable(gate), printable(item)));
  return {};
}

constexpr std::array<Command, 3> kCommands{{
    {.name = "gate list",
     .summary = "show what work has to pass, and what was said about an item",
     .details = "Gates are configured in config.toml, in the order of their names:\n\n"
                "  [gates.test]\n"
                "  command = \"make test\"     (or a list of words)\n"
                "  stage = \"postcheck\"       (on the merged result; or \"precheck\", before work "
                "begins)\n"
                "  timeout = 600\n"
                "  required = true\n\n"
                "  [gates.review]\n"
                "  manual = true             (passed with `dibs gate pass`)\n\n"
                "A gate sees DIBS_ITEM, DIBS_BRANCH, DIBS_TARGET, DIBS_COMMIT and DIBS_GATE. Those "
                "in a committed file run\n"
                "only once they are trusted (`dibs trust`).",
     .positionals = kOptionalItem,
     .options = kListOptions,
     .example = "dibs gate list fix-login-b5c6d7e8",
     .run = run_gate_list},
    {.name = "gate run",
     .summary = "run gates on what would land, without landing",
     .details = "Postchecks look at the merge with the target as it is now; a precheck runs in the "
                "worktree.",
     .positionals = kRunWords,
     .options = {},
     .example = "dibs gate run fix-login-b5c6d7e8 test",
     .run = run_gate_run},
    {.name = "gate pass",
     .summary = "pass a manual gate for an item",
     .details = "Counts for the work as it is: when more is committed, somebody has to look "
                "again. It is kept in this clone.",
     .positionals = kPassWords,
     .options = kPassOptions,
     .example = "dibs gate pass fix-login-b5c6d7e8 review --reason \"read it\"",
     .run = run_gate_pass},
}};

}  // namespace

std::span<const Command> gate_commands() { return kCommands; }

}  // namespace dibs::cli
