#include "rules/claim.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/text.h"
#include "rules/changes.h"
#include "rules/line.h"

namespace dibs {

namespace {

struct Place {
  Key key;
  const Seat* seat = nullptr;
  const Lease* lease = nullptr;
};

// A sign of life: the lease now lasts at least its ttl from here, and never less than before.
void extend(Lease& lease, const Instant& now) {
  if (lease.expires) {
    const std::int64_t left_ms = ms_until(*lease.expires, now);
    const std::int64_t wanted_ms = lease.ttl_secs * 1000;
    // What is kept is kept as it is, to the millisecond, unless it was counted in another boot.
    if (left_ms < wanted_ms || lease.expires->boot != now.boot) {
      lease.expires = later_by(now, std::max(left_ms, wanted_ms));
    }
  }
  lease.beat = now;
}

std::optional<Place> find(const Board& board, const LeaseRef& ref, const SessionId& asking) {
  std::optional<Place> found;
  const auto* id = std::get_if<LeaseId>(&ref);
  for (const auto& [key, seat] : board.seats) {
    if (const auto* resource = std::get_if<Resource>(&ref); resource && resource->key() != key)
      continue;
    for (const Lease& lease : seat.holding.leases) {
      if (id != nullptr && lease.id != *id) continue;
      // By resource, one's own lease comes before those of other readers.
      if (!found || lease.session == asking)
        found = Place{.key = key, .seat = &seat, .lease = &lease};
    }
  }
  return found;
}

Error lost(const Place& place, const Standing& standing) {
  return {.kind = ErrorKind::lease_lost,
          .message = fmt::format("the lease on {} is lost: {}", place.key.text, standing.why),
          .hint = fmt::format("take it again before you go on: dibs claim acquire {}",
                              shell_word(place.key.text)),
          .fields = {{"resource", json_string(place.key.text)}}};
}

// The lease, if this session holds it and it still counts.
Result<Place> own(const Board& board, const LeaseRef& ref, const Claimant& asking) {
  const std::optional<Place> place = find(board, ref, asking.session);
  if (!place) return fail(not_on_board(ref));
  if (place->lease->session != asking.session) {
    Error error = held_by(place->key, *place->lease, board, asking);
    error.hint = fmt::format(
        "only its holder can do that; if it is gone: dibs claim force-evict {} --reason TEXT",
        place->lease->id.text);
    return fail(std::move(error));
  }
  if (!holder_may_act(*place->lease, board)) {
    Standing standing = standing_of(*place->lease, board, Policy{});
    if (standing.why.empty()) standing.why = "its time is over";
    return fail(lost(*place, standing));
  }
  return *place;
}

// Every lease on the resource, or the one with this id.
std::vector<Place> all_matching(const Board& board, const LeaseRef& ref) {
  std::vector<Place> places;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      const auto* id = std::get_if<LeaseId>(&ref);
      const bool wanted = id != nullptr ? lease.id == *id : std::get<Resource>(ref).key() == key;
      if (wanted) places.push_back({.key = key, .seat = &seat, .lease = &lease});
    }
  }
  return places;
}

Decision<Grants> already(const Place& place, const Instant& now) {
  Decision<Grants> decision;
  decision.reply.push_back(told_again(decision.changes, place.key, *place.seat, *place.lease, now));
  return decision;
}

Decision<Grants> replaced(const Place& place, const Lease& replacement, Event event) {
  Decision<Grants> decision;
  put(decision.changes, place.key, *place.seat,
      with(place.seat->holding, place.lease->id, replacement));
  decision.changes.events.push_back(std::move(event));
  decision.reply.push_back({.resource = place.key, .lease = replacement, .already_held = false});
  return decision;
}

Decision<Grants> given_back(const Place& place, Event event) {
  Decision<Grants> decision;
  put(decision.changes, place.key, *place.seat, without(place.seat->holding, place.lease->id));
  decision.changes.events.push_back(std::move(event));
  decision.changes.gives_back = true;
  decision.reply.push_back({.resource = place.key, .lease = *place.lease});
  return decision;
}

}  // namespace

std::string text_of(const LeaseRef& ref) {
  if (const auto* id = std::get_if<LeaseId>(&ref)) return id->text;
  return "on " + std::get<Resource>(ref).key().text;
}

void add_to(Decision<Grants>& all, Decision<Grants> more) {
  const auto append = [](auto& to, auto& from) { std::ranges::move(from, std::back_inserter(to)); };
  // Whatever is more than giving back needs room of its own.
  const bool first = all.changes.writes.empty();
  all.changes.gives_back = more.changes.gives_back && (first || all.changes.gives_back);
  append(all.changes.expectations, more.changes.expectations);
  append(all.changes.writes, more.changes.writes);
  append(all.changes.events, more.changes.events);
  append(all.changes.refs, more.changes.refs);
  append(all.reply, more.reply);
}

