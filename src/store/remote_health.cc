#include "store/remote_health.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace dibs {

namespace {

// From here on a push takes noticeably longer, because the remote names all its refs to it.
constexpr std::size_t kManyLockRefs = 1'000;
constexpr std::size_t kManyRefs = 10'000;

using Config = std::map<std::string, std::string, std::less<>>;

Finding warning(std::string what, std::string fix) {
  return {.level = Finding::Level::warning, .what = std::move(what), .fix = std::move(fix)};
}

// Where git itself would find the repository that a path means.
std::optional<std::string> git_dir_at(FileSystem& files, const std::string& path) {
  for (const char* ending : {"/.git", "", ".git/.git", ".git"}) {
    const auto head = files.status(path + ending + "/HEAD");
    if (head && head->has_value()) return path + ending;
  }
  return std::nullopt;
}

// "KEY\nVALUE\0"; of a key that is there twice the last counts. A key alone means true.
Config parse_config(std::string_view text) {
  Config config;
  for (const std::string_view entry : split(text, '\0')) {
    const std::size_t newline = entry.find('\n');
    const bool alone = newline == std::string_view::npos;
    config[std::string(entry.substr(0, newline))] = alone ? "true" : entry.substr(newline + 1);
  }
  return config;
}

std::string value_of(const Config& config, std::string_view key) {
  const auto found = config.find(key);
  return found == config.end() ? std::string() : found->second;
}

bool is_on(const Config& config, std::string_view key) {
  std::string value = value_of(config, key);
  for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return value == "true" || value == "yes" || value == "on" || value == "1";
}

void check_denials(const Config& config, const std::string& remote, const std::string& set,
                   std::vector<Finding>& findings) {
  if (is_on(config, "receive.denydeletes")) {
    findings.push_back(warning(
        fmt::format("{} denies deletes, so the refs of what was released pile up there", remote),
        set + " receive.denyDeletes false"));
  }
  if (is_on(config, "receive.denynonfastforwards")) {
    findings.push_back(warning(
        fmt::format("{} denies non-fast-forwards, so a working branch that was rebased cannot be "
                    "pushed there",
                    remote),
        set + " receive.denyNonFastForwards false"));
  }
}

void check_flushes(const Config& config, const std::string& remote, const std::string& set,
                   std::vector<Finding>& findings) {
  const std::string fsync = value_of(config, "core.fsync");
  if (!flushes_pushes(fsync)) {
    findings.push_back(warning(
        fmt::format("{} does not flush what is pushed (core.fsync is {}): a power cut there may "
                    "undo claims that were granted",
                    remote, fsync.empty() ? "not set" : printable(fsync)),
        set + " core.fsync committed"));
  }
  if (value_of(config, "core.fsyncmethod") == "writeout-only") {
    findings.push_back(
        warning(fmt::format("{} leaves flushing to its disk's own time (core.fsyncMethod is "
                            "writeout-only): a power cut there may undo claims that were granted",
                            remote),
                set + " core.fsyncMethod fsync"));
  }
}

// Those that meet wait for each other for as long as git does by itself, or longer.
void check_patience(const Config& config, const std::string& remote, const std::string& set,
                    std::vector<Finding>& findings) {
  struct Wait {
    const char* key;
    const char* name;
    std::uint64_t usual_ms;
  };
  for (const Wait& wait : {Wait{"core.filesreflocktimeout", "core.filesRefLockTimeout", 100},
                           Wait{"core.packedrefstimeout", "core.packedRefsTimeout", 1000}}) {
    const std::optional<std::uint64_t> ms = parse_unsigned(value_of(config, wait.key));
    if (!ms || *ms >= wait.usual_ms) continue;
    findings.push_back(warning(
        fmt::format("{} gives up on a locked ref after {} ms ({}), so claims that meet fail "
                    "more often",
                    remote, *ms, wait.name),
        fmt::format("{} {} {}", set, wait.name, wait.usual_ms)));
  }
}

void check_config(FileSystem& files, const GitProgram& git, const std::string& remote,
                  const std::string& path, std::vector<Finding>& findings) {
  const std::optional<std::string> git_dir = git_dir_at(files, path);
  if (!git_dir) return;  // what is wrong there was said by those who tried to read it
  const Result<std::string> text =
      git.output_of({.git_dir = *git_dir, .arguments = {"config", "--list", "-z"}, .input = {}},
                    ErrorKind::internal);
  if (!text) return;
  const Config config = parse_config(*text);
  const std::string set = fmt::format("git --git-dir={} config", shell_word(*git_dir));
  check_denials(config, remote, set, findings);
  check_flushes(config, remote, set, findings);
  check_patience(config, remote, set, findings);
}

void check_refs(const GitProgram& git, const RemoteInQuestion& in, const std::string& remote,
                std::vector<Finding>& findings) {
  if (in.lock_refs >= kManyLockRefs) {
    findings.push_back(warning(
        fmt::format("{} has {} refs of dibs, and every push waits for them", remote, in.lock_refs),
        "dibs claim cleanup"));
  }
  const Result<std::string> refs =
      git.output_of({.git_dir = in.common_dir,
                     .arguments = {"ls-remote", "--refs", "--quiet", "--", in.name},
                     .input = {}},
                    ErrorKind::unreachable);
  if (!refs) return;
  const auto count = static_cast<std::size_t>(std::ranges::count(*refs, '\n'));
  if (count < kManyRefs) return;
  findings.push_back(
      warning(fmt::format("{} has {} refs in all, and every push waits for them", remote, count),
              "delete branches there that nobody needs; for dibs' own: dibs claim cleanup"));
}

}  // namespace

