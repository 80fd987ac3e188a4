// `dibs item stamp`: an id for what lies in new/.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "verbs/item_stamp.h"

namespace dibs::cli {

namespace {

constexpr std::array<Positional, 1> kNames{
    {{.name = "NAME", .meaning = "what lies in new/; none: all of it", .least = 0, .most = 1000}}};

Done run_stamp(Invocation& call) {
  const Result<std::vector<verbs::StampedItem>> stamped =
      verbs::stamp_items(call.workspace, call.args.words());
  if (!stamped) return fail(stamped.error());
  JsonArray array;
  for (const verbs::StampedItem& item : *stamped) {
    array.add_raw(JsonObject().add("was", item.was.text).add("id", item.id.text).text());
    call.terminal.say(fmt::format("{} {} → {}", call.terminal.styled(Style::good, "stamped"),
                                  printable(item.was.text), printable(item.id.text)));
  }
  if (stamped->empty()) call.terminal.say("nothing is new");
  call.terminal.reply(
      JsonObject().add_raw("stamped", array.text()).add("count", std::uint64_t{stamped->size()}));
  return {};
}

constexpr std::array<Command, 1> kCommands{{
    {.name = "item stamp",
     .summary = "give new work in folders its id",
     .details =
         "With items.source = folders, NAME in new/ becomes NAME-b5c6d7e8 in stamped/, all in "
         "one commit on\n"
         "the target branch. What has such an id keeps it.",
     .positionals = kNames,
     .options = {},
     .example = "dibs item stamp lostmypassword",
     .run = run_stamp},
}};

}  // namespace

std::span<const Command> item_stamp_commands() { return kCommands; }

}  // namespace dibs::cli