void stamp(Grants& grants, Fence fence) {
  for (HeldLease& held : grants) {
    if (held.lease.fence.value == 0) held.lease.fence = fence;
  }
}

Error held_by(const Key& resource, const Lease& lease, const Board& board, const Claimant& asking) {
  std::string until = "with no time limit";
  if (lease.expires) {
    until =
        fmt::format("for another {} (until {})", duration_text(ms_until(*lease.expires, board.now)),
                    rfc3339(lease.expires->unix_ms));
  }
  const bool same_agent = asking.agent == lease.agent;
  Error error{
      .kind = ErrorKind::held,
      .message = fmt::format(
          "{} is held by {}{} {}", resource.text, lease.agent.text,
          same_agent ? fmt::format(" in another session ({})", lease.session.text) : "", until),
      .hint = fmt::format("stand in line for it with: dibs claim acquire {} --wait 600",
                          shell_word(resource.text)),
      .fields = {}};
  const auto field = [&](const char* name, std::string_view text) {
    error.fields.push_back({name, json_string(text)});
  };
  field("resource", resource.text);
  field("holder", lease.agent.text);
  field("session", lease.session.text);
  field("lease_id", lease.id.text);
  error.fields.push_back(
      {"expires_at", lease.expires ? json_string(rfc3339(lease.expires->unix_ms)) : "null"});
  error.fields.push_back({"fence", std::to_string(lease.fence.value)});
  return error;
}

Result<HeldLease> own_lease(const Board& board, const Claimant& who, const LeaseRef& ref) {
  const Result<Place> place = own(board, ref, who);
  if (!place) return fail(place.error());
  return HeldLease{.resource = place->key, .lease = *place->lease, .already_held = true};
}

Result<Decision<Grants>> renew(const Board& board, const RenewRequest& request) {
  const Result<Place> place = own(board, request.lease, request.who);
  if (!place) return fail(place.error());
  Lease lease = *place->lease;
  if (request.ttl_secs && (*request.ttl_secs == 0) != lease.indefinite()) {
    return fail(
        ErrorKind::refused,
        fmt::format("the lease on {} {}, and renewing does not change that", place->key.text,
                    lease.indefinite() ? "has no time limit" : "has a time limit"),
        fmt::format("release it and take it again: dibs claim release {}", lease.id.text));
  }
  lease.ttl_secs = request.ttl_secs.value_or(lease.ttl_secs);
  extend(lease, board.now);
  return replaced(*place, lease, event_about(Op::renew, place->key, lease));
}

Decision<HeartbeatReply> heartbeat(const Board& board, const Claimant& who,
                                   const std::optional<Key>& after) {
  return heartbeat(board, std::span(&who.session, 1), after);
}

Decision<HeartbeatReply> heartbeat(const Board& board, std::span<const SessionId> sessions,
                                   const std::optional<Key>& after) {
  Decision<HeartbeatReply> decision;
  for (const auto& [key, seat] : board.seats) {
    if (after && key <= *after) continue;
    if (decision.changes.writes.size() == kTransactionWritesMax) break;
    decision.reply.goes_on_after = key;
    Holding beaten = seat.holding;
    bool changed = false;
    for (Lease& lease : beaten.leases) {
      if (std::ranges::find(sessions, lease.session) == sessions.end()) continue;
      if (!holder_may_act(lease, board)) {
        decision.reply.lost.push_back({.resource = key, .lease = lease});
        continue;
      }
      extend(lease, board.now);
      changed = true;
      decision.changes.events.push_back(event_about(Op::heartbeat, key, lease));
      decision.reply.extended.push_back({.resource = key, .lease = lease});
    }
    if (changed) put(decision.changes, key, seat, beaten);
  }
  if (!board.seats.empty() && decision.reply.goes_on_after == board.seats.rbegin()->first)
    decision.reply.goes_on_after.reset();
  return decision;
}

HeartbeatReply leases_of(const Board& board, const SessionId& session) {
  HeartbeatReply reply;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      if (lease.session != session) continue;
      (holder_may_act(lease, board) ? reply.extended : reply.lost)
          .push_back({.resource = key, .lease = lease});
    }
  }
  return reply;
}

Result<Decision<Grants>> release(const Board& board, const Claimant& who, const LeaseRef& ref,
                                 const std::string& reason) {
  const Result<Place> place = own(board, ref, who);
  if (!place) return fail(place.error());
  Event event = event_about(Op::release, place->key, *place->lease);
  event.reason = reason;
  return given_back(*place, std::move(event));
}

Result<Decision<Grants>> land(const Board& board, const Claimant& who, const LeaseRef& ref,
                              const Landing& landing) {
  const Result<Place> place = own(board, ref, who);
  if (!place) return fail(place.error());
  if (place->lease->mode == Mode::shared) {
    return fail(
        ErrorKind::refused,
        fmt::format("the lease on {} is shared, and only one at a time may land", place->key.text),
        fmt::format("make it yours alone: dibs claim upgrade {}", place->lease->id.text));
  }
  Event event = event_about(Op::land, place->key, *place->lease);
  event.reason = fmt::format("{} on {} from {}", landing.commit, landing.target, landing.work);
  Decision<Grants> decision = given_back(*place, std::move(event));
  decision.changes.refs = landing.refs;
  return decision;
}

