#include "cli/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"

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

constexpr std::size_t kWidth = 80;
constexpr std::size_t kNameWidth = 22;  // two spaces, the name, and one more

// How many columns a text takes: code points, as none of ours is wide.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

// `text` broken at spaces so that no line passes kWidth; further lines begin with `indent` spaces.
// The first one is `used` columns long already.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t used) {
  std::string out;
  for (const std::string_view word : split(text, ' ')) {
    const bool first = out.empty();
    if (!first && used + 1 + columns(word) > kWidth) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!first) {
      out += ' ';
      ++used;
    }
    out += word;
    used += columns(word);
  }
  return out;
}

// A name and what it means, in two columns; a name that is too long has a line of its own.
std::string entry(std::string_view name, std::string_view meaning) {
  const std::string start = fmt::format("  {:<{}}", name, kNameWidth - 2);
  if (columns(name) + 2 >= kNameWidth) {
    return start + "\n" + std::string(kNameWidth, ' ') + wrapped(meaning, kNameWidth, kNameWidth) +
           "\n";
  }
  return start + wrapped(meaning, kNameWidth, columns(start)) + "\n";
}

// Paragraphs, which the table has with line breaks where they fit its own width.
std::string paragraphs(std::string_view text) {
  std::string out;
  std::string paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) out += "\n" + wrapped(paragraph, 0, 0) + "\n";
    paragraph.clear();
  };
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) {
      flush();
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    }
  }
  flush();
  return out;
}

std::string option_line(const Option& option) {
  return entry(fmt::format("{}{}{}", option.name, option.value.empty() ? "" : " ", option.value),
               option.meaning);
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
      text += entry(command.name, command.summary);
  }
  return text + fmt::format("\nMore on one of them: dibs {} COMMAND --help\n", group);
}

std::string overview_text() {
  std::string text =
      "dibs: many agents, one git repository, nobody in anybody's way\n\n"
      "Usage: dibs [-C DIR] [--json] [--quiet] [--agent-id ID] COMMAND …\n\n";
  for (const Command& command : commands()) text += entry(command.name, command.summary);
  return text +
         "\nMore on one of them:  dibs COMMAND --help\n"
         "What exit codes mean: dibs help exit-codes\n";
}

std::string help_text(const Command& command) {
  std::string text = fmt::format("{}\n\nUsage: {}\n", command.summary, usage_of(command));
  text += paragraphs(command.details);
  if (!command.positionals.empty()) text += "\n";
  for (const Positional& positional : command.positionals)
    text += entry(positional.name, positional.meaning);
  if (!command.options.empty()) text += "\nOptions:\n" + options_text(command.options);
  text += "\nEverywhere:\n" + options_text(global_options());
  return text + fmt::format("\nExample:\n  {}\n", command.example);
}

}  // namespace dibs::cli
