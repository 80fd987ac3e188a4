// `dibs run`: words to a request, and what happens told as a view, as lines, or as JSON.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/run_report.h"
#include "cli/run_view.h"
#include "verbs/item_failure.h"
#include "verbs/run.h"

namespace dibs::cli {

namespace {

constexpr std::array<Positional, 1> kCommandWords{
    {{.name = "CMD",
      .meaning = "what a worker runs, with its arguments; put -- before it",
      .least = 0,
      .most = 10'000}}};

constexpr std::array<Option, 10> kOptions{{
    {.name = "--workers",
     .takes = Takes::number,
     .value = "N",
     .meaning = "how many commands at once (default 1)",
     .least = 1,
     .most = static_cast<std::int64_t>(verbs::kWorkersMax)},
    {.name = "--worker",
     .takes = Takes::text,
     .value = "NAME",
     .meaning = "without CMD: only this kind of the configured workers; several: these",
     .repeats = true},
    {.name = "--max-items",
     .takes = Takes::number,
     .value = "M",
     .meaning = "start the command so many times at most, then end",
     .least = 1},
    {.name = "--label",
     .takes = Takes::text,
     .value = "L",
     .meaning = "only items with this label; several: with all of them",
     .repeats = true},
    {.name = "--on-failure",
     .takes = Takes::text,
     .value = "HOW",
     .meaning = "requeue: it is tried again (default); park: it waits for somebody at once",
     .choices = "requeue|park"},
    {.name = "--max-tries",
     .takes = Takes::number,
     .value = "N",
     .meaning = "an item that failed so often is parked (default 3)",
     .least = 1,
     .most = 1000},
    {.name = "--timeout",
     .takes = Takes::number,
     .value = "SECS",
     .meaning = "a command that takes longer is stopped, and has failed",
     .least = 1,
     .most = 10'000'000},
    {.name = "--ttl",
     .takes = Takes::number,
     .value = "SECS",
     .meaning = "how long leases last without a sign of life (default: as the settings say)",
     .least = 2,
     .most = kTtlSecsMax},
    {.name = "--keep-worktrees", .meaning = "leave worktrees and branches there"},
    {.name = "--beat-for",
     .takes = Takes::text,
     .value = "SESSION",
     .meaning = "keep the leases of a session alive, once",
     .hidden = true,
     .repeats = true},
}};

Error without_command() {
  return {.kind = ErrorKind::usage,
          .message = "there is no command to run, and no workers are configured",
          .hint =
              "put one after --, for example: dibs run --workers 4 -- make-it-so; or write "
              "[workers.NAME] with a command into .dibs/config.toml, then: dibs run",
          .fields = {}};
}

// Those of the command line, or else of the configuration.
Result<std::vector<verbs::RunKind>> kinds_of(Invocation& call) {
  const Args& args = call.args;
  if (!args.words().empty() && args.has("--worker"))
    return fail(ErrorKind::usage, "--worker has a command of its own, and there is another",
                "leave one out, for example: dibs run --worker fast");
  if (args.words().empty() && args.has("--workers"))
    return fail(ErrorKind::usage, "--workers needs a command; configured workers have a count",
                "put it after --, for example: dibs run --workers 4 -- make-it-so");
  if (!args.words().empty()) {
    const auto workers = static_cast<std::size_t>(args.number("--workers").value_or(1));
    return std::vector<verbs::RunKind>{{.command = args.words(), .workers = workers}};
  }
  Result<std::vector<verbs::RunKind>> kinds =
      verbs::configured_kinds(call.workspace, args.texts("--worker"));
  if (kinds && kinds->empty()) return fail(without_command());
  return kinds;
}

verbs::Run request_of(const Args& args, std::vector<verbs::RunKind> kinds) {
  verbs::Run request{.kinds = std::move(kinds),
                     .limits = {.commands_max = {}, .timeout_ms = {}},
                     .labels = args.texts("--label"),
                     .ttl_secs = args.number("--ttl"),
                     .worktrees = args.has("--keep-worktrees") ? verbs::Run::Worktrees::keep
                                                               : verbs::Run::Worktrees::remove};
  if (const auto most = args.number("--max-items"))
    request.limits.commands_max = static_cast<std::uint64_t>(*most);
  request.limits.tries_max = args.number("--max-tries").value_or(verbs::kTriesDefault);
  if (args.text("--on-failure") == "park") request.limits.on_failure = OnFailure::park;
  if (const auto secs = args.number("--timeout")) request.limits.timeout_ms = *secs * 1000;
  return request;
}

Done beat(Invocation& call) {
  const Result<std::vector<SessionId>> sessions =
      verbs::beat_for(call.workspace, call.args.texts("--beat-for"));
  if (!sessions) return fail(sessions.error());
  JsonArray alive;
  for (const SessionId& session : *sessions) alive.add(session.text);
  call.terminal.reply(JsonObject().add_raw("sessions", alive.text()));
  return {};
}

verbs::RunWatch watch_of(Invocation& call, RunView& view) {
  verbs::RunWatch watch{.on_event = [&](const verbs::RunEvent& event) {
    view.clear();
    if (call.terminal.json())
      reply_run_event(call.terminal, event, call.workspace.system().clock.now().unix_ms);
    else
      print_run_event(call.terminal, event);
    call.terminal.flush();
  }};
  return watch;
}

Done run_run(Invocation& call) {
  if (call.args.has("--beat-for")) return beat(call);
  Result<std::vector<verbs::RunKind>> kinds = kinds_of(call);
  if (!kinds) return fail(kinds.error());
  RunView view(call.terminal);
  verbs::RunWatch watch = watch_of(call, view);
  const bool drawn = is_terminal(1) && !call.terminal.json() && !call.terminal.quiet();
  if (drawn) watch.on_frame = [&](const verbs::RunNow& now) { view.draw(now); };
  const Result<verbs::RunEnd> end =
      verbs::run(call.workspace, request_of(call.args, *std::move(kinds)), watch);
  view.clear();
  if (!end) return fail(end.error());
  if (end->summary.totals.commands > 0 || call.terminal.json()) {
    print_run_summary(call.terminal, end->summary);
    reply_run_summary(call.terminal, end->summary);
  }
  return end->error ? Done(fail(*end->error)) : Done{};
}

constexpr std::array<Command, 1> kCommands{{
    {.name = "run",
     .summary = "keep workers busy with items until nothing is ready",
     .details =
         "Each worker takes the best item, gets a worktree, runs CMD there with the item's JSON on "
         "standard\n"
         "input, and lands what it committed; leases are kept alive meanwhile. CMD finds "
         "DIBS_ITEM, "
         "DIBS_LEASE,\n"
         "DIBS_FENCE, DIBS_SESSION, DIBS_AGENT_ID, DIBS_WORKTREE, DIBS_BRANCH and DIBS_TRIES in "
         "its environment.\n"
         "\n"
         "CMD ends with 0: its commits land. With 75: the item is put back, and nobody is to "
         "blame. "
         "With anything\n"
         "else, without a commit, or with a conflict: one try has failed, what was said last is a "
         "comment of the\n"
         "item, the work is kept on a rescue ref. After --max-tries the item is parked as "
         "pending.\n"
         "\n"
         "Without CMD, workers are those of the configuration: [workers.NAME] with command, count, "
         "labels (the X of\n"
         "needs:X that it can do), model, cost and capacity. Each item goes to the kind that suits "
         "it best (`dibs\n"
         "next --explain --worker NAME`), which works as AGENT.NAME; its command finds DIBS_WORKER "
         "and DIBS_MODEL.\n"
         "\n"
         "Ctrl-C: no new items, what runs may finish. Twice: commands are stopped, their work is "
         "kept, their items\n"
         "are put back. It ends when nothing is ready and nothing of its own is under way; what "
         "others hold is\n"
         "theirs. Any number of runs can work at once. What a killed run left, the next one clears "
         "up.",
     .positionals = kCommandWords,
     .options = kOptions,
     .example = "dibs run --workers 8 --timeout 3600 -- claude -p \"do the item on stdin\"",
     .run = run_run},
}};

}  // namespace

std::span<const Command> run_commands() { return kCommands; }

}  // namespace dibs::cli
