// The one file that knows CLI11. It is built for the chosen command only: hundreds of options would
// cost a millisecond before anything happens.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"

namespace dibs::cli {

namespace {

const Option* find_option(std::span<const Option> options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &Option::name);
  return found == options.end() ? nullptr : &*found;
}

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

struct Chosen {
  const Command* command = nullptr;
  std::string group;
  std::vector<std::string> rest;  // the words without the command's own name
};

bool is_group(std::string_view word) {
  return std::ranges::any_of(
      commands(), [&](const Command& c) { return c.name.starts_with(std::string(word) + " "); });
}

std::string hint_for_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::optional<std::string_view> near = nearest(word, names);
  return near ? fmt::format("did you mean: dibs {}", *near) : "see the commands: dibs help";
}

// The command is named by the first word that is no option, and by the next one too if that is a
// group. Global options may stand before, between and after.
Result<Chosen> choose(const std::vector<std::string>& arguments) {
  Chosen chosen;
  std::string name;
  bool named = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (named || is_option(word)) {
      chosen.rest.push_back(word);
      const Option* global = find_option(global_options(), word);
      if (!named && global != nullptr && global->takes != Takes::nothing &&
          i + 1 < arguments.size()) {
        chosen.rest.push_back(arguments[++i]);
      }
      continue;
    }
    name += (name.empty() ? "" : " ") + word;
    const auto found = std::ranges::find(commands(), name, &Command::name);
    if (found != commands().end()) {
      chosen.command = &*found;
      named = true;
    } else if (!is_group(name)) {
      return fail(ErrorKind::usage,
                  fmt::format("there is no command '{}'", printable(name.substr(0, 80))),
                  hint_for_command(name));
    }
  }
  if (!chosen.command) chosen.group = name;
  return chosen;
}

// Options of the contract that later versions have; refused by name rather than as a typo.
constexpr std::array<std::string_view, 3> kNotYet{"--wait", "--priority", "--files"};

Result<void> check_known(const Chosen& chosen) {
  std::span<const Option> own;
  if (chosen.command != nullptr) own = chosen.command->options;
  for (const std::string& word : chosen.rest) {
    if (word == "--") return {};
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (find_option(own, name) != nullptr || find_option(global_options(), name) != nullptr)
      continue;
    const bool acquiring = chosen.command != nullptr && chosen.command->name == "claim acquire";
    if (acquiring && std::ranges::find(kNotYet, name) != kNotYet.end()) {
      return fail(ErrorKind::usage, fmt::format("{} is not available in this version", name),
                  "leave it out; to keep trying use: --strategy retry");
    }
    std::vector<std::string_view> known;
    for (const Option& option : own) {
      if (!option.hidden) known.push_back(option.name);
    }
    for (const Option& option : global_options()) known.push_back(option.name);
    const std::optional<std::string_view> near = nearest(name, known);
    return fail(ErrorKind::usage, fmt::format("unknown option '{}'", printable(name.substr(0, 80))),
                near ? fmt::format("did you mean {}?", *near)
                     : fmt::format("see what there is: dibs {}{}--help",
                                   chosen.command != nullptr ? chosen.command->name : "",
                                   chosen.command != nullptr ? " " : ""));
  }
  return {};
}

Result<void> check_value(const Option& option, const std::string& value) {
  const auto refuse = [&](const std::string& wanted) {
    return fail(ErrorKind::usage,
                fmt::format("{} cannot be '{}'", option.name, printable(value.substr(0, 60))),
                wanted);
  };
  if (option.takes == Takes::number) {
    const std::optional<std::uint64_t> number = parse_unsigned(value);
    if (!number || *number < static_cast<std::uint64_t>(option.least) ||
        *number > static_cast<std::uint64_t>(option.most)) {
      return refuse(
          option.most == INT64_MAX
              ? fmt::format("give a whole number from {} up", option.least)
              : fmt::format("give a whole number from {} to {}", option.least, option.most));
    }
  }
  if (option.takes == Takes::text && !option.choices.empty()) {
    const std::vector<std::string_view> choices = split(option.choices, '|');
    if (std::ranges::find(choices, value) == choices.end()) {
      const std::optional<std::string_view> near = nearest(value, choices);
      return refuse(near ? fmt::format("did you mean {}?", *near)
                         : fmt::format("one of: {}", option.choices));
    }
  }
  return {};
}

Error from_cli11(const CLI::ParseError& error, const Command& command) {
  return {.kind = ErrorKind::usage,
          .message = printable(error.what()),
          .hint = fmt::format("see how it is used: dibs {} --help", command.name),
          .fields = {}};
}

Result<void> check_word_count(const Command& command, const Args& args) {
  std::size_t least = 0;
  std::size_t most = 0;
  for (const Positional& positional : command.positionals) {
    least += positional.least;
    most += positional.most;
  }
  const auto see = fmt::format("see how it is used: dibs {} --help", command.name);
  if (args.words().size() > most) {
    return fail(
        ErrorKind::usage,
        fmt::format("'{}' is one word too many", printable(args.words()[most].substr(0, 60))), see);
  }
  if (args.words().size() >= least) return {};
  std::size_t seen = 0;
  for (const Positional& positional : command.positionals) {
    seen += positional.least;
    if (seen > args.words().size())
      return fail(ErrorKind::usage, fmt::format("{} is missing", positional.name), see);
  }
  return {};
}

}  // namespace

std::optional<std::string> Args::text(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> Args::number(std::string_view option) const {
  const std::optional<std::string> value = text(option);
  return value ? std::optional(static_cast<std::int64_t>(parse_unsigned(*value).value_or(0)))
               : std::nullopt;
}

std::optional<std::string> Args::word(std::size_t i) const {
  return i < words_.size() ? std::optional(words_[i]) : std::nullopt;
}

Result<Parsed> parse_arguments(const std::vector<std::string>& arguments) {
  const Result<Chosen> chosen = choose(arguments);
  if (!chosen) return fail(chosen.error());
  if (Result<void> known = check_known(*chosen); !known) return fail(known.error());
  static const Command kNone{};
  const Command& command = chosen->command != nullptr ? *chosen->command : kNone;

  CLI::App app;
  app.set_help_flag();  // help is ours, like every other option
  std::map<std::string_view, std::vector<std::string>> values;
  std::map<std::string_view, std::size_t> flags;
  std::vector<const Option*> options;
  for (const Option& option : command.options) options.push_back(&option);
  for (const Option& option : global_options()) options.push_back(&option);
  for (const Option* option : options) {
    const std::string name(option->name);
    if (option->takes == Takes::nothing) {
      app.add_flag(name, flags[option->name]);
    } else {
      app.add_option(name, values[option->name])
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
  std::vector<std::string> words;
  app.add_option("words", words);
  Parsed parsed{.command = chosen->command, .group = chosen->group, .args = {}};
  try {
    app.parse(std::vector<std::string>(chosen->rest.rbegin(), chosen->rest.rend()));
  } catch (const CLI::ParseError& error) {
    return fail(from_cli11(error, command));
  }
  for (const Option* option : options) {
    if (flags[option->name] > 0) parsed.args.set(option->name, "");
    for (const std::string& value : values[option->name]) {
      if (Result<void> fits = check_value(*option, value); !fits) return fail(fits.error());
      parsed.args.set(option->name, value);
    }
  }
  parsed.args.set_words(std::move(words));
  const bool only_help = parsed.args.has("--help") || chosen->command == nullptr;
  if (only_help) return parsed;
  if (Result<void> counted = check_word_count(command, parsed.args); !counted)
    return fail(counted.error());
  return parsed;
}

}  // namespace dibs::cli
