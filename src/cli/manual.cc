// Manual pages in mdoc, one for dibs and one for each command.
#include <fmt/core.h>

#include "base/text.h"
#include "cli/help.h"

namespace dibs::cli {

namespace {

// Text as roff must have it: no line may begin with a control character, no backslash goes bare.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool line_start = out.empty() || out.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string title_of(std::string_view name) {
  std::string title = name.empty() ? "DIBS" : "DIBS-";
  for (const char c : name)
    title += static_cast<char>(c == ' ' ? '-' : (c >= 'a' && c <= 'z' ? c - 32 : c));
  return title;
}

std::string page_name(std::string_view name) {
  std::string page = "dibs-";
  for (const char c : name) page += c == ' ' ? '-' : c;
  return page;
}

std::string head(std::string_view title, std::string_view name, std::string_view summary) {
  return fmt::format(".Dd $Mdocdate$\n.Dt {} 1\n.Os\n.Sh NAME\n.Nm {}\n.Nd {}\n", title, name,
                     roff(summary));
}

std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n'))
    out += line.empty() ? ".Pp\n" : roff(line) + "\n";
  return out;
}

std::string option_list(std::span<const Option> options) {
  std::string out = ".Bl -tag -width indent\n";
  for (const Option& option : options) {
    if (option.hidden) continue;
    out += fmt::format(".It {}{}{}\n{}\n", roff(option.name), option.value.empty() ? "" : " Ar ",
                       option.value, roff(option.meaning));
  }
  return out + ".El\n";
}

std::string command_page(const Command& command) {
  const std::string name = page_name(command.name);
  std::string page = head(title_of(command.name), name, command.summary);
  page += fmt::format(".Sh SYNOPSIS\n.Nm dibs {}\n", command.name);
  if (!command.options.empty()) page += ".Op Ar options\n";
  for (const Positional& positional : command.positionals) {
    page += fmt::format("{} {}{}\n", positional.least == 0 ? ".Op Ar" : ".Ar", positional.name,
                        positional.most > 1 ? " ..." : "");
  }
  page += ".Sh DESCRIPTION\n";
  page += command.details.empty() ? fmt::format("{}.\n", roff(command.summary))
                                  : paragraphs(command.details);
  if (!command.positionals.empty()) {
    page += ".Bl -tag -width indent\n";
    for (const Positional& positional : command.positionals)
      page += fmt::format(".It Ar {}\n{}\n", positional.name, roff(positional.meaning));
    page += ".El\n";
  }
  if (!command.options.empty()) page += ".Sh OPTIONS\n" + option_list(command.options);
  page += fmt::format(".Sh EXAMPLES\n.Dl {}\n.Sh SEE ALSO\n.Xr dibs 1\n", roff(command.example));
  return page;
}

std::string main_page() {
  std::string page =
      head("DIBS", "dibs", "let many agents work on one git repository at the same time");
  page += ".Sh SYNOPSIS\n.Nm\n.Op Ar options\n.Ar command\n.Op Ar arguments\n.Sh DESCRIPTION\n";
  page +=
      "Each agent takes a time-bounded lease on the work it does. At most one holds a resource at "
      "a time,\n"
      "and whoever lost its lease cannot pass a check of its fence.\n.Sh COMMANDS\n.Bl -tag -width "
      "indent\n";
  for (const Command& command : commands())
    page += fmt::format(".It Xr {} 1\n{}\n", page_name(command.name), roff(command.summary));
  page += ".El\n.Sh OPTIONS\n" + option_list(global_options());
  page +=
      ".Sh ENVIRONMENT\n.Bl -tag -width indent\n"
      ".It Ev DIBS_AGENT_ID\nwho you are, as type:name\n"
      ".It Ev DIBS_SESSION\nthe session, where one agent runs several; otherwise it is the agent "
      "in its worktree\n"
      ".It Ev DIBS_PID\nthe process that the session lives in; its leases end with it\n"
      ".It Ev NO_COLOR\nno colour\n.El\n";
  page += ".Sh EXIT STATUS\n.Bd -literal\n" + roff(exit_codes_text()) + ".Ed\n";
  return page;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> manual_pages() {
  std::vector<std::pair<std::string, std::string>> pages{{"dibs.1", main_page()}};
  for (const Command& command : commands())
    pages.emplace_back(page_name(command.name) + ".1", command_page(command));
  return pages;
}

}  // namespace dibs::cli
