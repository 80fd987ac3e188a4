// `dibs item import|export`: items from and to other tools' files.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/item_render.h"
#include "verbs/item_exchange.h"

namespace dibs::cli {

namespace {

constexpr std::string_view kFormats = "beads|aitasks|folders|json";
constexpr std::array<Positional, 1> kPath{
    {{.name = "PATH", .meaning = "the file (beads, json) or folder (aitasks, folders)"}}};
constexpr std::array<Option, 1> kFrom{{{.name = "--from",
                                        .takes = Takes::text,
                                        .value = "FORMAT",
                                        .meaning = "beads, aitasks, folders or json (default json)",
                                        .choices = kFormats}}};
constexpr std::array<Option, 1> kTo{{{.name = "--to",
                                      .takes = Takes::text,
                                      .value = "FORMAT",
                                      .meaning = "beads, aitasks, folders or json (default json)",
                                      .choices = kFormats}}};

Done run_import(Invocation& call) {
  const Result<verbs::Imported> imported = verbs::import_items(
      call.workspace,
      {.format = call.args.text("--from").value_or("json"), .path = call.args.words().front()});
  if (!imported) return fail(imported.error());
  call.terminal.reply(JsonObject()
                          .add("added", std::uint64_t{imported->added})
                          .add("changed", std::uint64_t{imported->changed})
                          .add("unchanged", std::uint64_t{imported->unchanged})
                          .add_raw("broken", broken_json(imported->broken)));
  call.terminal.say(fmt::format("{} {} new, {} changed, {} as they were",
                                call.terminal.styled(Style::good, "imported:"), imported->added,
                                imported->changed, imported->unchanged));
  print_broken(call.terminal, imported->broken);
  return {};
}

Done run_export(Invocation& call) {
  const std::string& path = call.args.words().front();
  const Result<std::size_t> count = verbs::export_items(
      call.workspace, {.format = call.args.text("--to").value_or("json"), .path = path});
  if (!count) return fail(count.error());
  call.terminal.reply(JsonObject().add("count", std::uint64_t{*count}).add("path", path));
  call.terminal.say(fmt::format("{} {} items to {}", call.terminal.styled(Style::good, "exported"),
                                *count, printable(path)));
  return {};
}

constexpr std::array<Command, 2> kCommands{{
    {.name = "item import",
     .summary = "take over items from another tool's files",
     .details = "All in one commit. What is there already becomes as the file has it; what cannot "
                "be read is named and left\n"
                "out. The original text of each is kept with it, so that exporting it again gives "
                "the same bytes.",
     .positionals = kPath,
     .options = kFrom,
     .example = "dibs item import --from beads .beads/issues.jsonl",
     .run = run_import},
    {.name = "item export",
     .summary = "write all items to another tool's files",
     .details = {},
     .positionals = kPath,
     .options = kTo,
     .example = "dibs item export --to aitasks aitasks",
     .run = run_export},
}};

}  // namespace

std::span<const Command> item_exchange_commands() { return kCommands; }

}  // namespace dibs::cli
