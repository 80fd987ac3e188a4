#include "rules/changes.h"

#include <fmt/core.h>

#include <algorithm>

namespace dibs {

Event event_about(Op op, const Key& resource, const Lease& lease) {
  Event event{.op = op,
              .resource = resource,
              .lease = lease.id,
              .agent = lease.agent,
              .session = lease.session,
              .worktree = lease.worktree,
              .expires_unix_ms = std::nullopt,
              .by = std::nullopt,
              .to_lease = std::nullopt,
              .to_agent = std::nullopt,
              .reason = {}};
  if (lease.expires) event.expires_unix_ms = lease.expires->unix_ms;
  return event;
}

Event eviction(const Key& resource, const Lease& lease, const Standing& standing) {
  Event event = event_about(Op::auto_evict, resource, lease);
  event.reason = standing.why;
  return event;
}

Event forced_eviction(const Key& resource, const Lease& lease, const AgentId& by,
                      const std::string& reason) {
  Event event = event_about(Op::force_evict, resource, lease);
  event.by = by;
  event.reason = reason;
  return event;
}

void expect(Changes& changes, const Key& key, const Seat& seat) {
  changes.expectations.push_back({.key = key, .version = seat.version});
}

void put(Changes& changes, const Key& key, const Seat& seat, const Holding& holding) {
  expect(changes, key, seat);
  std::optional<std::string> value;
  if (!holding.leases.empty()) value = to_json(holding);
  changes.writes.push_back({.key = key, .value = std::move(value)});
}

Holding without(const Holding& holding, const LeaseId& id) {
  Holding rest = holding;
  std::erase_if(rest.leases, [&](const Lease& lease) { return lease.id == id; });
  return rest;
}

Holding with(const Holding& holding, const LeaseId& replaced, const Lease& replacement) {
  Holding changed = holding;
  std::ranges::replace_if(
      changed.leases, [&](const Lease& lease) { return lease.id == replaced; }, replacement);
  return changed;
}

// An end that was counted in another boot is by the wall clock, which may be set: whoever is told
// it now and whoever takes over must count on the same clock from here on.
HeldLease told_again(Changes& changes, const Key& key, const Seat& seat, Lease lease,
                     const Instant& now) {
  if (!lease.expires || lease.expires->boot == now.boot) {
    expect(changes, key, seat);
  } else {
    lease.expires = later_by(now, ms_until(*lease.expires, now));
    lease.beat = now;  // a lease counts in one boot
    put(changes, key, seat, with(seat.holding, lease.id, lease));
    changes.events.push_back(event_about(Op::renew, key, lease));
  }
  return {.resource = key, .lease = std::move(lease), .already_held = true};
}

Error not_on_board(const LeaseRef& ref) {
  return {.kind = ErrorKind::not_found,
          .message = fmt::format("there is no lease {}", text_of(ref)),
          .hint = "see what is held: dibs claim list",
          .fields = {}};
}

}  // namespace dibs
