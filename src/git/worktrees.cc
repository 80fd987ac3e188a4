#include "git/worktrees.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/commits.h"
#include "git/ref_lookup.h"
#include "git/worktree_identity.h"
#include "git/worktree_making.h"
#include "sys/scratch.h"
#include "sys/tree_removal.h"

namespace dibs {

namespace {

constexpr unsigned kSharedDirectory = 0755;

bool is_empty_directory(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileStatus>> status = files.status(path);
  if (!status || !status->has_value() || (*status)->kind != FileKind::directory) return false;
  const Result<std::vector<std::string>> names = files.list(path);
  return names && names->empty();
}

std::string without_final_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<bool> is_branch_name(const Surroundings& around, const std::string& name) {
  if (is_plain_branch_name(name)) return true;
  const Result<ProgramEnd> end =
      around.git.run({.git_dir = around.common_dir,
                      .arguments = {"check-ref-format", "refs/heads/" + name},
                      .input = {}});
  if (!end) return fail(end.error());
  return end->succeeded() && !name.starts_with('-');
}

std::vector<std::string> add_arguments(const NewWorktree& request) {
  std::vector<std::string> arguments{"worktree", "add", "--quiet"};
  if (request.files == NewWorktree::Files::none) arguments.emplace_back("--no-checkout");
  if (request.branch.empty()) {
    arguments.insert(arguments.end(), {"--detach", request.path, request.base});
  } else if (request.base.empty()) {
    arguments.insert(arguments.end(), {request.path, request.branch});
  } else {
    // Tracking is written into the one configuration that all share, and nobody asked for it.
    arguments.insert(arguments.end(),
                     {"--no-track", "-b", request.branch, request.path, request.base});
  }
  return arguments;
}

Result<ProgramEnd> make(const Surroundings& around, const NewWorktree& request,
                        const FileLock& turn) {
  Result<std::optional<ProgramEnd>> made = make_worktree(around, request, turn);
  if (!made) return fail(made.error());
  if (made->has_value()) return **std::move(made);
  return around.git.run({.git_dir = around.common_dir,
                         .arguments = add_arguments(request),
                         .input = {},
                         .most_ms = kWholeTreeMs,
                         .under = &turn});
}

}  // namespace

Done Worktrees::check_branch(const NewWorktree& request) {
  if (request.branch.empty()) return {};
  const Result<bool> valid = is_branch_name(around_, request.branch);
  if (!valid) return fail(valid.error());
  if (!*valid) {
    return fail(ErrorKind::usage,
                fmt::format("'{}' cannot be a branch's name", printable(request.branch)),
                "choose another one: dibs worktree add --branch NAME");
  }
  const Result<std::optional<std::string>> there =
      Commits(around_.files, around_.git, around_.common_dir).find("refs/heads/" + request.branch);
  if (!there) return fail(there.error());
  const bool is_new = !request.base.empty();
  if (there->has_value() != is_new) return {};
  if (is_new) {
    return fail(ErrorKind::refused,
                fmt::format("the branch {} exists already", printable(request.branch)),
                fmt::format("make a worktree on it: dibs worktree add --branch {}",
                            shell_word(request.branch)));
  }
  return fail(ErrorKind::not_found, fmt::format("there is no branch {}", printable(request.branch)),
              "see the branches: git branch");
}

Done Worktrees::make_parents(const std::string& path) {
  constexpr std::size_t kDepthMax = 256;
  std::vector<std::string> missing;
  for (std::string at = parent_of(path); !is_there(around_.files, at); at = parent_of(at)) {
    if (missing.size() >= kDepthMax)
      return fail(ErrorKind::usage, fmt::format("{} is too deep", printable(path)));
    missing.push_back(at);
  }
  std::ranges::reverse(missing);
  for (const std::string& at : missing) {
    if (Done made = around_.files.make_directory(at, kSharedDirectory); !made) return made;
  }
  return {};
}

Result<Repository> Worktrees::add(const NewWorktree& request) {
  const auto turn = lock_worktrees(around_);
  if (!turn) return fail(turn.error());
  if (Done cleared = clear_half_made(around_, request); !cleared) return fail(cleared.error());
  if (is_there(around_.files, request.path) && !is_empty_directory(around_.files, request.path)) {
    return fail(ErrorKind::refused,
                fmt::format("there is something at {} already", printable(request.path)),
                "name another place for the worktree, as the last word");
  }
  if (Done free = check_branch(request); !free) return fail(free.error());
  if (Done made = make_parents(request.path); !made) return fail(made.error());
  const Result<ProgramEnd> end = make(around_, request, **turn);
  if (!end) return fail(end.error());
  if (!end->succeeded()) {
    return fail(ErrorKind::refused,
                fmt::format("git cannot make a worktree at {}: {}", printable(request.path),
                            complaint_of(*end)),
                "see the worktrees there are: git worktree list");
  }
  Result<Repository> made =
      find_repository(around_.files, around_.files.real_path(request.path).value_or(request.path));
  if (!made) return made;
  if (request.id) {
    const auto named = put_worktree_identity(around_.files, around_.clock, *made, *request.id);
    if (!named) return fail(named.error());
  }
  return made;
}

Result<std::vector<FoundWorktree>> Worktrees::all() {
  FileSystem& files = around_.files;
  const std::string& common = around_.common_dir;
  const Repository start{.git_dir = common, .common_dir = common, .root = common, .bare = true};
  const Result<std::vector<Repository>> present = all_worktrees(files, start);
  if (!present) return fail(present.error());
  std::vector<FoundWorktree> found;
  for (const Repository& repository : *present) {
    if (repository.is_linked()) break;
    found.push_back({.repository = repository, .missing = false, .locked = std::nullopt});
  }
  const std::string folder = common + "/worktrees";
  if (!is_there(files, folder)) return found;
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const std::string git_dir = folder + "/" + name;
    const std::string dot_git = note_in(files, git_dir + "/gitdir");
    if (dot_git.empty()) continue;
    const std::string root = parent_of(dot_git);
    std::optional<std::string> locked;
    if (is_there(files, git_dir + "/locked")) locked = note_in(files, git_dir + "/locked");
    found.push_back({.repository = {.git_dir = git_dir,
                                    .common_dir = common,
                                    .root = files.real_path(root).value_or(root),
                                    .bare = false},
                     .missing = !is_there(files, dot_git),
                     .locked = locked});
  }
  return found;
}

