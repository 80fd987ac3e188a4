// `dibs demo`, drawn live on a terminal and told in plain lines elsewhere.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "base/time.h"
#include "cli/invocation.h"
#include "verbs/demo.h"

namespace dibs::cli {

namespace {

constexpr std::array<Option, 5> kOptions{{
    {.name = "--workers",
     .takes = Takes::number,
     .value = "N",
     .meaning = "agents, each a process (default 8)",
     .least = 1,
     .most = 64},
    {.name = "--items",
     .takes = Takes::number,
     .value = "N",
     .meaning = "items to do (default 40)",
     .least = 1,
     .most = 500},
    {.name = "--seed",
     .takes = Takes::number,
     .value = "N",
     .meaning = "run another race",
     .least = 0,
     .most = 1'000'000},
    {.name = "--keep", .meaning = "keep the scratch repository, and say where it is"},
    {.name = "--as-worker", .meaning = "one of the agents", .hidden = true},
}};

std::string bar(std::size_t done, std::size_t all, std::size_t width) {
  const std::size_t filled = all == 0 ? width : done * width / all;
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += i < filled ? "█" : "·";
  return text;
}

/// Draws over itself: the cursor goes back up before each frame.
class LiveBoard {
 public:
  explicit LiveBoard(Terminal& terminal) : terminal_(terminal) {}

  void draw(const verbs::DemoProgress& progress) {
    if (drawn_ > 0) terminal_.say(fmt::format("\x1b[{}A", drawn_ + 1));
    for (const verbs::DemoWorker& worker : progress.workers) {
      std::string doing = worker.doing.empty()
                              ? "looking for work"
                              : fmt::format("{}  fence {}", worker.doing, worker.fence);
      if (worker.killed) doing = terminal_.styled(Style::bad, "killed");
      terminal_.say(fmt::format("\x1b[2K  {:<10} {:>3} done  {}", worker.name, worker.done, doing));
    }
    terminal_.say(fmt::format("\x1b[2K  {} {}/{} items  {} refused  {:.1f} s",
                              bar(progress.done, progress.items, 24), progress.done, progress.items,
                              progress.refusals,
                              static_cast<double>(progress.elapsed_ms) / 1000.0));
    terminal_.flush();
    drawn_ = progress.workers.size() + 1;
  }

 private:
  Terminal& terminal_;
  std::size_t drawn_ = 0;
};

/// Off a terminal: a line whenever another quarter is done.
class PlainBoard {
 public:
  explicit PlainBoard(Terminal& terminal) : terminal_(terminal) {}

  void draw(const verbs::DemoProgress& progress) {
    const std::size_t quarter = progress.done * 4 / progress.items;
    if (quarter <= said_) return;
    said_ = quarter;
    terminal_.say(fmt::format("  {}/{} items done, {} claims refused", progress.done,
                              progress.items, progress.refusals));
    terminal_.flush();
  }

 private:
  Terminal& terminal_;
  std::size_t said_ = 0;
};

void tell(Terminal& terminal, const verbs::DemoResult& result) {
  const auto check = [&](bool good, const std::string& text) {
    terminal.say(fmt::format(
        "  {} {}", terminal.styled(good ? Style::good : Style::bad, good ? "ok" : "NO"), text));
  };
  const bool proven = result.violations.empty();
  check(result.end.done >= result.end.items,
        fmt::format("{} items, each done exactly once", result.end.items));
  check(proven, fmt::format("{} leases granted, {} claims refused, no two holders at once",
                            result.grants, result.end.refusals));
  if (!result.took_over.empty())
    check(true, fmt::format("{} was killed; {}", result.killed, result.took_over));
  for (const std::string& violation : result.violations) check(false, violation);
}

void reply(Terminal& terminal, const verbs::DemoResult& result) {
  JsonArray violations;
  for (const std::string& violation : result.violations) violations.add(violation);
  terminal.reply(JsonObject()
                     .add("items", std::uint64_t{result.end.items})
                     .add("done", std::uint64_t{result.end.done})
                     .add("workers", std::uint64_t{result.end.workers.size()})
                     .add("grants", std::uint64_t{result.grants})
                     .add("refused", result.end.refusals)
                     .add("killed", result.killed)
                     .add("took_over", result.took_over)
                     .add("elapsed_ms", result.end.elapsed_ms)
                     .add("proven", result.violations.empty())
                     .add_raw("violations", violations.text()));
}

Done run_demo(Invocation& call) {
  const verbs::Demo request{
      .workers = static_cast<std::size_t>(call.args.number("--workers").value_or(8)),
      .items = static_cast<std::size_t>(call.args.number("--items").value_or(40)),
      .seed = static_cast<std::uint64_t>(call.args.number("--seed").value_or(1))};
  if (call.args.has("--as-worker"))
    return verbs::demo_worker(call.workspace, {.items = request.items, .seed = request.seed});

  Result<ScratchDirectory> scratch = verbs::demo_directory(call.workspace);
  if (!scratch) return fail(scratch.error());
  if (call.args.has("--keep")) scratch->keep();
  call.terminal.say(call.terminal.styled(
      Style::strong, fmt::format("{} agents race for {} items in one repository", request.workers,
                                 request.items)));
  call.terminal.flush();
  LiveBoard live(call.terminal);
  PlainBoard plain(call.terminal);
  const bool drawn = is_terminal(1) && !call.terminal.json();
  const Result<verbs::DemoResult> result = verbs::demo(
      call.workspace, request, scratch->path(), [&](const verbs::DemoProgress& progress) {
        drawn ? live.draw(progress) : plain.draw(progress);
      });
  if (!result) return fail(result.error());
  tell(call.terminal, *result);
  reply(call.terminal, *result);
  if (call.args.has("--keep"))
    call.terminal.say(
        fmt::format("  kept: dibs -C {}/repository claim history", printable(scratch->path())));
  if (result->violations.empty()) return {};
  return fail(ErrorKind::internal,
              fmt::format("{} violations: dibs broke its promise", result->violations.size()),
              "run it again with --keep and report what it left");
}

constexpr std::array<Command, 1> kCommands{{
    {.name = "demo",
     .summary = "watch agents race for items, and see it proven",
     .details = "Real processes in real worktrees. One is killed while it works. At the end, what "
                "each wrote\n"
                "while it held an item is checked: every item done once, never two at a time.",
     .positionals = {},
     .options = kOptions,
     .example = "dibs demo --workers 8 --items 40",
     .run = run_demo},
}};

}  // namespace

std::span<const Command> demo_commands() { return kCommands; }

}  // namespace dibs::cli
