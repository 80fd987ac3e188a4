// A worktree in which gates look at a commit that nobody has checked out: the merged result, before
// it lands. Beside the other worktrees, never in the worker's own, whose files stay as they are.
//
//   Result<GateTree> tree = GateTree::at(workspace, commit);
//   … run in tree->path() …
//
// It is removed afterwards, or with gates.tree = "kept" left for the next time, so that what a
// build made (and git ignores) is there already. Several at once each get their own.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "git/surroundings.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

class GateTree {
 public:
  [[nodiscard]] static Result<GateTree> at(Workspace& workspace, const std::string& commit);

  GateTree(GateTree&& other) noexcept = default;
  GateTree& operator=(GateTree&&) = delete;
  GateTree(const GateTree&) = delete;
  GateTree& operator=(const GateTree&) = delete;
  ~GateTree();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  enum class Afterwards { remove, keep };
  GateTree(Surroundings around, std::string path, std::unique_ptr<FileLock> lock,
           Afterwards afterwards)
      : around_(std::move(around)),
        path_(std::move(path)),
        lock_(std::move(lock)),
        afterwards_(afterwards) {}

  [[nodiscard]] Done check_out(const std::string& commit);

  Surroundings around_;
  std::string path_;
  std::unique_ptr<FileLock> lock_;  // empty once it was moved from
  Afterwards afterwards_;
};

// A worktree in which nothing is worth keeping, with all that is in it; fine when it is not there.
[[nodiscard]] Done discard_worktree(const Surroundings& around, const std::string& path);

}  // namespace dibs::verbs
