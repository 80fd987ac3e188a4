#include "git/git_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace dibs {

namespace {

// Of git's own variables, those that say who the user is and how to reach a remote. The rest
// (GIT_DIR, GIT_INDEX_FILE, GIT_CONFIG_*, …) say which repository and which settings, and that is
// ours to say.
constexpr std::array<std::string_view, 13> kKept{
    "GIT_ASKPASS",       "GIT_EXEC_PATH",     "GIT_HTTP_",          "GIT_PROXY_",  "GIT_SSH",
    "GIT_SSL_",          "GIT_TRACE",         "GIT_CURL_",          "GIT_AUTHOR_", "GIT_COMMITTER_",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"};

bool is_kept(std::string_view variable) {
  if (!variable.starts_with("GIT_")) {
    // The language is ours to say, and a window that asks for a password would hold us up.
    return !variable.starts_with("LC_") && !variable.starts_with("LANG") &&
           !variable.starts_with("SSH_ASKPASS");
  }
  return std::ranges::any_of(kKept,
                             [&](std::string_view kept) { return variable.starts_with(kept); });
}

std::vector<std::string> safe_environment(const std::vector<std::string>& inherited) {
  std::vector<std::string> safe;
  std::ranges::copy_if(inherited, std::back_inserter(safe), is_kept);
  for (const char* set :
       {"LC_ALL=C.UTF-8", "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never",
        "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_OPTIONAL_LOCKS=0", "GIT_ADVICE=0"})
    safe.emplace_back(set);
  return safe;
}

// Programs that a repository's settings name and that git would run beside what it is asked for.
// None of them has a part in what dibs asks, and a repository may come from anybody.
constexpr std::array<const char*, 4> kNothingBeside{
    "core.hooksPath=/dev/null", "core.askPass=", "core.fsmonitor=false",
    "log.showSignature=false"};  // would also put its words between git's

// git repeats the address of a remote when it complains, and with it the password that someone put
// there.
std::string without_credentials(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t scheme = text.find("://");
    if (scheme == std::string_view::npos) break;
    safe += text.substr(0, scheme + 3);
    text.remove_prefix(scheme + 3);
    const std::size_t host_end = std::min(text.find_first_of("/ '\"\n"), text.size());
    const std::size_t at = text.substr(0, host_end).rfind('@');
    if (at != std::string_view::npos) text.remove_prefix(at + 1);
  }
  return safe + std::string(text);
}

// What a person is shown of a line that git said.
std::string shown(std::string_view line) { return printable(trim(without_credentials(line))); }

}  // namespace

std::string place_of(const std::string& git_dir) {
  constexpr std::string_view kUsualName = "/.git";
  return git_dir.ends_with(kUsualName) ? git_dir.substr(0, git_dir.size() - kUsualName.size())
                                       : git_dir;
}

Result<ProgramEnd> GitProgram::run(const Call& call) const {
  ProgramCall program{.command = {"git", "--git-dir=" + call.git_dir},
                      .directory = call.directory,
                      .input = call.input,
                      .environment = safe_environment(environment_()),
                      .most_ms = call.most_ms};
  program.heard = call.heard;
  program.later_input = call.later_input;
  program.most_file_bytes = call.most_file_bytes;
  program.most_memory_bytes = call.most_memory_bytes;
  if (call.under != nullptr) program.kept_open = call.under->descriptor();
  if (program.directory.empty())
    program.directory = call.work_tree.empty() ? place_of(call.git_dir) : call.work_tree;
  if (!call.work_tree.empty()) program.command.push_back("--work-tree=" + call.work_tree);
  for (const char* setting : kNothingBeside)
    program.command.insert(program.command.end(), {"-c", setting});
  for (const std::string& setting : call.settings)
    program.command.insert(program.command.end(), {"-c", setting});
  // Of two values of one name, programs take the first.
  program.environment.insert(program.environment.begin(), call.environment.begin(),
                             call.environment.end());
  program.command.insert(program.command.end(), call.arguments.begin(), call.arguments.end());
  return programs_.run(program);
}

Result<std::string> GitProgram::output_of(const Call& call, ErrorKind kind) const {
  Result<ProgramEnd> end = run(call);
  if (!end) return fail(end.error());
  if (end->succeeded()) return std::move(end->out);
  return fail(kind, fmt::format("git {} failed: {}", call.arguments.front(), complaint_of(*end)));
}

std::string complaint_of(const ProgramEnd& end) {
  if (end.cut == ProgramEnd::Cut::timed_out) return "it took too long";
  if (end.cut == ProgramEnd::Cut::said_too_much) return "it answered with more than dibs takes";
  std::string_view rest = end.err;
  std::string_view first;
  while (!rest.empty()) {
    const std::size_t newline = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(std::min(newline + 1, rest.size()));
    for (const std::string_view mark :
         {"fatal: ", "error: ", "remote: error: ", "remote: fatal: "}) {
      if (line.starts_with(mark)) return shown(line.substr(mark.size()));
    }
    if (first.empty() && !line.empty()) first = line;
  }
  if (first.empty()) return fmt::format("exit {}", end.exit_code);
  return shown(first);
}

}  // namespace dibs
