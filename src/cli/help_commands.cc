// `dibs help` and `dibs completion`.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/help.h"
#include "cli/invocation.h"

namespace dibs::cli {

namespace {

constexpr std::array<Positional, 1> kTopic{
    {{.name = "TOPIC", .meaning = "a command, or exit-codes", .least = 0, .most = 3}}};
constexpr std::array<Option, 1> kHelpOptions{{{.name = "--man",
                                               .takes = Takes::text,
                                               .value = "DIR",
                                               .meaning = "write the manual pages into DIR"}}};

Done write_manual(Invocation& call, const std::string& directory) {
  FileSystem& files = call.workspace.system().files;
  if (Done made = files.make_directory(directory, 0755); !made) return made;
  for (const auto& [name, contents] : manual_pages()) {
    if (Done written = files.replace_file(directory + "/" + name, contents, 0644); !written)
      return written;
  }
  call.terminal.say(
      fmt::format("wrote {} manual pages to {}", manual_pages().size(), printable(directory)));
  return {};
}

Done run_help(Invocation& call) {
  if (const auto directory = call.args.text("--man")) return write_manual(call, *directory);
  std::string topic;
  for (const std::string& word : call.args.words()) topic += (topic.empty() ? "" : " ") + word;
  if (topic.empty()) {
    call.terminal.show(overview_text());
    return {};
  }
  if (topic == "exit-codes") {
    call.terminal.show(exit_codes_text());
    return {};
  }
  const auto found = std::ranges::find(commands(), topic, &Command::name);
  if (found != commands().end()) {
    call.terminal.show(help_text(*found));
    return {};
  }
  const bool group = std::ranges::any_of(
      commands(), [&](const Command& c) { return c.name.starts_with(topic + " "); });
  if (!group)
    return fail(ErrorKind::usage, fmt::format("there is no help on '{}'", printable(topic)),
                "see the commands: dibs help");
  call.terminal.show(group_text(topic));
  return {};
}

constexpr std::array<Positional, 1> kShell{{{.name = "SHELL", .meaning = "bash, zsh or fish"}}};

Done run_completion(Invocation& call) {
  const std::string& shell = call.args.words().front();
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    return fail(ErrorKind::usage, fmt::format("there is no completion for '{}'", printable(shell)),
                "one of: bash, zsh, fish");
  }
  call.terminal.show(completion_script(shell));
  return {};
}

constexpr std::array<Command, 2> kCommands{{
    {.name = "completion",
     .summary = "print a completion script for bash, zsh or fish",
     .details = "",
     .positionals = kShell,
     .options = {},
     .example = "source <(dibs completion bash)",
     .run = run_completion},
    {.name = "help",
     .summary = "show help on a command, or on exit-codes",
     .details = "",
     .positionals = kTopic,
     .options = kHelpOptions,
     .example = "dibs help claim acquire",
     .run = run_help},
}};

}  // namespace

std::span<const Command> help_commands() { return kCommands; }

}  // namespace dibs::cli
