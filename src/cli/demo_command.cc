// `dibs demo`: the run's own view on a terminal with the story around it, plain lines elsewhere,
// and at the end what was claimed and whether it is so.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/run_report.h"
#include "cli/run_view.h"
#include "verbs/demo.h"

namespace dibs::cli {

namespace {

using What = verbs::RunEvent::What;

constexpr std::size_t kWorkersDefault = 8;
constexpr std::size_t kItemsDefault = 40;

constexpr std::array<Option, 4> kOptions{{
    {.name = "--workers",
     .takes = Takes::number,
     .value = "N",
     .meaning = "workers at once (default 8)",
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
     .meaning = "another project, other mishaps",
     .least = 0,
     .most = 1'000'000},
    {.name = "--keep", .meaning = "keep the scratch repository, and say where it is"},
}};

std::string seconds(std::int64_t ms) {
  return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
}

// A gate's last words come in lines.
std::string in_one_line(std::string_view text) {
  std::string line;
  for (const std::string_view part : split(text, '\n')) {
    const std::string_view words = trim(part);
    if (words.empty()) continue;
    if (!line.empty()) line += line.ends_with(':') ? " " : "; ";
    line += words;
  }
  return line;
}

/// The demo as it goes on: sentences, what is worth telling of the run, and its view or a line now
/// and then.
class Story {
 public:
  Story(Terminal& terminal, std::size_t items)
      : terminal_(terminal), view_(terminal), items_(items) {}

  verbs::DemoWatch watch() {
    verbs::DemoWatch watch{.on_news = [this](const std::string& text) { tell(text); },
                           .on_event = [this](const verbs::RunEvent& event) { take(event); }};
    const bool drawn = is_terminal(1) && !terminal_.json() && !terminal_.quiet();
    if (drawn) watch.on_frame = [this](const verbs::RunNow& now) { view_.draw(now); };
    return watch;
  }
  void end() { view_.clear(); }

 private:
  void tell(const std::string& text) {
    view_.clear();
    terminal_.say(terminal_.styled(Style::strong, text));
    terminal_.flush();
  }

  // What goes well is in the view, or counted.
  void take(const verbs::RunEvent& event) {
    if (event.what == What::landed) return count();
    if (event.what == What::started || event.what == What::begun) return;
    view_.clear();
    verbs::RunEvent shortened = event;
    shortened.text = in_one_line(event.text);
    const bool indented = event.what != What::warning && !terminal_.quiet() && !terminal_.json();
    if (indented) terminal_.show("  ");
    print_run_event(terminal_, shortened);
    terminal_.flush();
  }

  void count() {
    constexpr std::size_t kParts = 4;
    ++landed_;
    if (is_terminal(1) || landed_ * kParts / items_ == (landed_ - 1) * kParts / items_) return;
    terminal_.say(fmt::format("  {} of {} items landed", landed_, items_));
    terminal_.flush();
  }

