// The whole job on a scratch repository, and the proof that it was done right. A real small C
// project, items with dependencies, and `run` itself with workers that edit, compile and commit.
// One makes a mistake, one is killed with -9, and an agent beside the run sleeps over its lease.
//
// verbs/demo_plan says what is to be done, verbs/demo_project writes it down, verbs/demo_evidence
// looks at what came of it, and verbs/demo_proof judges that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/scratch.h"
#include "verbs/demo_plan.h"
#include "verbs/demo_proof.h"
#include "verbs/run.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// For whoever looks on.
struct DemoWatch {
  std::function<void(const std::string&)> on_news;   // a sentence of the story
  std::function<void(const RunEvent&)> on_event;     // of the runs
  std::function<void(const RunNow&)> on_frame = {};  // the same, drawn; empty: nobody looks
};

struct DemoResult {
  DemoPlan plan;
  std::vector<DemoVerdict> verdicts;
  DispatchTotals totals;                      // of both runs
  std::size_t landed = 0;                     // items that are on the target
  std::size_t grants = 0;                     // of leases
  std::uint64_t refusals = 0;                 // of claims
  std::string killed;                         // the item whose worker was killed; empty: none was
  std::string took_over;                      // "agent:demo took item:step-05 over"
  std::int64_t elapsed_ms = 0;                // all of it
  std::int64_t together_ms = 0;               // of the run with all workers
  std::size_t together_items = 0;             // that it did
  std::optional<std::int64_t> one_worker_ms;  // that one worker would have taken for them
  bool compiled = true;                       // false: there is no C compiler here

  [[nodiscard]] std::vector<std::string> violations() const;
  [[nodiscard]] std::optional<double> speed_up() const;
};

// A place for it, below TMPDIR; removed when the handle goes.
[[nodiscard]] Result<ScratchDirectory> demo_directory(Workspace& workspace);

// Makes the repository in `directory`, runs everything, checks it.
[[nodiscard]] Result<DemoResult> demo(Workspace& workspace, const Demo& request,
                                      const std::string& directory, const DemoWatch& watch);

}  // namespace dibs::verbs
