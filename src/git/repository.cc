#include "git/repository.h"

#include <fmt/core.h>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::size_t kNoteMax = 64UL * 1024;
constexpr std::size_t kConfigMax = 1024UL * 1024;

std::string resolved(FileSystem& files, const std::string& base, const std::string& path) {
  const std::string joined = path.starts_with('/') ? path : base + "/" + path;
  return files.real_path(joined).value_or(joined);
}

FileKind kind_at(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileStatus>> status = files.status(path);
  return status && status->has_value() ? (*status)->kind : FileKind::other;
}

bool is_git_dir(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileStatus>> head = files.status(path + "/HEAD");
  return head && head->has_value() && kind_at(files, path + "/objects") == FileKind::directory &&
         kind_at(files, path + "/refs") == FileKind::directory;
}

// The git directory that `root`/.git is or points to; nothing when there is no .git.
std::optional<std::string> git_dir_in(FileSystem& files, const std::string& root) {
  const std::string dot_git = (root == "/" ? "" : root) + "/.git";
  FileKind kind = kind_at(files, dot_git);
  std::string target = dot_git;
  if (kind == FileKind::symlink) {
    target = resolved(files, root, dot_git);
    kind = kind_at(files, target);
  }
  if (kind == FileKind::directory) return target;
  if (kind != FileKind::regular) return std::nullopt;
  constexpr std::string_view kPointer = "gitdir: ";
  const std::string text = note_in(files, target);
  if (!text.starts_with(kPointer)) return std::nullopt;
  return resolved(files, root, text.substr(kPointer.size()));
}

std::string common_dir_of(FileSystem& files, const std::string& git_dir) {
  const std::string common = note_in(files, git_dir + "/commondir");
  return common.empty() ? git_dir : resolved(files, git_dir, common);
}

// core.sharedRepository, the last one that counts. Includes are not followed: dibs then keeps the
// private default, and `dibs doctor` shows it.
std::string shared_repository_setting(FileSystem& files, const Repository& repository) {
  const auto config = files.read_file(repository.common_dir + "/config", kConfigMax);
  if (!config || !config->has_value()) return {};
  std::string value;
  bool in_core = false;
  for (const std::string_view raw : split(**config, '\n')) {
    const std::string_view line = trim(raw);
    if (line.starts_with('[')) {
      in_core = line.starts_with("[core]");
      continue;
    }
    const std::size_t equals = line.find('=');
    std::string name;
    for (const char c : trim(line.substr(0, equals)))
      name += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (!in_core || name != "sharedrepository") continue;
    value = equals == std::string_view::npos ? "true" : std::string(trim(line.substr(equals + 1)));
  }
  return value;
}

}  // namespace

std::string note_in(FileSystem& files, const std::string& path) {
  const Result<std::optional<std::string>> contents = files.read_file(path, kNoteMax);
  return contents && contents->has_value() ? std::string(trim(**contents)) : std::string();
}

Result<Repository> find_repository(FileSystem& files, const std::string& directory) {
  for (std::string at = directory;; at = parent_of(at)) {
    if (const std::optional<std::string> git_dir = git_dir_in(files, at)) {
      return Repository{.git_dir = *git_dir,
                        .common_dir = common_dir_of(files, *git_dir),
                        .root = at,
                        .bare = false};
    }
    if (is_git_dir(files, at)) {
      // Inside a git directory itself: bare, or a .git that someone stepped into.
      return Repository{
          .git_dir = at, .common_dir = common_dir_of(files, at), .root = at, .bare = true};
    }
    if (at == "/" || at.empty()) break;
  }
  return fail(ErrorKind::not_set_up,
              fmt::format("{} is not in a git repository", printable(directory)),
              "go into one, name it with -C DIR, or make one: git init && dibs init");
}

std::string current_branch(FileSystem& files, const Repository& repository) {
  constexpr std::string_view kBranch = "ref: refs/heads/";
  constexpr std::size_t kBranchMax = 250;
  const std::string head = note_in(files, repository.git_dir + "/HEAD");
  if (!head.starts_with(kBranch)) return {};
  std::string branch = head.substr(kBranch.size());
  const bool usable = branch != ".invalid" && branch.size() <= kBranchMax && is_printable(branch);
  return usable ? branch : std::string();
}

Result<std::vector<Repository>> all_worktrees(FileSystem& files, const Repository& repository) {
  std::vector<Repository> worktrees;
  const std::string& common = repository.common_dir;
  // The main worktree is what holds the common directory, unless the repository is bare or keeps
  // its git directory elsewhere; then the one we are in is the only other we can name.
  const std::string main_root = parent_of(common);
  if (git_dir_in(files, main_root) == common) {
    worktrees.push_back(
        {.git_dir = common, .common_dir = common, .root = main_root, .bare = false});
  } else if (!repository.is_linked()) {
    worktrees.push_back(repository);
  }
  const std::string linked = common + "/worktrees";
  if (kind_at(files, linked) != FileKind::directory) return worktrees;
  const Result<std::vector<std::string>> names = files.list(linked);
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const std::string git_dir = linked + "/" + name;
    const std::string dot_git = note_in(files, git_dir + "/gitdir");
    if (dot_git.empty() || kind_at(files, dot_git) != FileKind::regular) continue;
    worktrees.push_back({.git_dir = git_dir,
                         .common_dir = common,
                         .root = resolved(files, "/", parent_of(dot_git)),
                         .bare = false});
  }
  return worktrees;
}

unsigned shared_directory_mode(FileSystem& files, const Repository& repository) {
  const std::string value = shared_repository_setting(files, repository);
  if (value == "group" || value == "true" || value == "1") return 02770;
  if (value == "all" || value == "world" || value == "everybody" || value == "2") return 02775;
  if (value.size() == 4 && value.starts_with('0')) {
    unsigned mode = 0;
    for (const char c : value) {
      if (c < '0' || c > '7') return kPrivateDirectory;
      mode = mode * 8 + static_cast<unsigned>(c - '0');
    }
    // Whoever may read a file may enter its directory.
    return mode | (mode & 0444U) >> 2U | ((mode & 0060U) != 0 ? 02000U : 0U) | 0700U;
  }
  return kPrivateDirectory;
}

}  // namespace dibs
