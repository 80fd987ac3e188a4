// From an item to the target branch: start, done, abandon.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/render.h"
#include "verbs/landing.h"

namespace dibs::cli {

namespace {

constexpr std::array<Positional, 1> kItem{{{.name = "ITEM", .meaning = "an item id"}}};
constexpr std::array<Positional, 1> kOptionalItem{
    {{.name = "ITEM",
      .meaning = "an item id; left out, it is the one held from this worktree",
      .least = 0}}};

constexpr std::array<Option, 5> kStartOptions{{
    {.name = "--path",
     .takes = Takes::text,
     .value = "PATH",
     .meaning = "where to make the worktree (default: beside the repository)"},
    {.name = "--ttl",
     .takes = Takes::number,
     .value = "SECS",
     .meaning = "how long the lease lasts (default: as the settings say)",
     .least = 1,
     .most = kTtlSecsMax},
    {.name = "--strategy",
     .takes = Takes::text,
     .value = "HOW",
     .meaning = "when it is held: fail-fast, retry, steal-stale or force",
     .choices = "fail-fast|retry|steal-stale|force"},
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

Done run_start(Invocation& call) {
  verbs::Start request{
      .item = call.args.words().front(),
      .path = call.args.text("--path"),
      .ttl_secs = call.args.number("--ttl"),
      .strategy = verbs::parse_strategy(call.args.text("--strategy").value_or("fail-fast"))
                      .value_or(verbs::Strategy::fail_fast),
      .pid = call.args.number("--pid"),
      .reason = call.args.text("--reason").value_or("")};
  const Result<verbs::Started> started = verbs::start(call.workspace, request);
  if (!started) return fail(started.error());
  const HeldLease& held = started->held;
  JsonObject json;
  json.add_members(public_members(held.lease, held.resource))
      .add("already_held", held.already_held)
      .add("path", started->path)
      .add("work_branch", started->branch);
  if (!started->target.empty()) json.add("target", started->target).add("base", started->base);
  call.terminal.reply(json);
  print_lease(call.terminal, held.already_held ? "already started" : "started", held);
  call.terminal.say(
      fmt::format("  {} on branch {}", printable(started->path), printable(started->branch)));
  call.terminal.say(
      call.terminal.styled(Style::dim, fmt::format("  next: cd {}", shell_word(started->path))));
  call.terminal.say(call.terminal.styled(Style::dim, "        work, commit, then: dibs done"));
  return {};
}

void say_kept(Terminal& terminal, const std::optional<Rescued>& rescue) {
  if (!rescue) return;
  terminal.say(fmt::format("  kept: {}", printable(rescue->name)));
  terminal.say(terminal.styled(Style::dim,
                               fmt::format("  bring it back with: dibs worktree rescue restore {}",
                                           shell_word(rescue->name))));
}

void add_rescue(JsonObject& json, const std::optional<Rescued>& rescue) {
  if (rescue) {
    json.add("rescue", rescue->name);
  } else {
    json.add_raw("rescue", "null");
  }
}

constexpr std::array<Option, 4> kDoneOptions{{
    {.name = "--mode",
     .takes = Takes::text,
     .value = "HOW",
     .meaning = "merge, rebase or squash (default: landing.mode)",
     .choices = "merge|rebase|squash"},
    {.name = "--keep-worktree", .meaning = "leave the worktree and its branch there"},
    {.name = "--no-gates", .meaning = "land without passing the gates"},
    {.name = "--reason",
     .takes = Takes::text,
     .value = "TEXT",
     .meaning = "why gates are skipped; written into the commit"},
}};

Done run_done(Invocation& call) {
  verbs::Land request{
      .item = call.args.word(0),
      .mode = std::nullopt,
      .afterwards = call.args.has("--keep-worktree") ? verbs::Land::Afterwards::keep_worktree
                                                     : verbs::Land::Afterwards::remove_worktree,
      .gates = call.args.has("--no-gates") ? verbs::Land::Gates::skip : verbs::Land::Gates::pass,
      .reason = call.args.text("--reason").value_or("")};
  if (const auto mode = call.args.text("--mode")) request.mode = parse_land_mode(*mode);
  const Result<verbs::Landed> landed = verbs::land(call.workspace, request);
  if (!landed) return fail(landed.error());
  JsonObject json;
  JsonArray notes;
  for (const std::string& note : landed->notes) notes.add(note);
  json.add("item", landed->item.text)
      .add("lease_id", landed->lease.text)
      .add("landed_commit", landed->commit)
      .add("target", landed->target)
      .add("released", true)
      .add("already_landed", landed->already)
      .add("path", landed->path)
      .add("worktree_removed", landed->worktree_removed)
      .add_raw("notes", notes.text());
  if (!landed->item_state.empty()) json.add("item_state", landed->item_state);
  add_rescue(json, landed->leftovers);
  call.terminal.reply(json);
  call.terminal.say(
      fmt::format("{} {} on {}: {}",
                  call.terminal.styled(Style::good, landed->already ? "already landed" : "landed"),
                  printable(landed->item.text), printable(landed->target), landed->commit));
  if (landed->worktree_removed)
    call.terminal.say(fmt::format("  the worktree {} is gone", printable(landed->path)));
  say_kept(call.terminal, landed->leftovers);
  for (const std::string& note : landed->notes) call.terminal.say("  note: " + note);
  return {};
}

constexpr std::array<Option, 1> kAbandonOptions{{{.name = "--reason",
                                                  .takes = Takes::text,
                                                  .value = "TEXT",
                                                  .meaning = "why; kept in the history"}}};

Done run_abandon(Invocation& call) {
  const Result<verbs::Abandoned> abandoned = verbs::abandon(
      call.workspace,
      {.item = call.args.word(0), .reason = call.args.text("--reason").value_or("")});
  if (!abandoned) return fail(abandoned.error());
  JsonObject json;
  json.add("item", abandoned->item.text)
      .add("released", abandoned->released)
      .add("path", abandoned->path)
      .add("worktree_removed", abandoned->worktree_removed);
  add_rescue(json, abandoned->rescue);
  call.terminal.reply(json);
  call.terminal.say(fmt::format("{} {}{}", call.terminal.styled(Style::good, "gave up"),
                                printable(abandoned->item.text),
                                abandoned->released ? "" : " (its lease was lost before)"));
  if (abandoned->worktree_removed)
    call.terminal.say(fmt::format("  the worktree {} is gone", printable(abandoned->path)));
  say_kept(call.terminal, abandoned->rescue);
  if (!abandoned->rescue) call.terminal.say("  there was nothing to keep");
  return {};
}

constexpr std::array<Command, 3> kCommands{{
    {.name = "start",
     .summary = "claim an item and make a worktree to work on it",
     .details = "Takes the lease, then makes a worktree on a branch of its own, from the target "
                "branch as it is now.\n"
                "If the item is held by another, nothing is made. Run again, it answers with the "
                "worktree that is there.\n\n"
                "Gates of the stage precheck are run in it; if one fails, all of it is taken back.",
     .positionals = kItem,
     .options = kStartOptions,
     .example = "dibs start fix-login-b5c6d7e8",
     .run = run_start},
    {.name = "done",
     .summary = "land the work on the target branch and release the item",
     .details = "Merges the worktree's commits with the target branch as it is now, and then, in "
                "one step, moves the\n"
                "target there and gives the lease back: both or neither. Whoever has lost the "
                "lease cannot land; its\n"
                "work is kept on a rescue ref. A conflict changes nothing and names the files,\n"
                "unless [[conflicts]] in the configuration says what becomes of them.\n\n"
                "Before that, gates are run on the merged result, in a worktree of its own; one "
                "that fails changes\n"
                "nothing either (`dibs gate list`). The lease is kept alive meanwhile.\n\n"
                "The worktree that `start` made is removed, with its branch.",
     .positionals = kOptionalItem,
     .options = kDoneOptions,
     .example = "dibs done --mode squash",
     .run = run_done},
    {.name = "abandon",
     .summary = "give an item back and keep the work on a rescue ref",
     .details = "Releases the lease and removes the worktree that `start` made. Whatever is not on "
                "another branch,\n"
                "uncommitted files included, is kept first: `dibs worktree rescue list` shows it.",
     .positionals = kOptionalItem,
     .options = kAbandonOptions,
     .example = "dibs abandon --reason \"needs a decision\"",
     .run = run_abandon},
}};

}  // namespace

std::span<const Command> landing_commands() { return kCommands; }

}  // namespace dibs::cli
