#include "verbs/leftovers.h"

#include <algorithm>

#include "sys/scratch.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kUnderWayMs = 60LL * 60 * 1000;

// "FILE.NONCE.tmp", as files are replaced.
bool is_temporary(std::string_view name) { return name.ends_with(".tmp"); }

/// One sweep through some directories; one that is not there has nothing in it.
class Sweep {
 public:
  Sweep(FileSystem& files, std::int64_t now_ms) : files_(files), now_ms_(now_ms) {}

  [[nodiscard]] std::vector<std::string> entries(const std::string& directory) const {
    const Result<std::vector<std::string>> names = files_.list(directory);
    std::vector<std::string> paths;
    for (const std::string& name : names ? *names : std::vector<std::string>{})
      paths.push_back(directory + "/" + name);
    return paths;
  }
  void remove_files(const std::string& directory) {
    for (const std::string& path : entries(directory)) {
      if (is_temporary(path) && is_old(path, FileKind::regular) && files_.remove(path)) ++removed_;
    }
  }
  void remove_scratch(const std::string& directory) {
    for (const std::string& path : entries(directory)) {
      const bool called_so = ScratchDirectory::is_name(path.substr(path.rfind('/') + 1));
      if (called_so && is_old(path, FileKind::directory) &&
          ScratchDirectory::remove_abandoned(path))
        ++removed_;
    }
  }
  [[nodiscard]] std::size_t removed() const { return removed_; }

 private:
  bool is_old(const std::string& path, FileKind kind) {
    const Result<std::optional<FileStatus>> status = files_.status(path);
    return status && status->has_value() && (*status)->kind == kind &&
           now_ms_ - (*status)->modified_unix_ns / 1'000'000 > kUnderWayMs;
  }

  FileSystem& files_;
  std::int64_t now_ms_;
  std::size_t removed_ = 0;
};

}  // namespace

Result<std::size_t> remove_leftovers(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const std::string& common_dir = (*repository)->common_dir;
  Sweep sweep(workspace.system().files, workspace.system().clock.now().unix_ms);
  sweep.remove_files(*directory);
  sweep.remove_files(*directory + "/heartbeat");
  sweep.remove_files(*directory + "/landing.git");
  for (const std::string& remote : sweep.entries(*directory + "/remotes"))
    sweep.remove_files(remote);
  sweep.remove_scratch(*directory);
  sweep.remove_scratch(common_dir);
  for (const std::string& worktree : sweep.entries(common_dir + "/worktrees")) {
    sweep.remove_scratch(worktree);
    sweep.remove_files(worktree + "/dibs");
  }
  return sweep.removed();
}

}  // namespace dibs::verbs
