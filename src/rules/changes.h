// What rules make their changes of: events about a lease, and the write of one seat.
#pragma once

#include <string>

#include "rules/claim.h"

namespace dibs {

[[nodiscard]] Event event_about(Op op, const Key& resource, const Lease& lease);

// Expiry is written down by whoever takes over, not inferred: replaying the log tomorrow must give
// today's board.
[[nodiscard]] Event eviction(const Key& resource, const Lease& lease, const Standing& standing);
[[nodiscard]] Event forced_eviction(const Key& resource, const Lease& lease, const AgentId& by,
                                    const std::string& reason);

// The seat is still as it was seen.
void expect(Changes& changes, const Key& key, const Seat& seat);
// The seat is still as it was seen, and gets these leases.
void put(Changes& changes, const Key& key, const Seat& seat, const Holding& holding);

[[nodiscard]] Holding without(const Holding& holding, const LeaseId& id);
[[nodiscard]] Holding with(const Holding& holding, const LeaseId& replaced,
                           const Lease& replacement);

// What a session is told that it has already. The answer must be as durable as if it had been given
// now, and count on the clock that counts now.
[[nodiscard]] HeldLease told_again(Changes& changes, const Key& key, const Seat& seat, Lease lease,
                                   const Instant& now);

[[nodiscard]] Error not_on_board(const LeaseRef& ref);

}  // namespace dibs
