#include "git/local_refs.h"

#include <fmt/core.h>

#include <set>

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

constexpr std::size_t kLockFileMax = 4096;

}  // namespace

// It says "Unable to create 'PATH.lock': File exists".
std::optional<Error> lock_in_the_way(const ProgramEnd& end) {
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

Done clear_left_lock(FileSystem& files, const GitProgram& git, const std::string& path) {
  const auto status = [&] { return files.status(path).value_or(std::nullopt); };
  const std::optional<FileStatus> before = status();
  if (!before || !git.outlast_others()) return {};
  const std::optional<FileStatus> after = status();
  const bool same = after && after->inode == before->inode && after->size == before->size &&
                    after->modified_unix_ns == before->modified_unix_ns;
  return same ? files.remove(path) : Done{};
}

Done flush_ref_folder(FileSystem& files, const std::string& common_dir, const std::string& name) {
  return files.sync_all({parent_of(common_dir + "/" + name)});
}

// HEAD last: what is there without it was not finished, and is made again.
Result<std::string> GitLocalRefs::git_dir() {
  const std::string& own = own_.directory;
  if (own.empty()) return common_dir_;
  const Result<std::optional<FileStatus>> there = files_.status(own + "/HEAD");
  if (!there) return fail(there.error());
  if (there->has_value()) return own;
  if (Done made = files_.make_directory(own, own_.mode); !made) return fail(made.error());
  const unsigned mode = own_.mode & 0666U;
  // Relative: a repository that is moved takes it along.
  if (Done said = files_.replace_file(own + "/commondir", "../..\n", mode); !said)
    return fail(said.error());
  if (Done said = files_.replace_file(own + "/HEAD", "ref: refs/dibs/nothing\n", mode); !said)
    return fail(said.error());
  return own;
}

Result<LocalRefs::End> GitLocalRefs::move(const std::vector<RefMove>& moves,
                                          const std::string& reason, const FileLock* under) {
  std::string commands = "start\n";
  for (const RefMove& move : moves) commands += command_for(move);
  commands += "prepare\ncommit\n";
  const Result<std::string> git_dir = this->git_dir();
  if (!git_dir) return fail(git_dir.error());
  const Result<ProgramEnd> end = git_.run({.git_dir = *git_dir,
                                           .arguments = {"update-ref", "-m", reason, "--stdin"},
                                           .input = commands,
                                           .settings = {"core.fsync=all"},
                                           .under = under});
  if (!end) return fail(end.error());
  if (end->succeeded()) return flushed(moves);
  // git says 128 itself when it refuses; above that a signal ended it, perhaps between two refs.
  if (const std::optional<Error> error = lock_in_the_way(*end)) return fail(*error);
  const bool cut_short = end->cut != ProgramEnd::Cut::no || end->exit_code > kSignalled;
  return End{.kind = cut_short ? End::Kind::unknown : End::Kind::turned_down,
             .why = complaint_of(*end)};
}

// git flushes a ref's file, and not the folder that it is in then. One that is deleted does no harm
// if it comes back with the power.
Result<LocalRefs::End> GitLocalRefs::flushed(const std::vector<RefMove>& moves) {
  std::set<std::string> folders;  // those that are gone went with a ref that is in no file
  for (const RefMove& move : moves) {
    if (!move.stays() && !move.to.empty()) folders.insert(parent_of(common_dir_ + "/" + move.name));
  }
  if (Done synced = files_.sync_all({folders.begin(), folders.end()}); !synced)
    return End{.kind = End::Kind::unknown, .why = synced.error().message};
  return End{.kind = End::Kind::moved, .why = {}};
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

// What git writes into the lock before it renames it is the value that the ref is to have.
Done GitLocalRefs::clear_lock(const RefMove& move) {
  if (move.to.empty() || move.stays()) return {};
  const std::string path = fmt::format("{}/{}.lock", common_dir_, move.name);
  const Result<std::optional<std::string>> text = files_.read_file(path, kLockFileMax);
  if (!text) return fail(text.error());
  if (!text->has_value()) return {};
  if (trim(**text) == move.to) return files_.remove(path);
  return (*text)->empty() ? clear_left_lock(files_, git_, path) : Done{};
}

}  // namespace dibs
