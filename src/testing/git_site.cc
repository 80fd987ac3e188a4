#include "testing/git_site.h"

#include <cstdlib>
#include <stdexcept>

#include "base/name_encoding.h"

namespace dibs {

namespace {
std::vector<std::string> plain_environment(const std::string& home) {
  const char* path = std::getenv("PATH");
  return {"PATH=" + std::string(path == nullptr ? "/usr/bin:/bin" : path), "HOME=" + home};
}
}  // namespace

GitSite::GitSite(std::string object_format, std::string layout)
    : object_format_(std::move(object_format)),
      layout_(std::move(layout)),
      git_(hooked_programs_, [this] { return plain_environment(directory_.path()); }) {
  (void)clock_.now();  // it learns its boot when first asked, and may be shared by threads
  if (!run_git(directory_.path(),
               {"init", "--quiet", "--bare", "--object-format=" + object_format_, "remote.git"}))
    throw std::runtime_error("no remote");
}

std::string GitSite::clone(const std::string& name) {
  const std::string path = directory_ / name;
  const Result<std::optional<FileStatus>> there = files_.status(path);
  if (there && there->has_value()) return path;
  // Not `git clone`: of an empty remote, it does not learn the kind of object names.
  if (!run_git(directory_.path(), {"init", "--quiet", "--object-format=" + object_format_, name}) ||
      !run_git(path, {"remote", "add", "origin", remote()}))
    throw std::runtime_error("no clone");
  if (layout_ == "branches" && !has_target(path)) throw std::runtime_error("no target");
  return path;
}

// Claim branches start from the remote's main, which the first clone makes.
bool GitSite::has_target(const std::string& clone) {
  if (run_git(clone, {"fetch", "--quiet", "origin", "+refs/heads/main:refs/remotes/origin/main"}))
    return true;
  return run_git(clone, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet",
                         "--allow-empty", "-m", "start"}) &&
         run_git(clone, {"push", "--quiet", "origin", "HEAD:refs/heads/main"});
}

RemoteRefs GitSite::refs(const std::string& clone_name) {
  const std::string common_dir = clone(clone_name) + "/.git";
  for (const char* made : {"/dibs", "/dibs/remotes"})
    (void)files_.make_directory(common_dir + made, kPrivateDirectory);
  RemoteRefs refs(hooked_files_, git_,
                  {.directory = common_dir + "/dibs/remotes/origin.git",
                   .common_dir = common_dir,
                   .remote = "origin",
                   .prefix = "refs/dibs/"});
  if (Done opened = refs.open(kPrivateDirectory); !opened)
    throw std::runtime_error(opened.error().message);
  return refs;
}

GitStoreParts GitSite::parts_with(Clock& clock) {
  return {
      .files = hooked_files_, .clock = clock, .random = random_, .machine = machine_, .git = git_};
}

GitStorePlace GitSite::place_in(const std::string& clone_name) {
  const std::string common_dir = clone(clone_name) + "/.git";
  return {.directory = common_dir + "/dibs",
          .common_dir = common_dir,
          .remote = "origin",
          .prefix = "refs/dibs/",
          .layout = layout_};
}

std::string GitSite::memory_of(const std::string& clone_name) {
  const GitStorePlace place = place_in(clone_name);
  const bool one_branch = layout_ == kLockBranch;
  const std::string prefix = one_branch ? "refs/heads/" + place.lock_branch : place.prefix;
  return place.directory + "/remotes/" + encode_name(place.remote + ":" + prefix) + ".git";
}

std::unique_ptr<GitStore> GitSite::open(const std::string& clone_name, Clock* clock) {
  const GitStorePlace place = place_in(clone_name);
  const GitStoreParts parts = parts_with(clock == nullptr ? clock_ : *clock);
  const Result<std::optional<FileStatus>> there = files_.status(place.directory);
  if (!there || !there->has_value()) {
    if (Done made = GitStore::create(parts, place); !made)
      throw std::runtime_error(made.error().message);
  }
  auto store = GitStore::open(parts, place, [](const std::string&) {});
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

}  // namespace dibs
