#include "verbs/lease_keeping.h"

#include <algorithm>

#include "verbs/heartbeat.h"

namespace dibs::verbs {

namespace {

// A store that cannot be reached for a moment takes nothing from anybody.
bool is_still_held(Workspace& workspace, const Claimant& who, const LeaseId& lease) {
  const Result<Beat> beat = heartbeat_for(workspace, who);
  if (!beat) return true;
  return std::ranges::any_of(beat->extended,
                             [&](const HeldLease& held) { return held.lease.id == lease; });
}

std::int64_t beat_every_ms(Workspace& workspace, const Lease& lease) {
  constexpr std::int64_t kLeastMs = 200;
  const Result<const Settings*> settings = workspace.settings();
  std::int64_t every_ms =
      settings ? (*settings)->integer("coordination.heartbeat_interval_secs") * 1000 : kLeastMs;
  if (!lease.indefinite()) every_ms = std::min(every_ms, lease.ttl_secs * 1000 / 3);
  return std::max(every_ms, kLeastMs);
}

}  // namespace

void keep_lease_during(WatchedCall& call, Workspace& workspace, const Claimant& who,
                       const Lease& lease) {
  call.ask_every_ms = beat_every_ms(workspace, lease);
  call.may_go_on = [&] { return is_still_held(workspace, who, lease.id); };
}

}  // namespace dibs::verbs
