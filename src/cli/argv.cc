// From words to a command and its arguments. docs/adr/0006 says why this is not left to a library.
#include <fmt/core.h>

#include <algorithm>
#include <array>

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
  for (const Command& command : commands()) {
    names.push_back(command.name);
    names.push_back(command.name.substr(0, command.name.find(' ')));  // clam → claim
  }
  const std::optional<std::string_view> near = nearest(word, names);
  return near ? fmt::format("did you mean: dibs {}", *near) : "see the commands: dibs help";
}

// Options of the contract that later versions have; refused by name rather than as a typo.
constexpr std::array<std::string_view, 1> kNotYet{"--files"};

Error unknown_option(const std::string& name, const Command& command) {
  if (command.name == "claim acquire" && std::ranges::find(kNotYet, name) != kNotYet.end()) {
    return {
        .kind = ErrorKind::usage,
        .message = fmt::format("{} is not available in this version", name),
        .hint = "leave it out; name files on the item instead: dibs item update ID --files GLOB"};
  }
  std::vector<std::string_view> known;
  for (const std::span<const Option> options : {command.options, global_options()}) {
    for (const Option& option : options) {
      if (!option.hidden) known.push_back(option.name);
    }
  }
  const std::optional<std::string_view> near = nearest(name, known);
  return {.kind = ErrorKind::usage,
          .message = fmt::format("unknown option '{}'", printable(name.substr(0, 80))),
          .hint = near ? fmt::format("did you mean {}?", *near)
                       : fmt::format("see what there is: dibs {}{}--help", command.name,
                                     command.name.empty() ? "" : " ")};
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
      const Option* global = find_option(global_options(), word.substr(0, word.find('=')));
      // Before the command only global options can stand; of another one we could not even know
      // whether the next word is its value or the command.
      if (!named && global == nullptr)
        return fail(unknown_option(word.substr(0, word.find('=')), Command{}));
      const bool has_value = word.find('=') != std::string::npos;
      if (!named && global->takes != Takes::nothing && !has_value && i + 1 < arguments.size()) {
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
  return found == values_.end() ? std::nullopt : std::optional(found->second.back());
}

std::vector<std::string> Args::texts(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::int64_t> Args::number(std::string_view option) const {
  const std::optional<std::string> value = text(option);
  return value ? std::optional(static_cast<std::int64_t>(parse_unsigned(*value).value_or(0)))
               : std::nullopt;
}

std::optional<std::string> Args::word(std::size_t i) const {
  return i < words_.size() ? std::optional(words_[i]) : std::nullopt;
}

namespace {

// One option and, if it takes one, its value: after '=' or in the next word. Moves `i` past it.
Result<void> parse_option(const Command& command, const std::vector<std::string>& words,
                          std::size_t& i, Args& args) {
  const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
  const std::string name = words[i].substr(0, equals);
  const Option* option = find_option(command.options, name);
  if (option == nullptr) option = find_option(global_options(), name);
  if (option == nullptr) return fail(unknown_option(name, command));
  if (option->takes == Takes::nothing) {
    if (equals != std::string::npos)
      return fail(ErrorKind::usage, fmt::format("{} takes no value", name),
                  fmt::format("leave out what follows it: {}", name));
    args.set(name, "");
    return {};
  }
  if (equals == std::string::npos && i + 1 == words.size()) {
    return fail(ErrorKind::usage, fmt::format("{} needs a value", name),
                fmt::format("give it: {} {}", name, option->value));
  }
  const std::string value = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
  if (Result<void> fits = check_value(*option, value); !fits) return fits;
  if (option->repeats) {
    args.add(name, value);
  } else {
    args.set(name, value);
  }
  return {};
}

}  // namespace

Result<Parsed> parse_arguments(const std::vector<std::string>& arguments) {
  const Result<Chosen> chosen = choose(arguments);
  if (!chosen) return fail(chosen.error());
  static constexpr Command kNone{};
  const Command& command = chosen->command != nullptr ? *chosen->command : kNone;
  Parsed parsed{.command = chosen->command, .group = chosen->group, .args = {}};
  std::vector<std::string> words;
  bool only_words = false;  // after "--"
  for (std::size_t i = 0; i < chosen->rest.size(); ++i) {
    const std::string& word = chosen->rest[i];
    if (only_words || !is_option(word)) {
      words.push_back(word);
    } else if (word == "--") {
      only_words = true;
    } else if (Result<void> option = parse_option(command, chosen->rest, i, parsed.args); !option) {
      return fail(option.error());
    }
  }
  parsed.args.set_words(std::move(words));
  const bool only_help =
      parsed.args.has("--help") || parsed.args.has("-h") || chosen->command == nullptr;
  if (only_help) return parsed;
  if (Result<void> counted = check_word_count(command, parsed.args); !counted)
    return fail(counted.error());
  return parsed;
}

}  // namespace dibs::cli
