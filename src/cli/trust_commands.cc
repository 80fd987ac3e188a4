// Letting commands run that came with the repository: trust.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "verbs/trust.h"

namespace dibs::cli {

namespace {

constexpr int kStandardInput = 0;

std::string judged_json(const verbs::JudgedCommand& judged) {
  JsonArray words;
  for (const std::string& word : judged.command.words) words.add(word);
  return JsonObject()
      .add("kind", judged.command.kind)
      .add("name", judged.command.name)
      .add_raw("command", words.text())
      .add("origin", judged.command.origin)
      .add("standing", name_of(judged.standing))
      .add("may_run", judged.may_run())
      .text();
}

void say_judged(Terminal& terminal, const verbs::JudgedCommand& judged) {
  terminal.say(fmt::format("{} {}: {}  {}", judged.command.kind,
                           terminal.styled(Style::strong, judged.command.name),
                           shown(judged.command),
                           terminal.styled(judged.may_run() ? Style::good : Style::bad,
                                           fmt::format("[{}]", name_of(judged.standing)))));
  terminal.say(terminal.styled(Style::dim, "  " + printable(judged.command.origin)));
}

void reply_with(Terminal& terminal, const std::vector<verbs::JudgedCommand>& judged,
                std::size_t trusted_now) {
  JsonArray commands;
  for (const verbs::JudgedCommand& one : judged) commands.add_raw(judged_json(one));
  terminal.reply(JsonObject()
                     .add_raw("commands", commands.text())
                     .add("count", std::uint64_t{judged.size()})
                     .add("trusted_now", std::uint64_t{trusted_now}));
}

Done list_commands(Invocation& call) {
  const Result<std::vector<verbs::JudgedCommand>> judged = verbs::judged_commands(call.workspace);
  if (!judged) return fail(judged.error());
  for (const verbs::JudgedCommand& one : *judged) say_judged(call.terminal, one);
  if (judged->empty()) call.terminal.say("no commands are configured");
  reply_with(call.terminal, *judged, 0);
  return {};
}

Done revoke(Invocation& call) {
  const Result<std::size_t> revoked = verbs::revoke_trust(call.workspace);
  if (!revoked) return fail(revoked.error());
  call.terminal.reply(JsonObject().add("revoked", std::uint64_t{*revoked}));
  call.terminal.say(fmt::format("{} command{} trusted any more", *revoked,
                                *revoked == 1 ? " is not" : "s are not"));
  return {};
}

// Whoever cannot be asked has to have said it before.
Result<bool> agreed(Invocation& call) {
  if (call.args.has("--yes")) return true;
  if (call.terminal.json() || !is_terminal(kStandardInput)) {
    return fail(ErrorKind::usage, "nobody can be asked whether these commands may run",
                "look at them with: dibs trust --list; then allow them: dibs trust --yes");
  }
  return call.terminal.ask("May they run in this clone?");
}

Done run_trust(Invocation& call) {
  if (call.args.has("--list")) return list_commands(call);
  if (call.args.has("--revoke")) return revoke(call);
  const Result<std::vector<verbs::JudgedCommand>> judged = verbs::judged_commands(call.workspace);
  if (!judged) return fail(judged.error());
  std::vector<ConfiguredCommand> wanted;
  for (const verbs::JudgedCommand& one : *judged) {
    if (one.may_run()) continue;
    say_judged(call.terminal, one);
    wanted.push_back(one.command);
  }
  if (wanted.empty()) {
    call.terminal.say("there is nothing to trust");
    reply_with(call.terminal, *judged, 0);
    return {};
  }
  const Result<bool> yes = agreed(call);
  if (!yes) return fail(yes.error());
  if (!*yes) return fail(ErrorKind::refused, "nothing was trusted", "");
  // What was shown, whatever the file says by now.
  if (Done trusted = verbs::trust(call.workspace, wanted); !trusted) return trusted;
  const Result<std::vector<verbs::JudgedCommand>> after = verbs::judged_commands(call.workspace);
  if (!after) return fail(after.error());
  reply_with(call.terminal, *after, wanted.size());
  call.terminal.say(fmt::format("{} {} command{}", call.terminal.styled(Style::good, "trusted"),
                                wanted.size(), wanted.size() == 1 ? "" : "s"));
  return {};
}

constexpr std::array<Option, 3> kOptions{{
    {.name = "--yes", .meaning = "do not ask"},
    {.name = "--list", .meaning = "show all configured commands and whether they may run"},
    {.name = "--revoke", .meaning = "let nothing run any more that came with the repository"},
}};

constexpr std::array<Command, 1> kCommands{{
    {.name = "trust",
     .summary = "let commands run that came with the repository",
     .details = "Gates, workers and resolvers in .dibs/config.toml come from whoever wrote the "
                "repository. They run only after\n"
                "they were trusted in this clone, and not any more once they change. What you "
                "configured yourself, in this\n"
                "clone's or your own config.toml, needs no trust.\n\n"
                "The command as it is written is trusted, not the files that it runs.",
     .positionals = {},
     .options = kOptions,
     .example = "dibs trust --list",
     .run = run_trust},
}};

}  // namespace

std::span<const Command> trust_commands() { return kCommands; }

}  // namespace dibs::cli
