// Keeping a session's leases alive: one beat, a loop of them, or a detached process that beats for
// a session until it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/claim.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Beat {
  SessionId session;
  Grants extended;
  Grants lost;                        // had ended before the beat
  std::vector<std::string> warnings;  // leases that had nearly ended, with the command that renews
};
[[nodiscard]] Result<Beat> heartbeat(Workspace& workspace, std::optional<std::int64_t> pid);

// For a process that waits or works for a session which is not necessarily the caller's own.
[[nodiscard]] Result<Beat> heartbeat_for(Workspace& workspace, const Claimant& who);
// How long until the next beat: a third of the shortest lease at most, so that two beats may fail
// before anything is lost.
[[nodiscard]] std::int64_t pace_ms(const Grants& held, std::int64_t every_secs);

struct BeatLoop {
  std::int64_t every_secs = 30;
  std::optional<std::int64_t> pid;
  bool detached = false;  // one for each session: ends at once when another serves it
};
// Beats until the session has ended: its process is gone, or, tied to none, it holds nothing.
[[nodiscard]] Done heartbeat_loop(Workspace& workspace, const BeatLoop& request,
                                  const std::function<void(const Beat&)>& on_beat);

struct Daemon {
  SessionId session;
  std::optional<std::int64_t> pid;  // none: one was running already
};
[[nodiscard]] Result<Daemon> start_heartbeat_daemon(Workspace& workspace, const BeatLoop& request);

}  // namespace dibs::verbs
