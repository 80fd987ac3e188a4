// `item fail`: what a worker says of an item that it could not do.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/item_render.h"
#include "verbs/item_failure.h"

namespace dibs::cli {

namespace {

constexpr std::size_t kOutputMax = 64UL * 1024 * 1024;

constexpr std::array<Positional, 1> kItem{
    {{.name = "ITEM", .meaning = "an item id, or as much of its beginning as is unique"}}};
constexpr std::array<Option, 4> kOptions{{
    {.name = "--reason", .takes = Takes::text, .value = "TEXT", .meaning = "what went wrong"},
    {.name = "--output",
     .takes = Takes::text,
     .value = "TEXT",
     .meaning = "what the work said, its end is kept; - reads it from standard input"},
    {.name = "--max-tries",
     .takes = Takes::number,
     .value = "N",
     .meaning = "at the Nth failure it waits for somebody to look at it (default 3)",
     .least = 1,
     .most = kItemTriesMax},
    {.name = "--park", .meaning = "let it wait at once"},
}};

Done run_fail(Invocation& call) {
  Result<std::string> output = call.args.text("--output").value_or("");
  if (*output == "-") output = call.workspace.system().standard_input(kOutputMax);
  if (!output) return fail(output.error());
  const Result<verbs::FailedItem> failed = verbs::fail_item(
      call.workspace,
      {.item = call.args.words().front(),
       .reason = call.args.text("--reason").value_or(""),
       .output = *output,
       .then = call.args.has("--park") ? verbs::FailItem::Then::park : verbs::FailItem::Then::retry,
       .tries_max = call.args.number("--max-tries").value_or(verbs::kTriesDefault)});
  if (!failed) return fail(failed.error());
  const std::string json = item_json(failed->shown);
  call.terminal.reply(JsonObject()
                          .add_members(std::string_view(json).substr(1, json.size() - 2))
                          .add("parked", failed->parked));
  const std::string id = failed->shown.item.id.text;
  call.terminal.say(fmt::format("{} {}, {} so far", call.terminal.styled(Style::bad, "failed"),
                                printable(id), failed->shown.item.tries));
  if (failed->parked)
    call.terminal.say(fmt::format("  it is {} now; see why: dibs item show {}",
                                  printable(failed->shown.state), shell_word(id)));
  return {};
}

constexpr std::array<Command, 1> kCommands{{
    {.name = "item fail",
     .summary = "say that work on an item did not succeed",
     .details =
         "Counts a try and keeps what was said last as a comment. The item can be taken again; "
         "after too many\n"
         "tries it waits for somebody who has looked at it and moves it on: dibs item update ITEM "
         "--state ready.\n"
         "The lease stays: give that back with dibs abandon.",
     .positionals = kItem,
     .options = kOptions,
     .example = "dibs item fail fix-login --reason \"the tests hang\"",
     .run = run_fail},
}};

}  // namespace

std::span<const Command> item_failure_commands() { return kCommands; }

}  // namespace dibs::cli
