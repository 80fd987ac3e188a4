// The main job on a scratch repository, and the proof that it was done right: agents as real
// processes in real worktrees race for items, one of them is killed in the middle of its work, and
// what each wrote while it believed to hold an item is checked afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/scratch.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Demo {
  std::size_t workers = 8;
  std::size_t items = 40;
  std::uint64_t seed = 1;
};

struct DemoWorker {
  std::string name;
  std::string doing;  // the item it holds; empty between two
  std::uint64_t fence = 0;
  std::size_t done = 0;
  bool killed = false;
};

struct DemoProgress {
  std::vector<DemoWorker> workers;
  std::size_t done = 0;
  std::size_t items = 0;
  std::uint64_t refusals = 0;
  std::int64_t elapsed_ms = 0;
};

struct DemoResult {
  DemoProgress end;
  std::size_t grants = 0;
  std::string killed;                   // which worker was killed while it held something
  std::string took_over;                // "agent:worker-5 took item:item-07 over at once"
  std::vector<std::string> violations;  // empty: proven
  std::string directory;
};

// A place for it, below TMPDIR; removed when the handle goes.
[[nodiscard]] Result<ScratchDirectory> demo_directory(Workspace& workspace);

// Makes the repository in `directory`, runs everything, checks it.
[[nodiscard]] Result<DemoResult> demo(Workspace& workspace, const Demo& request,
                                      const std::string& directory,
                                      const std::function<void(const DemoProgress&)>& on_progress);

/// What one worker process does.
struct DemoWork {
  std::size_t items = 0;
  std::uint64_t seed = 0;
};
[[nodiscard]] Done demo_worker(Workspace& workspace, const DemoWork& work);

}  // namespace dibs::verbs