  Terminal& terminal_;
  RunView view_;
  std::size_t items_;
  std::size_t landed_ = 0;
};

void print_verdict(Terminal& terminal, const verbs::DemoVerdict& verdict) {
  constexpr std::size_t kShownMax = 10;
  const bool good = verdict.holds();
  terminal.say(fmt::format("  {} {}",
                           terminal.styled(good ? Style::good : Style::bad, good ? "ok" : "NO"),
                           verdict.claim));
  for (std::size_t i = 0; i < verdict.violations.size() && i < kShownMax; ++i)
    terminal.say("     " + printable(verdict.violations[i]));
}

void print_result(Terminal& terminal, const verbs::DemoResult& result) {
  for (const verbs::DemoVerdict& verdict : result.verdicts) print_verdict(terminal, verdict);
  const DispatchTotals& totals = result.totals;
  terminal.say(fmt::format("  {} tries of which {} failed ({} conflicts), each done again",
                           totals.commands, totals.failed, totals.conflicts));
  if (!result.compiled)
    terminal.say("  there is no C compiler here (cc): nothing was compiled, only looked at");
  if (const auto times = result.speed_up())
    terminal.say(terminal.styled(
        Style::strong,
        fmt::format("{} items in {}; one worker would have taken {}: {:.1f} times as fast",
                    result.together_items, seconds(result.together_ms),
                    seconds(*result.one_worker_ms), *times)));
}

void reply(Terminal& terminal, const verbs::Demo& request, const verbs::DemoResult& result) {
  JsonArray violations;
  for (const std::string& violation : result.violations()) violations.add(violation);
  JsonArray proof;
  for (const verbs::DemoVerdict& verdict : result.verdicts)
    proof.add_raw(JsonObject().add("claim", verdict.claim).add("holds", verdict.holds()).text());
  JsonObject json;
  json.add("items", std::uint64_t{request.items})
      .add("done", std::uint64_t{result.landed})
      .add("workers", std::uint64_t{request.workers})
      .add("seed", request.seed)
      .add("grants", std::uint64_t{result.grants})
      .add("refused", result.refusals)
      .add("killed", result.killed)
      .add("took_over", result.took_over)
      .add("commands", result.totals.commands)
      .add("failed", result.totals.failed)
      .add("conflicts", result.totals.conflicts)
      .add("compiled", result.compiled)
      .add("elapsed_ms", result.elapsed_ms)
      .add("together_ms", result.together_ms);
  if (result.one_worker_ms) json.add("one_worker_ms", *result.one_worker_ms);
  if (const auto times = result.speed_up()) json.add_raw("speed_up", fmt::format("{:.2f}", *times));
  json.add("proven", result.violations().empty())
      .add_raw("proof", proof.text())
      .add_raw("violations", violations.text());
  terminal.reply(json);
}

Done run_demo(Invocation& call) {
  const verbs::Demo request{
      .workers = static_cast<std::size_t>(call.args.number("--workers").value_or(kWorkersDefault)),
      .items = static_cast<std::size_t>(call.args.number("--items").value_or(kItemsDefault)),
      .seed = static_cast<std::uint64_t>(call.args.number("--seed").value_or(1))};
  Result<ScratchDirectory> scratch = verbs::demo_directory(call.workspace);
  if (!scratch) return fail(scratch.error());
  if (call.args.has("--keep")) scratch->keep();
  call.terminal.say(fmt::format("a small C program in a scratch repository, with {} steps to write",
                                request.items));
  call.terminal.flush();
  Story story(call.terminal, request.items);
  const Result<verbs::DemoResult> result =
      verbs::demo(call.workspace, request, scratch->path(), story.watch());
  story.end();
  if (!result) return fail(result.error());
  print_result(call.terminal, *result);
  reply(call.terminal, request, *result);
  if (call.args.has("--keep"))
    call.terminal.say(fmt::format("  kept: git -C {}/repository log --graph --oneline",
                                  shell_word(scratch->path())));
  const std::size_t wrong = result->violations().size();
  if (wrong == 0) return {};
  return fail(ErrorKind::internal,
              fmt::format("{} violation{}: dibs broke its promise", wrong, wrong == 1 ? "" : "s"),
              fmt::format("run it again and look at what it leaves: dibs demo --keep --seed {}",
                          request.seed));
}

constexpr std::array<Command, 1> kCommands{{
    {.name = "demo",
     .summary = "watch workers do a whole project, and see it proven",
     .details =
         "A scratch repository with a small C project, items that depend on each other, and\n"
         "dibs run with workers that edit, compile and commit. Some change the same file, one\n"
         "makes a mistake that a gate has to catch, one is killed with -9, and an agent beside\n"
         "them sleeps over its lease. At the end it is checked: every item landed exactly once\n"
         "and in order, never two holders at once, whoever lost its lease was refused, and\n"
         "nothing is left behind. What one worker would have taken is measured with a few items\n"
         "first.\n"
         "\n"
         "It needs git and sh; without a C compiler (cc) nothing is compiled.",
     .positionals = {},
     .options = kOptions,
     .example = "dibs demo --workers 8 --items 40",
     .run = run_demo},
}};

}  // namespace

std::span<const Command> demo_commands() { return kCommands; }

}  // namespace dibs::cli
