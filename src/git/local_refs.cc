#include "git/local_refs.h"

#include <fmt/core.h>

#include "base/text.h"

namespace dibs {

namespace {

// One line of `git update-ref --stdin`. Names and commits hold no spaces: both are git's own.
std::string command_for(const RefMove& move) {
  if (move.stays()) return fmt::format("verify {} {}\n", move.name, move.from);
  if (move.to.empty()) return fmt::format("delete {} {}\n", move.name, move.from);
  if (move.from.empty()) return fmt::format("create {} {}\n", move.name, move.to);
  return fmt::format("update {} {} {}\n", move.name, move.to, move.from);
}

constexpr int kSignalled = 128;

// "Unable to create 'PATH.lock': File exists": another git is at it, or one died there. Which, only
// a person can tell.
std::optional<Error> locked(const ProgramEnd& end) {
  constexpr std::string_view kBegins = "Unable to create '";
  constexpr std::string_view kEnds = "': File exists";
  const std::size_t begin = end.err.find(kBegins);
  const std::size_t stop = end.err.find(kEnds, begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || stop == std::string::npos) return std::nullopt;
  const std::string path = end.err.substr(begin + kBegins.size(), stop - begin - kBegins.size());
  return Error{.kind = ErrorKind::contended,
               .message = fmt::format("git keeps {} locked: {} exists",
                                      printable(path.substr(0, path.rfind('.'))), printable(path)),
               .hint = fmt::format("if no git is running here, one that crashed left it: rm {}",
                                   shell_word(path)),
               .fields = {}};
}

}  // namespace

Result<LocalRefs::End> GitLocalRefs::move(const std::vector<RefMove>& moves,
                                          const std::string& reason, const FileLock* under) {
  std::string commands = "start\n";
  for (const RefMove& move : moves) commands += command_for(move);
  commands += "prepare\ncommit\n";
  const Result<ProgramEnd> end = git_.run({.git_dir = common_dir_,
                                           .arguments = {"update-ref", "-m", reason, "--stdin"},
                                           .input = commands,
                                           .settings = {"core.fsync=all"},
                                           .under = under});
  if (!end) return fail(end.error());
  if (end->succeeded()) return End{.kind = End::Kind::moved, .why = {}};
  // git says 128 itself when it refuses; above that a signal ended it, perhaps between two refs.
  if (const std::optional<Error> error = locked(*end)) return fail(*error);
  const bool cut_short = end->cut != ProgramEnd::Cut::no || end->exit_code > kSignalled;
  return End{.kind = cut_short ? End::Kind::unknown : End::Kind::turned_down,
             .why = complaint_of(*end)};
}

Result<std::string> GitLocalRefs::commit_at(const std::string& ref) {
  const Result<ProgramEnd> end =
      git_.run({.git_dir = common_dir_,
                .arguments = {"rev-parse", "--verify", "--quiet", "--end-of-options", ref},
                .input = {}});
  if (!end) return fail(end.error());
  return end->succeeded() ? std::string(trim(end->out)) : std::string();
}

Result<bool> GitLocalRefs::contains(const std::string& ref, const std::string& commit) {
  const Result<ProgramEnd> end =
      git_.run({.git_dir = common_dir_,
                .arguments = {"merge-base", "--is-ancestor", commit, ref},
                .input = {}});
  if (!end) return fail(end.error());
  return end->succeeded();
}

}  // namespace dibs
