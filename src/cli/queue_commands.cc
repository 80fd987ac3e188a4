// Who waits for what: `dibs queue list` and `dibs deadlock`.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/render.h"
#include "verbs/queue.h"

namespace dibs::cli {

namespace {

constexpr std::array<Positional, 1> kMaybeResource{
    {{.name = "RESOURCE", .meaning = "whose line; without it, all there are", .least = 0}}};

std::string waiter_json(const verbs::Queued& queued, std::size_t position) {
  JsonObject object;
  object.add("position", std::uint64_t{position}).add_members(public_members(queued.waiter));
  if (queued.eta_ms) {
    object.add("eta_secs", *queued.eta_ms / 1000);
  } else {
    object.add_raw("eta_secs", "null");
  }
  return object.text();
}

std::string queue_json(const verbs::Queue& queue) {
  JsonArray holders;
  for (const verbs::ListedLease& held : queue.holders) holders.add_raw(listed_json(held));
  JsonArray waiters;
  for (std::size_t i = 0; i < queue.waiters.size(); ++i)
    waiters.add_raw(waiter_json(queue.waiters[i], i + 1));
  return JsonObject()
      .add("resource", queue.resource.text)
      .add_raw("holders", holders.text())
      .add_raw("waiters", waiters.text())
      .add("count", std::uint64_t{queue.waiters.size()})
      .text();
}

void print_queue(Invocation& call, const verbs::Queue& queue) {
  Terminal& terminal = call.terminal;
  const std::int64_t now_ms = call.workspace.system().clock.now().unix_ms;
  terminal.say(terminal.styled(Style::strong, printable(queue.resource.text)));
  if (queue.holders.empty()) terminal.say("  nobody holds it");
  for (const verbs::ListedLease& held : queue.holders)
    terminal.say(
        fmt::format("  held by {}, {}", printable(held.lease.agent.text), lasting(held.lease)));
  if (queue.waiters.empty()) terminal.say("  nobody waits for it");
  for (std::size_t i = 0; i < queue.waiters.size(); ++i) {
    const auto& [waiter, eta_ms] = queue.waiters[i];
    std::string line = fmt::format("{:>4}. {}  {}waits for {}", i + 1, printable(waiter.agent.text),
                                   waiter.mode == Mode::shared ? "shared, " : "",
                                   duration_text(now_ms - waiter.since_unix_ms));
    if (waiter.priority != kWaitPriorityDefault)
      line += fmt::format("  priority {}", waiter.priority);
    if (eta_ms) line += fmt::format("  about {} to go", duration_text(*eta_ms));
    if (waiter.must_give_way()) line += "  gives way in a deadlock";
    terminal.say(line);
  }
}

Done run_queue_list(Invocation& call) {
  const Result<std::vector<verbs::Queue>> queues = verbs::queues(call.workspace, call.args.word(0));
  if (!queues) return fail(queues.error());
  if (call.args.word(0)) {
    const std::string json = queue_json(queues->front());
    call.terminal.reply(
        JsonObject().add_members(std::string_view(json).substr(1, json.size() - 2)));
  } else {
    JsonArray all;
    for (const verbs::Queue& queue : *queues) all.add_raw(queue_json(queue));
    call.terminal.reply(
        JsonObject().add_raw("queues", all.text()).add("count", std::uint64_t{queues->size()}));
  }
  if (queues->empty()) call.terminal.say("nobody waits for anything");
  for (const verbs::Queue& queue : *queues) print_queue(call, queue);
  return {};
}

constexpr std::array<Option, 1> kDeadlockOptions{{{.name = "--format",
                                                   .takes = Takes::text,
                                                   .value = "HOW",
                                                   .meaning = "text, dot or json",
                                                   .choices = "text|dot|json"}}};

std::string wait_json(const Wait& wait) {
  return JsonObject()
      .add("session", wait.session.text)
      .add("waits_for", wait.blocker.text)
      .add("resource", wait.resource.text)
      .add("because", wait.why == Wait::For::what_it_holds ? "holds" : "ahead")
      .text();
}

JsonObject deadlocks_json(const verbs::WaitsFound& found) {
  JsonArray waits;
  for (const Wait& wait : found.waits) waits.add_raw(wait_json(wait));
  JsonArray deadlocks;
  for (const Deadlock& deadlock : found.deadlocks) {
    JsonArray ring;
    for (const Wait& wait : deadlock.ring) ring.add_raw(wait_json(wait));
    deadlocks.add_raw(
        JsonObject().add_raw("ring", ring.text()).add("gives_way", deadlock.victim.text).text());
  }
  return JsonObject()
      .add_raw("waits", waits.text())
      .add_raw("deadlocks", deadlocks.text())
      .add("count", std::uint64_t{found.deadlocks.size()});
}

std::string dot_word(std::string_view text) {
  std::string word = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + "\"";
}

std::string deadlocks_dot(const verbs::WaitsFound& found) {
  std::string text = "digraph waits {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const Wait& wait : found.waits) {
    text += fmt::format("  {} -> {} [label={}{}];\n", dot_word(wait.session.text),
                        dot_word(wait.blocker.text), dot_word(wait.resource.text),
                        wait.why == Wait::For::its_turn ? " style=dashed" : "");
  }
  for (const Deadlock& deadlock : found.deadlocks)
    text += fmt::format("  {} [color=red];\n", dot_word(deadlock.victim.text));
  return text + "}\n";
}

Done run_deadlock(Invocation& call) {
  const Result<verbs::WaitsFound> found = verbs::find_deadlocks(call.workspace);
  if (!found) return fail(found.error());
  const std::string format = call.args.text("--format").value_or("text");
  const JsonObject json = deadlocks_json(*found);
  if (format == "dot" && !call.terminal.json()) {
    call.terminal.show(deadlocks_dot(*found));
    return {};
  }
  if (format == "json" && !call.terminal.json()) {
    call.terminal.show(JsonObject().add("schema_version", 1).add_members(json.members()).text() +
                       "\n");
    return {};
  }
  call.terminal.reply(json);
  if (found->waits.empty()) call.terminal.say("nobody waits for anyone");
  for (const Wait& wait : found->waits) {
    call.terminal.say(
        fmt::format("{} waits for {}, which {} {}", printable(wait.session.text),
                    printable(wait.resource.text), printable(wait.blocker.text),
                    wait.why == Wait::For::what_it_holds ? "holds" : "is to get first"));
  }
  for (const Deadlock& deadlock : found->deadlocks) {
    call.terminal.say(fmt::format("{} {}", call.terminal.styled(Style::bad, "deadlock:"),
                                  printable(in_words(deadlock))));
    call.terminal.say(fmt::format("  {} gives way", printable(deadlock.victim.text)));
  }
  if (!found->waits.empty() && found->deadlocks.empty()) call.terminal.say("no deadlock");
  return {};
}

constexpr std::array<Command, 2> kCommands{{
    {.name = "queue list",
     .summary = "show who waits in line, and how long it will take",
     .details = "The next one first. How long it takes is told by how long the resource was held "
                "before.\n"
                "`dibs queue list branch:main` shows who waits to land.",
     .positionals = kMaybeResource,
     .options = {},
     .example = "dibs queue list lock:schema",
     .run = run_queue_list},
    {.name = "deadlock",
     .summary = "show who waits for whom, and circles in it",
     .details = "A wait that would close a circle is found when it begins, so there should be none "
                "to see. Where one\n"
                "comes about in another way, those who wait find it within two minutes.",
     .positionals = {},
     .options = kDeadlockOptions,
     .example = "dibs deadlock --format dot",
     .run = run_deadlock},
}};

}  // namespace

std::span<const Command> queue_commands() { return kCommands; }

}  // namespace dibs::cli
