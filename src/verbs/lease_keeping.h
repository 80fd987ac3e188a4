// A lease is kept alive while a command of the user's runs for its sake; if it is lost, the command
// is stopped. Gates and resolvers run like this.
#pragma once

#include "model/lease.h"
#include "rules/claim.h"
#include "sys/watched_program.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

// What it is given outlives the call.
void keep_lease_during(WatchedCall& call, Workspace& workspace, const Claimant& who,
                       const Lease& lease);

}  // namespace dibs::verbs
