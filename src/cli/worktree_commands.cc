// Worktrees: who they are, making and removing them, and bringing back what was kept.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "base/time.h"
#include "cli/invocation.h"
#include "verbs/worktree.h"

namespace dibs::cli {

namespace {

JsonObject worktree_json(const verbs::WorktreeInfo& info) {
  JsonObject json;
  if (info.identity) {
    json.add("worktree_id", info.identity->id.text);
  } else {
    json.add_raw("worktree_id", "null");
  }
  json.add("root", info.root)
      .add("branch", info.branch)
      .add("main", info.main)
      .add("current", info.current);
  if (info.identity) json.add("created_at", rfc3339(info.identity->created_unix_ms));
  if (info.identity && info.identity->relocated_unix_ms)
    json.add("relocated_at", rfc3339(*info.identity->relocated_unix_ms));
  JsonArray held;
  for (const Key& key : info.held) held.add(key.text);
  json.add_raw("held", held.text());
  return json;
}

std::string worktree_line(const verbs::WorktreeInfo& info) {
  std::string held;
  for (const Key& key : info.held) held += " " + printable(key.text);
  return fmt::format("{} {:<11}  {}  [{}]{}{}", info.current ? "*" : " ",
                     info.identity ? info.identity->id.text : "(no id yet)", printable(info.root),
                     info.branch.empty() ? "detached" : printable(info.branch),
                     held.empty() ? "" : "  holds", held);
}

Done show_worktree(Invocation& call, const Result<verbs::WorktreeInfo>& info) {
  if (!info) return fail(info.error());
  call.terminal.reply(worktree_json(*info));
  call.terminal.say(worktree_line(*info));
  return {};
}

Done run_worktree_info(Invocation& call) {
  return show_worktree(call, verbs::worktree_info(call.workspace));
}
Done run_worktree_init(Invocation& call) {
  return show_worktree(call, verbs::worktree_init(call.workspace));
}

Done run_worktree_list(Invocation& call) {
  const Result<std::vector<verbs::WorktreeInfo>> infos = verbs::worktree_list(call.workspace);
  if (!infos) return fail(infos.error());
  JsonArray worktrees;
  for (const verbs::WorktreeInfo& info : *infos) {
    worktrees.add_raw(worktree_json(info).text());
    call.terminal.say(worktree_line(info));
  }
  call.terminal.reply(JsonObject()
                          .add_raw("worktrees", worktrees.text())
                          .add("count", std::uint64_t{infos->size()}));
  return {};
}

constexpr std::array<Positional, 2> kAddWords{
    {{.name = "ITEM",
      .meaning = "gets the branch dibs/ITEM; left out when --branch is given",
      .least = 0},
     {.name = "PATH", .meaning = "where to make it", .least = 0}}};
constexpr std::array<Option, 1> kAddOptions{
    {{.name = "--branch",
      .takes = Takes::text,
      .value = "NAME",
      .meaning = "on this branch, made from the target branch if it is not there"}}};

Done run_worktree_add(Invocation& call) {
  verbs::WorktreeAdd request{
      .item = call.args.word(0), .branch = call.args.text("--branch"), .path = call.args.word(1)};
  if (request.branch) {
    if (request.path) {
      return fail(ErrorKind::usage, "name either an item or a branch",
                  "for example: dibs worktree add --branch topic ../topic");
    }
    request.path = std::exchange(request.item, std::nullopt);
  }
  const Result<verbs::WorktreeAdded> added = verbs::worktree_add(call.workspace, request);
  if (!added) return fail(added.error());
  call.terminal.reply(JsonObject()
                          .add("path", added->path)
                          .add("branch", added->branch)
                          .add("worktree_id", added->identity.id.text)
                          .add("commit", added->commit)
                          .add("target", added->base));
  call.terminal.say(fmt::format("{} {}  [{}]{}{}", call.terminal.styled(Style::good, "made"),
                                printable(added->path), printable(added->branch),
                                added->base.empty() ? "" : " from ", printable(added->base)));
  call.terminal.say(
      call.terminal.styled(Style::dim, "  next: cd " + printable(shell_word(added->path))));
  return {};
}

constexpr std::array<Positional, 1> kPath{
    {{.name = "PATH", .meaning = "the worktree's directory"}}};

JsonObject rescue_json(const Rescued& rescued) {
  const RescueNote& note = rescued.note;
  JsonObject json;
  json.add("name", rescued.name)
      .add("commit", rescued.commit)
      .add("label", note.label)
      .add("why", note.why)
      .add("agent_id", note.agent)
      .add("worktree_id", note.worktree_id)
      .add("path", note.path)
      .add("branch", note.branch)
      .add("head", note.head)
      .add("kept_at", rfc3339(note.unix_ms))
      .add("tracked", std::uint64_t{note.tracked})
      .add("untracked", std::uint64_t{note.untracked});
  JsonArray submodules;
  for (const RescueNote::Submodule& submodule : note.submodules) submodules.add(submodule.path);
  json.add_raw("submodules", submodules.text());
  return json;
}

std::string what_is_kept(const RescueNote& note) {
  std::string text = fmt::format("{} changed, {} new", note.tracked, note.untracked);
  if (!note.submodules.empty()) text += fmt::format(", {} submodules", note.submodules.size());
  if (note.tracked + note.untracked == 0 && note.submodules.empty()) text = "commits on no branch";
  return text;
}

Done run_worktree_remove(Invocation& call) {
  const Result<verbs::WorktreeRemoved> removed =
      verbs::worktree_remove(call.workspace, call.args.words().front());
  if (!removed) return fail(removed.error());
  JsonObject json;
  json.add("path", removed->path).add("branch", removed->branch);
  json.add_raw("rescue", removed->rescue ? rescue_json(*removed->rescue).text() : "null");
  call.terminal.reply(json);
  call.terminal.say(fmt::format(
      "{} {}{}{}", call.terminal.styled(Style::good, "removed"), printable(removed->path),
      removed->branch.empty() ? "" : "; its branch stays: ", printable(removed->branch)));
  if (!removed->rescue) return {};
  call.terminal.say(
      fmt::format("  what was not committed is kept ({})", what_is_kept(removed->rescue->note)));
  call.terminal.say(call.terminal.styled(
      Style::dim, "  bring it back: dibs worktree rescue restore " + removed->rescue->name));
  return {};
}

Done run_rescue_list(Invocation& call) {
  const Result<std::vector<Rescued>> all = verbs::rescue_list(call.workspace);
  if (!all) return fail(all.error());
  JsonArray rescues;
  for (const Rescued& rescued : *all) {
    rescues.add_raw(rescue_json(rescued).text());
    call.terminal.say(
        fmt::format("{}  {}  {}  [{}]  {}", rescued.name, rfc3339(rescued.note.unix_ms),
                    what_is_kept(rescued.note),
                    rescued.note.branch.empty() ? "detached" : printable(rescued.note.branch),
                    printable(rescued.note.path)));
  }
  if (all->empty()) call.terminal.say("nothing is kept");
  call.terminal.reply(
      JsonObject().add_raw("rescues", rescues.text()).add("count", std::uint64_t{all->size()}));
  return {};
}

constexpr std::array<Positional, 2> kRescueAndPath{
    {{.name = "NAME", .meaning = "as `worktree rescue list` shows it, or its last part"},
     {.name = "PATH",
      .meaning = "where to make the worktree; where it was if left out",
      .least = 0}}};
constexpr std::array<Positional, 1> kRescue{
    {{.name = "NAME", .meaning = "as `worktree rescue list` shows it, or its last part"}}};

Done run_rescue_restore(Invocation& call) {
  const Result<verbs::RescueRestored> restored =
      verbs::rescue_restore(call.workspace, call.args.words().front(), call.args.word(1));
  if (!restored) return fail(restored.error());
  call.terminal.reply(JsonObject()
                          .add("path", restored->path)
                          .add("branch", restored->branch)
                          .add_raw("rescue", rescue_json(restored->rescued).text()));
  call.terminal.say(fmt::format(
      "{} {}  [{}]", call.terminal.styled(Style::good, "restored"), printable(restored->path),
      restored->branch.empty() ? "detached" : printable(restored->branch)));
  call.terminal.say(call.terminal.styled(
      Style::dim,
      "  once it is no longer needed: dibs worktree rescue drop " + restored->rescued.name));
  return {};
}

Done run_rescue_drop(Invocation& call) {
  const Result<Rescued> dropped = verbs::rescue_drop(call.workspace, call.args.words().front());
  if (!dropped) return fail(dropped.error());
  call.terminal.reply(JsonObject().add("name", dropped->name).add("commit", dropped->commit));
  call.terminal.say(fmt::format("dropped {}", dropped->name));
  // Until git collects it, one can still change one's mind.
  call.terminal.say(
      call.terminal.styled(Style::dim, fmt::format("  undo: git update-ref refs/dibs/rescue/{} {}",
                                                   dropped->name, dropped->commit)));
  return {};
}

constexpr std::array<Command, 8> kCommands{{
    {.name = "worktree info",
     .summary = "show this worktree's name and what it holds",
     .details = "",
     .positionals = {},
     .options = {},
     .example = "dibs worktree info --json",
     .run = run_worktree_info},
    {.name = "worktree list",
     .summary = "list the worktrees and what each holds",
     .details = "",
     .positionals = {},
     .options = {},
     .example = "dibs worktree list",
     .run = run_worktree_list},
    {.name = "worktree init",
     .summary = "give this worktree its name now",
     .details = "The first claim does it too.",
     .positionals = {},
     .options = {},
     .example = "dibs worktree init",
     .run = run_worktree_init},
    {.name = "worktree add",
     .summary = "make a worktree for an item or a branch",
     .details = "Starts from the target branch: the setting landing.target, else the one the "
                "remote calls its own,\n"
                "main or master; with --store git it is fetched first. Takes no lease.\n\n"
                "Without PATH it goes into REPOSITORY.worktrees beside the repository, or where "
                "the setting\n"
                "worktree.directory says.",
     .positionals = kAddWords,
     .options = kAddOptions,
     .example = "dibs worktree add 42",
     .run = run_worktree_add},
    {.name = "worktree remove",
     .summary = "remove a worktree; what is not committed is kept",
     .details = "Changed, staged, deleted and new files (ignored ones not) and commits on no "
                "branch are kept first,\n"
                "for `worktree rescue restore`. Refused while a lease lives there.",
     .positionals = kPath,
     .options = {},
     .example = "dibs worktree remove ../project.worktrees/42",
     .run = run_worktree_remove},
    {.name = "worktree rescue list",
     .summary = "list what was kept of removed worktrees",
     .details = "",
     .positionals = {},
     .options = {},
     .example = "dibs worktree rescue list",
     .run = run_rescue_list},
    {.name = "worktree rescue restore",
     .summary = "make a worktree as it was, byte for byte",
     .details = "On its branch if that is free and where it was, else on a new one like it. What "
                "was kept stays kept\n"
                "until it is dropped.",
     .positionals = kRescueAndPath,
     .options = {},
     .example = "dibs worktree rescue restore 42/01HZX4J9QK3V5Y7T8W2M6N0PRS",
     .run = run_rescue_restore},
    {.name = "worktree rescue drop",
     .summary = "forget what was kept of one worktree",
     .details = "",
     .positionals = kRescue,
     .options = {},
     .example = "dibs worktree rescue drop 42/01HZX4J9QK3V5Y7T8W2M6N0PRS",
     .run = run_rescue_drop},
}};

}  // namespace

std::span<const Command> worktree_commands() { return kCommands; }

}  // namespace dibs::cli
