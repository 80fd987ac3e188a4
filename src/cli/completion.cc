// Completion scripts. They know the commands and options by heart, so completing starts no process.
#include <fmt/core.h>

#include <set>

#include "base/text.h"
#include "cli/help.h"

namespace dibs::cli {

namespace {

// What is before the last word of each command, and before that: "worktree rescue" and "worktree".
std::set<std::string> groups() {
  std::set<std::string> names;
  for (const Command& command : commands()) {
    for (std::size_t at = 0; (at = command.name.find(' ', at)) != std::string_view::npos; ++at)
      names.emplace(command.name.substr(0, at));
  }
  return names;
}

// The words that can follow those of a group, or with none be the first.
std::string next_words(const std::string& group) {
  const std::string start = group.empty() ? "" : group + " ";
  std::set<std::string> words;
  for (const Command& command : commands()) {
    if (!command.name.starts_with(start)) continue;
    const std::string_view rest = command.name.substr(start.size());
    words.emplace(rest.substr(0, rest.find(' ')));
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
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
      "  local name=\"${words[*]}\" list=\n  case $name in\n";
  for (const Command& command : commands()) {
    script +=
        fmt::format("    '{0}'|'{0} '*) list='{1}' ;;\n", command.name, option_words(command));
  }
  for (const std::string& group : groups())
    script += fmt::format("    '{}') list='{}' ;;\n", group, next_words(group));
  script += fmt::format("    '') list='{}' ;;\n  esac\n", next_words(""));
  script +=
      "  if [[ $cur != -* && -n ${words[1]-} && $list == -* ]]; then list=; fi\n"
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

// Makes the words of a command known one after the other; what holds once all have been typed.
std::string fish_words(std::string& script, const Command& command) {
  std::string typed;
  std::string seen;
  for (const std::string_view word : split(command.name, ' ')) {
    const std::string condition =
        typed.empty()
            ? "__fish_use_subcommand"
            : fmt::format("'{}; and not __fish_seen_subcommand_from {}'", seen, next_words(typed));
    typed += (typed.empty() ? "" : " ") + std::string(word);
    seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ", word);
    script += fmt::format("complete -c dibs -n {} -a {}", condition, word);
    if (typed == command.name) script += " -d " + fish_quoted(command.summary);
    script += "\n";
  }
  return "'" + seen + "'";
}

std::string fish_script() {
  std::string script = "# dibs completion for fish\ncomplete -c dibs -f\n";
  for (const Command& command : commands()) {
    const std::string condition = fish_words(script, command);
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