Result<FoundWorktree> Worktrees::find(const std::string& path) {
  const std::string wanted = around_.files.real_path(path).value_or(without_final_slashes(path));
  Result<std::vector<FoundWorktree>> worktrees = all();
  if (!worktrees) return fail(worktrees.error());
  const auto found = std::ranges::find_if(*worktrees, [&](const FoundWorktree& worktree) {
    return worktree.repository.root == wanted;
  });
  if (found != worktrees->end()) return std::move(*found);
  return fail(ErrorKind::not_found,
              fmt::format("there is no worktree of this repository at {}", printable(path)),
              "see where they are: dibs worktree list");
}

Result<std::optional<FoundWorktree>> Worktrees::on_branch(const std::string& branch) {
  Result<std::vector<FoundWorktree>> worktrees = all();
  if (!worktrees) return fail(worktrees.error());
  for (FoundWorktree& worktree : *worktrees) {
    if (!branch.empty() && current_branch(around_.files, worktree.repository) == branch)
      return std::move(worktree);
  }
  return std::nullopt;
}

Done Worktrees::check_removable(const FoundWorktree& worktree) {
  const std::string& root = worktree.repository.root;
  if (worktree.is_main()) {
    return fail(ErrorKind::refused,
                fmt::format("{} is the repository's main worktree and stays", printable(root)),
                "name a linked one; see them with: dibs worktree list");
  }
  if (worktree.locked) {
    return fail(ErrorKind::refused,
                fmt::format("{} is locked{}{}", printable(root),
                            worktree.locked->empty() ? "" : ": ", printable(*worktree.locked)),
                fmt::format("if that is no longer so: git worktree unlock {}", shell_word(root)));
  }
  // Its files would go with those around it, ignored or not.
  const Result<std::vector<FoundWorktree>> others = all();
  if (!others) return fail(others.error());
  for (const FoundWorktree& other : *others) {
    if (other.missing || !other.repository.root.starts_with(root + "/")) continue;
    return fail(
        ErrorKind::refused,
        fmt::format("another worktree is inside of it: {}", printable(other.repository.root)),
        fmt::format("remove that first: dibs worktree remove {}",
                    shell_word(other.repository.root)));
  }
  return {};
}

Result<RemovedWorktree> Worktrees::remove(const FoundWorktree& worktree, Rescue& rescue,
                                          const KeepRequest& keep) {
  if (Done allowed = check_removable(worktree); !allowed) return fail(allowed.error());
  RemovedWorktree removed{.branch = current_branch(around_.files, worktree.repository),
                          .rescue = std::nullopt};
  Result<std::optional<Rescued>> kept = rescue.snapshot(worktree.repository, keep);
  if (!kept) return fail(kept.error());
  removed.rescue = *std::move(kept);
  const auto turn = lock_worktrees(around_);
  if (!turn) return fail(turn.error());
  if (Done gone = take_away(worktree.repository); !gone) return fail(gone.error());
  return removed;
}

// Without git where that can be done in one step, so that whoever is cut short leaves no half of
// it; and git would be one more process for every item that lands.
Done Worktrees::take_away(const Repository& repository) {
  const Result<Repository> there = find_repository(around_.files, repository.root);
  const bool is_plain =
      there && there->root == repository.root && there->git_dir == repository.git_dir;
  if (is_plain && move_away(repository)) return {};
  // Forced, because git refuses what is dirty or has submodules; all of that is kept by now.
  const Result<ProgramEnd> end =
      around_.git.run({.git_dir = around_.common_dir,
                       .arguments = {"worktree", "remove", "--force", repository.root},
                       .input = {},
                       .most_ms = kWholeTreeMs});
  if (!end) return fail(end.error());
  if (end->succeeded()) return {};
  return fail(
      ErrorKind::refused,
      fmt::format("git cannot remove {}: {}", printable(repository.root), complaint_of(*end)),
      "what was not committed is kept; see: dibs worktree rescue list");
}

// Whether it could: not where the files are on another file system. What goes with the scratch
// directory is removed by whoever clears up if we are killed before.
bool Worktrees::move_away(const Repository& repository) {
  const Result<ScratchDirectory> scratch = ScratchDirectory::make(around_.directory);
  return scratch && around_.files.rename(repository.root, scratch->path() + "/files") &&
         around_.files.rename(repository.git_dir, scratch->path() + "/git");
}

Done Worktrees::forget(const FoundWorktree& missing) {
  const auto turn = lock_worktrees(around_);
  if (!turn) return fail(turn.error());
  return remove_tree(missing.repository.git_dir);
}

}  // namespace dibs
