// What there is to do: ready, blocked, graph.
#include <fmt/core.h>

#include <array>
#include <cstdlib>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/item_render.h"
#include "cli/render.h"
#include "verbs/item_view.h"
#include "verbs/next.h"

namespace dibs::cli {

namespace {

constexpr std::array<Option, 2> kOptions{{
    {.name = "--limit",
     .takes = Takes::number,
     .value = "N",
     .meaning = "at most so many (default 100)",
     .least = 1,
     .most = 1'000'000},
    {.name = "--label",
     .takes = Takes::text,
     .value = "L",
     .meaning = "only those with this label; several: with all of them",
     .repeats = true},
}};

verbs::ItemQuery query_of(const Args& args) {
  return {.state = std::nullopt,
          .labels = args.texts("--label"),
          .most = static_cast<std::size_t>(args.number("--limit").value_or(verbs::kListDefault))};
}

Done run_ready(Invocation& call) {
  const Result<verbs::ItemListing> listing =
      verbs::ready_items(call.workspace, query_of(call.args));
  if (!listing) return fail(listing.error());
  tell_listing(call.terminal, *listing, "nothing is ready");
  return {};
}

std::string_view why(Readiness readiness) {
  switch (readiness) {
    case Readiness::dependency_missing:
      return "there is no such item";
    case Readiness::dependency_dropped:
      return "it was given up";
    case Readiness::in_cycle:
      return "waits for this one";
    case Readiness::ready:
    case Readiness::not_open:
    case Readiness::waits:
      return "";
  }
  return "";
}

std::string_view code_of(Readiness readiness) {
  switch (readiness) {
    case Readiness::dependency_missing:
      return "missing";
    case Readiness::dependency_dropped:
      return "dropped";
    case Readiness::in_cycle:
      return "cycle";
    case Readiness::ready:
    case Readiness::not_open:
    case Readiness::waits:
      return "unfinished";
  }
  return "unfinished";
}

std::string blocked_json(const verbs::BlockedItem& blocked) {
  JsonArray waits;
  for (const verbs::WaitsFor& wait : blocked.waits_for) {
    JsonObject object;
    object.add("id", wait.id.text).add("why", code_of(wait.why));
    if (!wait.state.empty()) object.add("state", wait.state);
    waits.add_raw(object.text());
  }
  const std::string item = item_json(blocked.shown);
  return JsonObject()
      .add_members(std::string_view(item).substr(1, item.size() - 2))
      .add_raw("blocked_by", waits.text())
      .text();
}

std::string cycles_json(const std::vector<std::vector<ItemId>>& cycles) {
  JsonArray all;
  for (const std::vector<ItemId>& cycle : cycles) {
    JsonArray ids;
    for (const ItemId& id : cycle) ids.add(id.text);
    all.add_raw(ids.text());
  }
  return all.text();
}

void print_cycles(Terminal& terminal, const std::vector<std::vector<ItemId>>& cycles) {
  for (const std::vector<ItemId>& cycle : cycles) {
    std::string way;
    for (const ItemId& id : cycle) way += printable(id.text) + " → ";
    terminal.warn(
        fmt::format("these wait for each other: {}{}", way, printable(cycle.front().text)));
  }
}

Done run_blocked(Invocation& call) {
  const Result<verbs::BlockedListing> listing =
      verbs::blocked_items(call.workspace, query_of(call.args));
  if (!listing) return fail(listing.error());
  JsonArray items;
  for (const verbs::BlockedItem& blocked : listing->items) {
    if (call.terminal.json()) items.add_raw(blocked_json(blocked));
    call.terminal.say(fmt::format("{}  {}", printable(blocked.shown.item.id.text),
                                  printable(blocked.shown.item.title)));
    for (const verbs::WaitsFor& wait : blocked.waits_for) {
      const std::string_view reason = why(wait.why);
      call.terminal.say(fmt::format("  waits for {} ({})", printable(wait.id.text),
                                    reason.empty() ? printable(wait.state) : reason));
    }
  }
  call.terminal.reply(JsonObject()
                          .add_raw("items", items.text())
                          .add("count", std::uint64_t{listing->items.size()})
                          .add("more", listing->more)
                          .add_raw("cycles", cycles_json(listing->cycles))
                          .add_raw("broken", broken_json(listing->broken)));
  if (listing->items.empty()) call.terminal.say("nothing is blocked");
  print_cycles(call.terminal, listing->cycles);
  print_broken(call.terminal, listing->broken);
  return {};
}

constexpr std::array<Option, 4> kGraphOptions{{
    {.name = "--format",
     .takes = Takes::text,
     .value = "HOW",
     .meaning = "text, dot or json (default text)",
     .choices = "text|dot|json"},
    {.name = "--state",
     .takes = Takes::text,
     .value = "S",
     .meaning = "only those in this state (default: all that are not finished)"},
    kOptions[0],
    kOptions[1],
}};

// In quotes, as DOT takes them.
std::string dot_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string graph_dot(const verbs::ItemGraph& graph) {
  std::string text = "digraph items {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const verbs::ShownItem& shown : graph.items) {
    text += fmt::format("  {} [label={}];\n", dot_text(shown.item.id.text),
                        dot_text(fmt::format("{} ({})", shown.item.title, shown.state)));
    for (const ItemId& id : shown.item.depends_on)
      text += fmt::format("  {} -> {};\n", dot_text(id.text), dot_text(shown.item.id.text));
  }
  return text + "}\n";
}

void print_graph(Terminal& terminal, const verbs::ItemGraph& graph) {
  for (const verbs::ShownItem& shown : graph.items) {
    terminal.say(fmt::format("{}  {}  {}", printable(shown.item.id.text), printable(shown.state),
                             printable(shown.item.title)));
    for (const ItemId& id : shown.item.depends_on)
      terminal.say(terminal.styled(Style::dim, "  after " + printable(id.text)));
  }
  if (graph.items.empty()) terminal.say("there are no such items");
  if (graph.more) terminal.say(terminal.styled(Style::dim, "… and more: --limit N shows them"));
}

Done run_graph(Invocation& call) {
  verbs::ItemQuery query = query_of(call.args);
  query.state = call.args.text("--state");
  const Result<verbs::ItemGraph> graph = verbs::item_graph(call.workspace, query);
  if (!graph) return fail(graph.error());
  const std::string format = call.args.text("--format").value_or("text");
  if (format == "dot" && !call.terminal.json()) {
    call.terminal.show(graph_dot(*graph));
    return {};
  }
  const JsonObject json = JsonObject()
                              .add_raw("items", items_json(graph->items))
                              .add("count", std::uint64_t{graph->items.size()})
                              .add("more", graph->more)
                              .add_raw("cycles", cycles_json(graph->cycles));
  if (format == "json" && !call.terminal.json()) {
    call.terminal.show(JsonObject().add("schema_version", 1).add_members(json.members()).text() +
                       "\n");
    return {};
  }
  call.terminal.reply(json);
  print_graph(call.terminal, *graph);
  print_cycles(call.terminal, graph->cycles);
  return {};
}

constexpr std::array<Option, 9> kNextOptions{{
    {.name = "--claim", .meaning = "take the lease in the same call"},
    {.name = "--start", .meaning = "take it and make a worktree for it, as `dibs start` does"},
    {.name = "--label",
     .takes = Takes::text,
     .value = "L",
     .meaning = "only those with this label; several: with all of them",
     .repeats = true},
    {.name = "--except",
     .takes = Takes::text,
     .value = "ITEM",
     .meaning = "anything but this item, by its whole id",
     .repeats = true},
    {.name = "--worker",
     .takes = Takes::text,
     .value = "NAME",
     .meaning = "for this kind of the configured workers; several: for whichever it suits best",
     .repeats = true},
    {.name = "--explain", .meaning = "say what spoke for it, and for the runners-up"},
    {.name = "--ttl",
     .takes = Takes::number,
     .value = "SECS",
     .meaning = "how long the lease lasts (default: as the settings say)",
     .least = 1,
     .most = kTtlSecsMax},
    {.name = "--pid",
     .takes = Takes::number,
     .value = "PID",
     .meaning = "tie the lease to a process: it ends when that does",
     .least = 1,
     .most = INT32_MAX},
    {.name = "--reason",
     .takes = Takes::text,
     .value = "TEXT",
     .meaning = "why; kept in the history"},
}};

std::string points(std::int64_t hundredths) {
  return fmt::format("{}{}.{:02}", hundredths < 0 ? "-" : "", std::abs(hundredths) / 100,
                     std::abs(hundredths) % 100);
}

std::string score_json(const Score& score) {
  JsonObject object;
  for (std::size_t i = 0; i < kFactors; ++i)
    object.add_raw(name_of(static_cast<Factor>(i)), points(score.hundredths[i]));
  return object.add_raw("sum", points(score.total())).text();
}

std::string explanation_json(const verbs::NextItem& next) {
  JsonArray runners_up;
  for (const verbs::Weighed& other : next.runners_up) {
    JsonObject object;
    object.add("id", other.id.text);
    if (!other.worker.empty()) object.add("worker", other.worker);
    object.add_raw("score", score_json(other.score));
    if (other.overlap) object.add("overlap", *other.overlap);
    runners_up.add_raw(object.text());
  }
  return JsonObject()
      .add("chosen_as", next.as == ChosenAs::oldest ? "oldest" : "best")
      .add_raw("score", score_json(next.score))
      .add_raw("runners_up", runners_up.text())
      .text();
}

void print_score(Terminal& terminal, const ItemId& id, const std::string& worker,
                 const Score& score) {
  std::string parts;
  for (std::size_t i = 0; i < kFactors; ++i) {
    if (score.hundredths[i] == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name_of(static_cast<Factor>(i)),
                         points(score.hundredths[i]));
  }
  terminal.say(fmt::format("  {:>8}  {}{}  ({})", points(score.total()), printable(id.text),
                           worker.empty() ? "" : " for " + worker, parts));
}

void print_explanation(Terminal& terminal, const verbs::NextItem& next) {
  terminal.say(next.as == ChosenAs::oldest ? "chosen as the oldest; that turn comes now and then:"
                                           : "chosen by points:");
  print_score(terminal, next.shown.item.id, next.worker, next.score);
  for (const verbs::Weighed& other : next.runners_up)
    print_score(terminal, other.id, other.worker, other.score);
}

void reply_next(Invocation& call, const verbs::NextItem& next) {
  JsonObject json;
  json.add_raw("item", item_json(next.shown));
  if (!next.worker.empty()) json.add("worker", next.worker);
  if (!next.model.empty()) json.add("model", next.model);
  if (const HeldLease* held = next.started ? &next.started->held
                              : next.held  ? &*next.held
                                           : nullptr)
    json.add_members(public_members(held->lease, held->resource));
  if (next.started) json.add("path", next.started->path).add("work_branch", next.started->branch);
  if (next.overlap) json.add("overlap", *next.overlap);
  if (call.args.has("--explain")) json.add_raw("explanation", explanation_json(next));
  call.terminal.reply(json);
}

// What is taken for a kind of worker is held under its own agent id.
std::string as_worker(const verbs::NextItem& next, const HeldLease& held, const std::string& then) {
  if (next.worker.empty()) return then;
  return fmt::format("export DIBS_AGENT_ID={} && {}", held.lease.agent.text, then);
}

void print_next(Invocation& call, const verbs::NextItem& next) {
  const std::string id = shell_word(next.shown.item.id.text);
  print_items(call.terminal, {next.shown});
  if (!next.worker.empty()) call.terminal.say("  for " + next.worker);
  std::string then = fmt::format("dibs start {}", id);
  if (next.held) {
    print_lease(call.terminal, "claimed", *next.held);
    then = as_worker(next, *next.held, then);
  }
  if (next.started) {
    print_lease(call.terminal, "started", next.started->held);
    call.terminal.say(fmt::format("  {} on branch {}", printable(next.started->path),
                                  printable(next.started->branch)));
    then =
        as_worker(next, next.started->held, fmt::format("cd {}", shell_word(next.started->path)));
  }
  call.terminal.say(call.terminal.styled(Style::dim, "  next: " + then));
}

Done run_next(Invocation& call) {
  if (call.args.has("--claim") && call.args.has("--start"))
    return fail(ErrorKind::usage, "--claim and --start are one too many",
                "--start takes the lease too");
  verbs::Next request;
  if (call.args.has("--claim")) request.take = verbs::Next::Take::lease;
  if (call.args.has("--start")) request.take = verbs::Next::Take::worktree;
  request.labels = call.args.texts("--label");
  request.except = call.args.texts("--except");
  request.workers = call.args.texts("--worker");
  request.ttl_secs = call.args.number("--ttl");
  request.pid = call.args.number("--pid");
  request.reason = call.args.text("--reason").value_or("");
  const Result<verbs::NextItem> next = verbs::next(call.workspace, request);
  if (!next) return fail(next.error());
  if (call.terminal.json()) reply_next(call, *next);
  print_next(call, *next);
  if (call.args.has("--explain")) print_explanation(call.terminal, *next);
  if (next->overlap)
    call.terminal.warn(
        fmt::format("somebody works on the same files: {}", printable(*next->overlap)));
  return {};
}

constexpr std::array<Command, 4> kCommands{{
    {.name = "next",
     .summary = "name the best item to take now, or take it",
     .details =
         "The best of what `dibs ready` lists for this agent: weights are settings "
         "(schedule.…), what agents\n"
         "can do is in .dibs/agents.toml. Items whose files somebody works on are passed over "
         "while there are\n"
         "others. With --claim or --start it is one call: whoever loses a race gets the next "
         "one. Exit 6 when\n"
         "nothing is ready. --worker asks for a kind of workers, [workers.NAME] in the "
         "configuration: what it can do is\n"
         "its labels, and what is taken for it is held as AGENT.NAME.",
     .positionals = {},
     .options = kNextOptions,
     .example = "dibs next --claim",
     .run = run_next},
    {.name = "ready",
     .summary = "list what can be taken now, best first",
     .details = "Items whose dependencies are all done and that nobody holds: the more urgent "
                "first, then what most\n"
                "others wait for, then the shorter, then the older.",
     .positionals = {},
     .options = kOptions,
     .example = "dibs ready --limit 10",
     .run = run_ready},
    {.name = "blocked",
     .summary = "list what waits, and what for",
     .details = "Items that wait for each other in a circle are named at the end.",
     .positionals = {},
     .options = kOptions,
     .example = "dibs blocked",
     .run = run_blocked},
    {.name = "graph",
     .summary = "show which item depends on which",
     .details = "Nothing comes before what it depends on. `--format dot` is for Graphviz.",
     .positionals = {},
     .options = kGraphOptions,
     .example = "dibs graph --format dot",
     .run = run_graph},
}};

}  // namespace

std::span<const Command> item_view_commands() { return kCommands; }

}  // namespace dibs::cli
