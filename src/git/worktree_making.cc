#include "git/worktree_making.h"

#include "git/ref_lookup.h"

namespace dibs {

namespace {

constexpr unsigned kFileMode = 0644;
constexpr unsigned kPermissions = 0777;
constexpr std::string_view kMaking = "dibs is making it";

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// Where the worktree will be, and its private git directory.
struct Sites {
  std::string path;
  std::string git_dir;
  unsigned mode = 0;  // of directories, as those of the repository
};

// Nothing where git should do all of it.
std::optional<Sites> sites_of(const Surroundings& around, const NewWorktree& request) {
  const bool usual = request.files == NewWorktree::Files::checked_out && !request.base.empty() &&
                     !request.branch.empty() && around.file_mode == kPrivateFile;
  const std::string name(last_part(request.path));
  const std::string& common = around.common_dir;
  if (!usual || !is_plain_branch_name(name) || !request.path.starts_with('/')) return std::nullopt;
  for (const char* special : {"/config.worktree", "/info/sparse-checkout", "/reftable"})
    if (is_there(around.files, common + special)) return std::nullopt;
  const Result<std::optional<FileStatus>> status = around.files.status(common);
  if (!status || !status->has_value()) return std::nullopt;
  return Sites{.path = request.path,
               .git_dir = common + "/worktrees/" + name,
               .mode = (*status)->mode & kPermissions};
}

// Not flushed: a worktree that a power cut took away is made again.
Done put(FileSystem& files, const std::string& path, std::string_view text) {
  const Result<std::unique_ptr<File>> file = files.open(path, Open::create_append, kFileMode);
  if (!file) return fail(file.error());
  if (Done emptied = (*file)->truncate(0); !emptied) return emptied;
  return (*file)->append(text);
}

// Locked first, or else a `git worktree prune` could take what is half made for an orphan.
Done put_files(const Surroundings& around, const Sites& sites, const std::string& base) {
  FileSystem& files = around.files;
  for (const std::string& folder : {around.common_dir + "/worktrees", sites.git_dir, sites.path}) {
    if (Done made = files.make_directory(folder, sites.mode); !made) return made;
  }
  const Result<std::string> path = files.real_path(sites.path);
  if (!path) return fail(path.error());
  const std::string& own = sites.git_dir;
  if (Done done = put(files, own + "/locked", kMaking); !done) return done;
  if (Done done = put(files, own + "/gitdir", *path + "/.git\n"); !done) return done;
  if (Done done = put(files, own + "/HEAD", base + "\n"); !done) return done;
  if (Done done = put(files, own + "/commondir", "../..\n"); !done) return done;
  return put(files, sites.path + "/.git", "gitdir: " + own + "\n");
}

void take_away(const Surroundings& around, const Sites& sites) {
  (void)around.git.run({.git_dir = around.common_dir,
                        .arguments = {"worktree", "remove", "--force", "--force", sites.path},
                        .input = {},
                        .most_ms = kWholeTreeMs});
}

// Whether nothing is at the path but what belongs to this git directory.
bool is_free_for(FileSystem& files, const Sites& sites) {
  const Result<std::optional<FileStatus>> status = files.status(sites.path);
  if (!status) return false;
  if (!status->has_value()) return true;
  const Result<std::vector<std::string>> names = files.list(sites.path);
  if (!names) return false;
  const std::string note = note_in(files, sites.path + "/.git");
  const bool unwritten = names->size() == 1 && names->front() == ".git" && note.empty();
  return names->empty() || unwritten || note == "gitdir: " + sites.git_dir;
}

}  // namespace

// With an index the checkout is through, and somebody may have worked there already. Without one
// git removes it, once all files are there that it looks at.
Done clear_half_made(const Surroundings& around, const NewWorktree& request) {
  FileSystem& files = around.files;
  const std::optional<Sites> sites = sites_of(around, request);
  if (!sites || note_in(files, sites->git_dir + "/locked") != kMaking) return {};
  if (is_there(files, sites->git_dir + "/index")) return files.remove(sites->git_dir + "/locked");
  if (!is_free_for(files, *sites)) return {};
  if (Done put = put_files(around, *sites, request.base); !put) return put;
  take_away(around, *sites);
  return {};
}

Result<std::optional<ProgramEnd>> make_worktree(const Surroundings& around,
                                                const NewWorktree& request, const FileLock& turn) {
  const std::optional<Sites> sites = sites_of(around, request);
  // One of that name may be elsewhere; then git finds another name.
  if (!sites || is_there(around.files, sites->git_dir)) return std::nullopt;
  if (Done put = put_files(around, *sites, request.base); !put) {
    take_away(around, *sites);
    return fail(put.error());
  }
  Result<ProgramEnd> end =
      around.git.run({.git_dir = sites->git_dir,
                      .arguments = {"checkout", "--quiet", "--force", "--no-track", "-b",
                                    request.branch, request.base},
                      .input = {},
                      .most_ms = kWholeTreeMs,
                      .work_tree = sites->path,
                      .settings = {"submodule.recurse=false"},
                      .under = &turn});
  if (!end || !end->succeeded()) {
    take_away(around, *sites);
  } else if (Done unlocked = around.files.remove(sites->git_dir + "/locked"); !unlocked) {
    return fail(unlocked.error());
  }
  if (!end) return fail(end.error());
  return *std::move(end);
}

}  // namespace dibs
