// `run`: keeps so many workers busy until nothing is ready. Each takes the best item, gets a
// worktree, works with its lease kept alive, and its result lands.
//
// rules/dispatch decides what is done next. Each step (take an item, land it, give it back, beat)
// is a dibs of its own, started and watched by sys/children: a step that dies costs nothing else,
// its exit code is the contract that everybody has, and nothing here needs threads. docs/adr/0013
// has the reasons.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/dispatch.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

inline constexpr std::size_t kWorkersMax = 256;

/// Workers that run the same command.
struct RunKind {
  std::string name =
      {};  // as in [workers.NAME]; empty: there is but one kind, from the command line
  std::vector<std::string> command;
  std::size_t workers = 1;
  std::string model = {};
};
// Of these names; all that are configured without any, and that may be none. Refused when one came
// with the repository and is not trusted.
[[nodiscard]] Result<std::vector<RunKind>> configured_kinds(Workspace& workspace,
                                                            const std::vector<std::string>& names);

struct Run {
  std::vector<RunKind> kinds;
  DispatchLimits limits;  // without workers: the kinds have them
  std::vector<std::string> labels;
  std::optional<std::int64_t> ttl_secs;
  enum class Worktrees { remove, keep };
  Worktrees worktrees = Worktrees::remove;
};

/// Something that happened, for whoever reads along.
struct RunEvent {
  enum class What { begun, started, landed, failed, parked, put_back, lost, draining, warning };
  What what = What::begun;
  std::string item;
  std::optional<std::size_t> worker;  // counted from 1
  std::string kind = {};              // of worker, where kinds have names
  std::string text;                   // why, the commit, the path; foreign text as it came
  std::int64_t took_ms = 0;           // in the command; of `started`, until it was there to start
};
[[nodiscard]] std::string_view name_of(RunEvent::What what);

/// What one worker does now.
struct WorkerNow {
  std::string kind = {};  // where kinds have names
  std::string item;       // empty: nothing
  std::int64_t for_ms = 0;
  std::optional<std::int64_t> lease_left_ms;
  std::string last_line;  // of what the command said, as it came
};

/// The whole run at one moment.
struct RunNow {
  std::vector<WorkerNow> workers;
  std::size_t prepared = 0;   // items that wait for a worker
  std::size_t finishing = 0;  // commands that have ended and are landed or given back
  std::size_t left = 0;       // items that could still be done, as far as was last known
  DispatchTotals totals;
  std::int64_t elapsed_ms = 0;
  bool draining = false;
};

/// What came of one kind of workers.
struct KindSummary {
  RunKind kind;
  DispatchTotals totals;
};

struct RunSummary {
  std::string run;
  DispatchTotals totals;
  std::vector<KindSummary> kinds = {};  // where they have names
  std::size_t workers = 0;
  std::int64_t elapsed_ms = 0;
  bool interrupted = false;

  // Of the workers' time, how much went into commands.
  [[nodiscard]] double utilisation() const;
  [[nodiscard]] std::int64_t waiting_ms() const;
};

struct RunWatch {
  std::function<void(const RunEvent&)> on_event;
  std::function<void(const RunNow&)> on_frame = {};  // several times a second; empty: nobody looks
};

// `nothing_ready` when there was nothing to begin with. An error after work was done says what
// stopped it; the summary is told through `on_event`'s caller either way.
struct RunEnd {
  RunSummary summary;
  std::optional<Error> error;
};
[[nodiscard]] Result<RunEnd> run(Workspace& workspace, const Run& request, const RunWatch& watch);

// One beat for all of these sessions, in one change; those that still hold something.
[[nodiscard]] Result<std::vector<SessionId>> beat_for(Workspace& workspace,
                                                      const std::vector<std::string>& sessions);

}  // namespace dibs::verbs