Result<Decision<Grants>> transfer(const Board& board, const TransferRequest& request) {
  const Result<Place> place = own(board, request.lease, request.who);
  if (!place) return fail(place.error());
  // A session has one lease on a resource. A second would outlive the release of the first, and
  // stand in the way of its upgrade.
  Seat seat = *place->seat;
  std::vector<Event> events;
  for (const Lease& other : place->seat->holding.leases) {
    if (other.id == place->lease->id || other.session != request.to.session) continue;
    const Standing standing = standing_of(other, board, Policy{});
    if (standing.held()) {
      return fail(
          ErrorKind::refused,
          fmt::format("{} shares {} already", request.to.session.text, place->key.text),
          fmt::format("release yours instead: dibs claim release {}", place->lease->id.text));
    }
    events.push_back(eviction(place->key, other, standing));
    seat.holding = without(seat.holding, other.id);
  }
  Lease lease = *place->lease;
  lease.id = request.new_id;
  lease.agent = request.to.agent;
  lease.session = request.to.session;
  lease.worktree = request.to.worktree;
  lease.branch = request.to.branch;
  lease.process = request.to.process;  // the old holder's process says nothing about the new one
  lease.fence = {};                    // a new grant: the old holder's fence must no longer pass
  lease.acquired_unix_ms = board.now.unix_ms;
  extend(lease, board.now);
  Event event = event_about(Op::transfer, place->key, *place->lease);
  if (lease.expires) event.expires_unix_ms = lease.expires->unix_ms;
  event.to_lease = lease.id;
  event.to_agent = lease.agent;
  events.push_back(std::move(event));
  Decision<Grants> decision;
  put(decision.changes, place->key, seat, with(seat.holding, place->lease->id, lease));
  decision.changes.events = std::move(events);
  decision.reply.push_back({.resource = place->key, .lease = lease, .already_held = false});
  return decision;
}

Result<Decision<Grants>> force_evict(const Board& board, const AgentId& by, const LeaseRef& ref,
                                     const std::string& reason) {
  const std::vector<Place> places = all_matching(board, ref);
  if (places.empty()) return fail(not_on_board(ref));
  // All of them stand on one resource: a lease id is unique, and a resource has one record.
  Decision<Grants> decision;
  Holding rest = places.front().seat->holding;
  for (const Place& place : places) {
    rest = without(rest, place.lease->id);
    decision.changes.events.push_back(forced_eviction(place.key, *place.lease, by, reason));
    decision.reply.push_back({.resource = place.key, .lease = *place.lease});
  }
  put(decision.changes, places.front().key, *places.front().seat, rest);
  decision.changes.gives_back = true;
  return decision;
}

Result<Decision<Grants>> upgrade(const Board& board, const Claimant& who, const LeaseRef& ref,
                                 const Policy& policy, const PlaceInLine& in_line) {
  const Result<Place> place = own(board, ref, who);
  if (!place) return fail(place.error());
  if (const Waiter* told = told_to_give_way(board, place->key, in_line))
    return fail(gives_way(told->victim_of));
  if (place->lease->mode == Mode::exclusive) {
    Decision<Grants> decision = already(*place, board.now);
    if (in_line.id) take_out(decision.changes, board, place->key, in_line);
    return decision;
  }
  Decision<Grants> decision;
  for (const Lease& other : place->seat->holding.leases) {
    if (other.id == place->lease->id) continue;
    const Standing standing = standing_of(other, board, policy);
    if (standing.held()) return fail(held_by(place->key, other, board, who));
    decision.changes.events.push_back(eviction(place->key, other, standing));
  }
  Lease lease = *place->lease;
  lease.mode = Mode::exclusive;
  lease.fence = {};  // writers are told apart from the readers before them
  extend(lease, board.now);
  put(decision.changes, place->key, *place->seat, Holding{{lease}});
  take_out(decision.changes, board, place->key, in_line);
  decision.changes.events.push_back(event_about(Op::upgrade, place->key, lease));
  decision.reply.push_back({.resource = place->key, .lease = lease});
  return decision;
}

Result<Decision<Grants>> downgrade(const Board& board, const Claimant& who, const LeaseRef& ref) {
  const Result<Place> place = own(board, ref, who);
  if (!place) return fail(place.error());
  if (place->lease->mode == Mode::shared) return already(*place, board.now);
  Lease lease = *place->lease;
  lease.mode = Mode::shared;
  extend(lease, board.now);
  return replaced(*place, lease, event_about(Op::downgrade, place->key, lease));
}

}  // namespace dibs
