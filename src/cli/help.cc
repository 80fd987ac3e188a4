#include "cli/help.h"

#include <fmt/core.h>

#include <array>

#include "base/error.h"

namespace dibs::cli {

namespace {

struct ExitCode {
  int code;
  std::string_view meaning;
};
constexpr std::array<ExitCode, 13> kExitCodes{{
    {0, "done"},
    {1, "internal or environment failure"},
    {3, "held by another, also after --strategy retry has used up its tries"},
    {4, "not found"},
    {5, "lease lost: expired, evicted or fenced off"},
    {6, "nothing ready"},
    {7, "timed out waiting"},
    {8, "refused by a rule"},
    {9, "chosen as deadlock victim"},
    {10, "not set up here: no repository, no `dibs init`, store missing"},
    {11, "store unreachable or outcome unknown: nothing may be assumed"},
    {12, "contended: others were faster too often"},
    {64, "usage"},
}};

std::string usage_of(const Command& command) {
  std::string usage = fmt::format("dibs {}", command.name);
  for (const Positional& positional : command.positionals) {
    const std::string name = std::string(positional.name) + (positional.most > 1 ? "…" : "");
    usage += positional.least == 0 ? fmt::format(" [{}]", name) : fmt::format(" {}", name);
  }
  if (!command.options.empty()) usage += " [OPTIONS]";
  return usage;
}

std::string option_line(const Option& option) {
  const std::string name =
      fmt::format("{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
  return fmt::format("  {:<20} {}\n", name, option.meaning);
}

std::string options_text(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    if (!option.hidden) text += option_line(option);
  }
  return text;
}

}  // namespace

std::string exit_codes_text() {
  std::string text = "Exit codes:\n";
  for (const ExitCode& entry : kExitCodes)
    text += fmt::format("  {:>2}  {}\n", entry.code, entry.meaning);
  return text;
}

std::string group_text(std::string_view group) {
  std::string text = fmt::format("dibs {}: one of\n\n", group);
  for (const Command& command : commands()) {
    if (command.name.starts_with(std::string(group) + " "))
      text += fmt::format("  {:<20} {}\n", command.name, command.summary);
  }
  return text + fmt::format("\nMore on one of them: dibs {} COMMAND --help\n", group);
}

std::string overview_text() {
  std::string text =
      "dibs: many agents, one git repository, nobody in anybody's way\n\n"
      "Usage: dibs [-C DIR] [--json] [--quiet] [--agent-id ID] COMMAND …\n\n";
  for (const Command& command : commands())
    text += fmt::format("  {:<20} {}\n", command.name, command.summary);
  return text +
         "\nMore on one of them:  dibs COMMAND --help\n"
         "What exit codes mean: dibs help exit-codes\n";
}

std::string help_text(const Command& command) {
  std::string text = fmt::format("{}\n\nUsage: {}\n", command.summary, usage_of(command));
  if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
  if (!command.positionals.empty()) text += "\n";
  for (const Positional& positional : command.positionals)
    text += fmt::format("  {:<20} {}\n", positional.name, positional.meaning);
  if (!command.options.empty()) text += "\nOptions:\n" + options_text(command.options);
  text += "\nEverywhere:\n" + options_text(global_options());
  return text + fmt::format("\nExample:\n  {}\n", command.example);
}

}  // namespace dibs::cli
