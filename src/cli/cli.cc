#include "cli/cli.h"

#include <fmt/core.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/invocation.h"
#include "cli/terminal.h"

namespace dibs::cli {

namespace {

TerminalOptions terminal_options(const Args& args, const System& system) {
  const std::string color = args.text("--color").value_or("auto");
  const bool no_color = !system.environment("NO_COLOR").value_or("").empty();
  const std::string term = system.environment("TERM").value_or("");
  return {.json = args.has("--json"),
          .quiet = args.has("--quiet"),
          .color_out = wants_color(color, 1, no_color, term),
          .color_err = wants_color(color, 2, no_color, term)};
}

// Where -C points, as an absolute path.
Result<std::string> start_directory(const Args& args, const System& system) {
  const std::optional<std::string> given = args.text("-C");
  if (!given) return system.current_directory;
  const std::string path =
      given->starts_with('/') ? *given : system.current_directory + "/" + *given;
  const Result<std::string> real = system.files.real_path(path);
  if (!real)
    return fail(ErrorKind::usage, real.error().message, "name a directory that is there: -C DIR");
  return *real;
}

int answer_without_command(Terminal& terminal, const Parsed& parsed, std::string_view version) {
  if (parsed.args.has("--version")) {
    terminal.reply(JsonObject().add("version", version));
    terminal.say(fmt::format("dibs {}", version));
  } else if (parsed.command != nullptr) {
    terminal.show(help_text(*parsed.command));
  } else if (!parsed.group.empty()) {
    terminal.show(group_text(parsed.group));
  } else {
    terminal.show(overview_text());
  }
  terminal.flush();
  const bool asked =
      parsed.args.has("--help") || parsed.args.has("-h") || parsed.args.has("--version");
  return asked || parsed.command != nullptr ? 0 : exit_code(ErrorKind::usage);
}

}  // namespace

int run(const std::vector<std::string>& arguments, const System& given,
        const std::vector<StoreBackend>& backends, std::string_view version) {
  const Result<Parsed> parsed = parse_arguments(arguments);
  if (!parsed) {
    // The words could not be understood, but how the person wants to be answered can be seen.
    Args args;
    for (const std::string& word : arguments) {
      if (word == "--json") args.set("--json", "");
    }
    Terminal(terminal_options(args, given)).fail(parsed.error());
    return exit_code(parsed.error().kind);
  }
  Terminal terminal(terminal_options(parsed->args, given));
  const bool help =
      parsed->args.has("--help") || parsed->args.has("-h") || parsed->args.has("--version");
  if (parsed->command == nullptr || help) return answer_without_command(terminal, *parsed, version);

  const Result<std::string> directory = start_directory(parsed->args, given);
  if (!directory) {
    terminal.fail(directory.error());
    return exit_code(directory.error().kind);
  }
  System system = given;
  system.current_directory = *directory;
  Workspace workspace(
      system, backends,
      {.agent_id = parsed->args.text("--agent-id"), .store = parsed->args.text("--store")},
      [&](const std::string& message) { terminal.warn(message); });
  Invocation invocation{.args = parsed->args, .terminal = terminal, .workspace = workspace};
  const Done done = parsed->command->run(invocation);
  if (!done) {
    terminal.fail(done.error());
    return exit_code(done.error().kind);
  }
  // Nobody reads the answer any more (a closed pipe): the work is done all the same.
  terminal.flush();
  return 0;
}

}  // namespace dibs::cli