std::vector<Finding> remote_health(FileSystem& files, const GitProgram& git,
                                   const RemoteInQuestion& in) {
  const std::string remote = "the remote " + printable(in.name);
  std::vector<Finding> findings;
  const Result<std::string> address =
      git.output_of({.git_dir = in.common_dir,
                     .arguments = {"remote", "get-url", "--push", "--", in.name},
                     .input = {}},
                    ErrorKind::internal);
  if (!address) return findings;
  if (const auto path = path_of_address(trim(*address), place_of(in.common_dir))) {
    check_config(files, git, remote, *path, findings);
  } else {
    findings.push_back({.level = Finding::Level::ok,
                        .what = fmt::format(
                            "{} is on a server: whether it denies deletes or non-fast-forwards and "
                            "how it flushes cannot be known from here",
                            remote),
                        .fix = {}});
  }
  check_refs(git, in, remote, findings);
  return findings;
}

std::optional<std::string> path_of_address(std::string_view address, const std::string& place) {
  constexpr std::string_view kFileScheme = "file://";
  if (address.starts_with(kFileScheme)) {
    const std::string_view path = address.substr(kFileScheme.size());
    // With a host, or with letters that are written as numbers: not worth reading.
    if (!path.starts_with('/') || contains(path, "%")) return std::nullopt;
    return std::string(path);
  }
  if (address.empty() || contains(address, "://")) return std::nullopt;
  // As git reads it: a colon before the first slash ends the name of a server.
  if (address.find(':') < address.find('/')) return std::nullopt;
  if (address.starts_with('/')) return std::string(address);
  return place + "/" + std::string(address);
}

bool flushes_pushes(std::string_view core_fsync) {
  bool refs = false;
  bool objects = false;
  for (const std::string_view word : split(core_fsync, ',')) {
    const bool both = word == "committed" || word == "added" || word == "all";
    if (both || word == "reference") refs = true;
    if (both || word == "objects" || word == "loose-object") objects = true;
    if (word == "none") refs = objects = false;
    if (word == "-reference" || word == "-committed") refs = false;
    if (word == "-loose-object" || word == "-objects" || word == "-committed") objects = false;
  }
  return refs && objects;
}

}  // namespace dibs
