// Completion scripts. They know the commands and options by heart, so completing starts no process.
#include <fmt/core.h>

#include <set>

#include "cli/help.h"

namespace dibs::cli {

namespace {

// The first words of all commands, and the second words of each group.
std::string first_words() {
  std::set<std::string> words;
  for (const Command& command : commands())
    words.emplace(command.name.substr(0, command.name.find(' ')));
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::set<std::string> groups() {
  std::set<std::string> names;
  for (const Command& command : commands()) {
    const std::size_t space = command.name.find(' ');
    if (space != std::string_view::npos) names.emplace(command.name.substr(0, space));
  }
  return names;
}

std::string second_words(const std::string& group) {
  std::string text;
  for (const Command& command : commands()) {
    if (command.name.starts_with(group + " "))
      text += (text.empty() ? "" : " ") + std::string(command.name.substr(group.size() + 1));
  }
  return text;
}

std::string option_words(const Command& command) {
  std::string text;
  const auto add = [&](std::span<const Option> options) {
    for (const Option& option : options) {
      if (!option.hidden) text += (text.empty() ? "" : " ") + std::string(option.name);
    }
  };
  add(command.options);
  add(global_options());
  return text;
}

// One function for bash and zsh (through bashcompinit): which words can follow.
std::string bash_script() {
  std::string script =
      "# dibs completion for bash\n_dibs() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=() i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in\n      -C|--agent-id|--store|--color) ((i++)) ;;\n      -*) "
      ";;\n"
      "      *) words+=(\"${COMP_WORDS[i]}\") ;;\n    esac\n  done\n"
      "  local name=\"${words[*]:0:2}\" list=\n  case $name in\n";
  for (const Command& command : commands()) {
    script += fmt::format("    '{}'{}) list='{}' ;;\n", command.name,
                          command.name.find(' ') == std::string_view::npos
                              ? fmt::format("|'{} '*", command.name)
                              : "",
                          option_words(command));
  }
  for (const std::string& group : groups())
    script += fmt::format("    '{}') list='{}' ;;\n", group, second_words(group));
  script += fmt::format("    '') list='{}' ;;\n  esac\n", first_words());
  script +=
      "  if [[ $cur != -* && -n ${words[1]-} ]]; then list=; fi\n"
      "  COMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n}\ncomplete -F _dibs dibs\n";
  return script;
}

std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish_script() {
  std::string script = "# dibs completion for fish\ncomplete -c dibs -f\n";
  for (const Command& command : commands()) {
    const std::size_t space = command.name.find(' ');
    const std::string first(command.name.substr(0, space));
    std::string condition = "__fish_use_subcommand";
    if (space == std::string_view::npos) {
      script += fmt::format("complete -c dibs -n {} -a {} -d {}\n", condition, first,
                            fish_quoted(command.summary));
      condition = fmt::format("'__fish_seen_subcommand_from {}'", first);
    } else {
      const std::string second(command.name.substr(space + 1));
      script += fmt::format("complete -c dibs -n {} -a {}\n", condition, first);
      script += fmt::format(
          "complete -c dibs -n '__fish_seen_subcommand_from {}; and not "
          "__fish_seen_subcommand_from {}' -a {} -d {}\n",
          first, second_words(first), second, fish_quoted(command.summary));
      condition = fmt::format(
          "'__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}'", first, second);
    }
    for (const Option& option : command.options) {
      if (option.hidden) continue;
      script +=
          fmt::format("complete -c dibs -n {} -l {}{} -d {}\n", condition, option.name.substr(2),
                      option.takes == Takes::nothing ? "" : " -x", fish_quoted(option.meaning));
    }
  }
  for (const Option& option : global_options()) {
    if (option.hidden) continue;
    const bool is_long = option.name.starts_with("--");
    script += fmt::format("complete -c dibs {} {}{} -d {}\n", is_long ? "-l" : "-s",
                          option.name.substr(is_long ? 2 : 1),
                          option.takes == Takes::nothing ? "" : " -r", fish_quoted(option.meaning));
  }
  return script;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "fish") return fish_script();
  if (shell == "zsh")
    return "#compdef dibs\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script();
  return bash_script();
}

}  // namespace dibs::cli
