// What the demo claims, and whether it is so. Pure: everything that was found out afterwards goes
// in, and a verdict on each claim comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "verbs/demo_plan.h"

namespace dibs::verbs {

/// A commit on the target that landed something.
struct DemoLanding {
  std::string item;
  std::string lease;
};

/// A try that failed, as the run told it.
struct DemoFailure {
  std::string item;
  std::string why;
};

struct DemoEvidence {
  DemoPlan plan;
  std::vector<DemoLanding> landings;  // as they stand on the target, the oldest first
  std::vector<PastEvent> history;     // of all leases, from the beginning
  std::vector<DemoFailure> failures;
  std::vector<std::string> open_items;        // that did not become done
  std::vector<std::string> left_behind;       // worktrees, branches, processes, leases
  std::optional<std::int64_t> sleeper_exit;   // of its `dibs done`; none: it never came to that
  std::vector<std::string> rescued;           // items of which work is on a rescue ref
  std::string check_said;                     // the project's own check, on the target
  std::optional<std::string> run_error = {};  // what stopped it
};

struct DemoVerdict {
  std::string claim;                    // "every item landed exactly once"
  std::vector<std::string> violations;  // empty: it is so

  [[nodiscard]] bool holds() const { return violations.empty(); }
};

// Claims about mishaps that the plan has no room for are left out.
[[nodiscard]] std::vector<DemoVerdict> prove(const DemoEvidence& evidence);

/// What one worker took for some items that it did alone.
struct DemoMeasure {
  std::size_t items = 0;
  std::int64_t elapsed_ms = 0;   // of its run
  std::int64_t commands_ms = 0;  // inside the commands
  std::int64_t thinking_ms = 0;  // of that, planned
};
// What it would take one worker to do the rest of the plan: its thinking as it is planned, the rest
// as it was measured. Preparing and landing happen while a worker is at its next item, so they
// count once.
[[nodiscard]] std::optional<std::int64_t> one_worker_ms(const DemoPlan& plan,
                                                        const DemoMeasure& alone);

}  // namespace dibs::verbs
