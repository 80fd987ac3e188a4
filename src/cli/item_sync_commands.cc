// `dibs item sync` and `dibs merge-driver`: items that come together from several clones or
// branches.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "verbs/item_sync.h"
#include "verbs/merge_driver.h"

namespace dibs::cli {

namespace {

constexpr std::array<Option, 1> kSyncOptions{{
    {.name = "--remote",
     .takes = Takes::text,
     .value = "NAME",
     .meaning = "a git remote (default: store.remote)"},
}};

std::string count_of(std::size_t count, std::string_view what) {
  return fmt::format("{} {} {}", count, count == 1 ? "item" : "items", what);
}

Done run_sync(Invocation& call) {
  const Result<verbs::SyncedItems> synced =
      verbs::sync_items(call.workspace, call.args.text("--remote"));
  if (!synced) return fail(synced.error());
  const ItemSyncEnd& end = synced->end;
  call.terminal.reply(JsonObject()
                          .add("remote", synced->remote)
                          .add("pulled", std::uint64_t{end.pulled})
                          .add("pushed", std::uint64_t{end.pushed})
                          .add("merged", std::uint64_t{end.merged}));
  call.terminal.say(fmt::format("{} with {}: {}, {}{}", call.terminal.styled(Style::good, "synced"),
                                printable(synced->remote), count_of(end.pulled, "pulled"),
                                count_of(end.pushed, "pushed"),
                                end.merged == 0 ? "" : ", " + count_of(end.merged, "merged")));
  return {};
}

constexpr std::array<Positional, 4> kMergeFiles{{
    {.name = "BASE", .meaning = "what both versions come from: git's %O"},
    {.name = "OURS", .meaning = "our version, which becomes the merged one: %A"},
    {.name = "THEIRS", .meaning = "their version: %B"},
    {.name = "PATH", .meaning = "where the file is in the repository: %P"},
}};

Done run_merge_driver(Invocation& call) {
  const std::vector<std::string>& words = call.args.words();
  return verbs::merge_files(
      call.workspace, {.base = words[0], .ours = words[1], .theirs = words[2], .path = words[3]});
}

constexpr std::array<Command, 2> kCommands{{
    {.name = "item sync",
     .summary = "exchange items with a git remote",
     .details =
         "Changes of both sides come together: labels, dependencies and comments of both; of "
         "a title, a state or\n"
         "a priority that both changed the later one. With a git store this happens by "
         "itself, see items.sync.",
     .positionals = {},
     .options = kSyncOptions,
     .example = "dibs item sync --remote origin",
     .run = run_sync},
    {.name = "merge-driver",
     .summary = "merge a file of items, for git",
     .details = "For items that lie in the work tree. Let git call it:\n\n"
                "git config merge.dibs.driver \"dibs merge-driver %O %A %B %P\"\n\n"
                "echo '.dibs/items/*.json merge=dibs' >> .gitattributes\n\n"
                "echo '.beads/issues.jsonl merge=dibs' >> .gitattributes\n\n"
                "echo 'aitasks/**/*.md merge=dibs' >> .gitattributes\n\n"
                "Where only lines can be merged, it is as git does it; exit 1 leaves conflict "
                "marks.",
     .positionals = kMergeFiles,
     .options = {},
     .example = "dibs merge-driver %O %A %B %P",
     .run = run_merge_driver},
}};

}  // namespace

std::span<const Command> item_sync_commands() { return kCommands; }

}  // namespace dibs::cli
