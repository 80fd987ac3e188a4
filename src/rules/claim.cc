#include "rules/claim.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/json.h"

namespace dibs {

namespace {

struct Place {
  Key key;
  const Seat* seat = nullptr;
  const Lease* lease = nullptr;
};

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

// Expiry is written down by whoever takes over, not inferred: replaying the log tomorrow must give
// today's board.
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

void put(Changes& changes, const Key& key, const Seat& seat, const Holding& holding) {
  changes.expectations.push_back({.key = key, .version = seat.version});
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

// A sign of life: the lease now lasts at least its ttl from here, and never less than before.
void extend(Lease& lease, const Instant& now) {
  if (lease.expires) {
    const std::int64_t left_ms = std::max(ms_until(*lease.expires, now), lease.ttl_secs * 1000);
    lease.expires = later_by(now, left_ms);
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

Error not_on_board(const LeaseRef& ref) {
  return {.kind = ErrorKind::not_found,
          .message = fmt::format("there is no lease {}", text_of(ref)),
          .hint = "see what is held: dibs claim list",
          .fields = {}};
}

Error lost(const Place& place, const Standing& standing) {
  return {
      .kind = ErrorKind::lease_lost,
      .message = fmt::format("the lease on {} is lost: {}", place.key.text, standing.why),
      .hint = fmt::format("take it again before you go on: dibs claim acquire {}", place.key.text),
      .fields = {{"resource", json_string(place.key.text)}}};
}

// The lease, if this session holds it and it still counts.
Result<Place> own(const Board& board, const LeaseRef& ref, const SessionId& asking) {
  const std::optional<Place> place = find(board, ref, asking);
  if (!place) return fail(not_on_board(ref));
  if (place->lease->session != asking) {
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

Lease granted(const AcquireRequest& request, const LeaseId& id, const Instant& now) {
  Lease lease{.id = id,
              .agent = request.who.agent,
              .session = request.who.session,
              .worktree = request.who.worktree,
              .branch = request.who.branch,
              .mode = request.mode,
              .fence = {},
              .ttl_secs = request.ttl_secs,
              .acquired_unix_ms = now.unix_ms,
              .beat = now,
              .expires = std::nullopt,
              .process = request.who.process,
              .reason = request.reason,
              .unknown_members = {}};
  if (!lease.indefinite()) lease.expires = later_by(now, lease.ttl_secs * 1000);
  return lease;
}

bool may_take(Condition condition, Takeover takeover) {
  switch (condition) {
    case Condition::lapsed:
    case Condition::dead:
      return true;
    case Condition::stale:
      return takeover != Takeover::ended_only;
    case Condition::live:
      return takeover == Takeover::any;
  }
  return false;
}

Result<void> check_own_mode(const Key& key, const Lease& lease, Mode wanted) {
  // An exclusive lease covers what a shared one allows; the other way round needs an upgrade.
  if (lease.mode == Mode::exclusive || wanted == Mode::shared) return {};
  return fail(ErrorKind::refused, fmt::format("this session holds {} as shared", key.text),
              fmt::format("ask for more with: dibs claim upgrade {}", key.text));
}

// Decides one resource: who stays, who goes, and whether the claimant gets in.
Result<void> acquire_one(const Board& board, const AcquireRequest& request,
                         const Resource& resource, const LeaseId& new_id,
                         Decision<Grants>& decision) {
  const Key key = resource.key();
  const Seat& seat = board.seat(key);
  Holding remaining;
  for (const Lease& lease : seat.holding.leases) {
    const Standing standing = standing_of(lease, board, request.policy);
    if (lease.session == request.who.session && standing.held()) {
      if (Result<void> fits = check_own_mode(key, lease, request.mode); !fits) return fits;
      decision.changes.expectations.push_back({.key = key, .version = seat.version});
      decision.reply.push_back({.resource = key, .lease = lease, .already_held = true});
      return {};
    }
    const bool both_read = lease.mode == Mode::shared && request.mode == Mode::shared;
    if (both_read && standing.held()) {
      remaining.leases.push_back(lease);
    } else if (!may_take(standing.condition, request.takeover)) {
      return fail(held_by(key, lease, board, request.who.session));
    } else if (standing.condition == Condition::live) {
      decision.changes.events.push_back(
          forced_eviction(key, lease, request.who.agent, request.reason));
    } else {
      decision.changes.events.push_back(eviction(key, lease, standing));
    }
  }
  if (remaining.leases.size() >= kSharedHoldersMax) {
    return fail(ErrorKind::refused, fmt::format("{} has {} shared holders, the most there may be",
                                                key.text, remaining.leases.size()));
  }
  const Lease lease = granted(request, new_id, board.now);
  remaining.leases.push_back(lease);
  put(decision.changes, key, seat, remaining);
  decision.changes.events.push_back(event_about(Op::acquire, key, lease));
  decision.reply.push_back({.resource = key, .lease = lease, .already_held = false});
  return {};
}

Result<void> check_indefinite_limits(const Board& board, const AcquireRequest& request,
                                     Changes& changes) {
  const std::size_t wanted = request.resources.size();
  std::size_t of_agent = wanted;
  std::size_t of_all = wanted;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      if (!lease.indefinite() || !standing_of(lease, board, request.policy).held()) continue;
      if (std::ranges::find(request.resources, key, &Resource::key) != request.resources.end())
        continue;
      ++of_all;
      if (lease.agent == request.who.agent) ++of_agent;
    }
  }
  const auto refuse = [](const std::string& who, std::size_t most, const char* setting) {
    return fail(
        ErrorKind::refused, fmt::format("{} may hold at most {} indefinite leases", who, most),
        fmt::format("give it a time (--ttl 3600), release one, or raise the limit: dibs config set "
                    "coordination.{} {}",
                    setting, most + 1));
  };
  if (of_agent > request.policy.indefinite_per_agent) {
    return refuse(request.who.agent.text, request.policy.indefinite_per_agent,
                  "max_indefinite_per_agent");
  }
  if (of_all > request.policy.indefinite_per_repository) {
    return refuse("a repository", request.policy.indefinite_per_repository,
                  "max_indefinite_per_repository");
  }
  changes.expectations.push_back(
      {.key = indefinite_guard(), .version = board.seat(indefinite_guard()).version});
  changes.writes.push_back({.key = indefinite_guard(),
                            .value = JsonObject().add("leases", std::uint64_t{of_all}).text()});
  return {};
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

Decision<Grants> replaced(const Place& place, const Lease& replacement, Event event) {
  Decision<Grants> decision;
  put(decision.changes, place.key, *place.seat,
      with(place.seat->holding, place.lease->id, replacement));
  decision.changes.events.push_back(std::move(event));
  decision.reply.push_back({.resource = place.key, .lease = replacement, .already_held = false});
  return decision;
}

bool concerns(const PastEvent& past, const Claimant& who, const LeaseRef& ref) {
  if (const auto* id = std::get_if<LeaseId>(&ref)) return past.event.lease == *id;
  return past.event.resource == std::get<Resource>(ref).key() && past.event.session == who.session;
}

// The last event about the lease that ended it; null when none did.
const PastEvent* ending(std::span<const PastEvent> past, const Claimant& who, const LeaseRef& ref) {
  const PastEvent* last = nullptr;
  for (const PastEvent& event : past) {
    if (!concerns(event, who, ref)) continue;
    const Op op = event.event.op;
    const bool ends =
        op == Op::release || op == Op::auto_evict || op == Op::force_evict || op == Op::transfer;
    last = ends ? &event : nullptr;
  }
  return last;
}

std::string how_it_ended(const Event& event) {
  switch (event.op) {
    case Op::release:
      return fmt::format("{} released it", event.agent.text);
    case Op::transfer:
      return fmt::format("it was handed over to {}",
                         event.to_agent ? event.to_agent->text : "another agent");
    case Op::force_evict:
      return fmt::format("{} evicted it: {}", event.by ? event.by->text : "someone", event.reason);
    default:
      return fmt::format("it was given up ({})", event.reason);
  }
}

}  // namespace

const Key& indefinite_guard() {
  static const Key kGuard{"guard:indefinite"};
  return kGuard;
}

std::string text_of(const LeaseRef& ref) {
  if (const auto* id = std::get_if<LeaseId>(&ref)) return id->text;
  return "on " + std::get<Resource>(ref).key().text;
}

void stamp(Grants& grants, Fence fence) {
  for (HeldLease& held : grants) {
    if (held.lease.fence.value == 0) held.lease.fence = fence;
  }
}

Error held_by(const Key& resource, const Lease& lease, const Board& board,
              const SessionId& asking) {
  std::string until = "with no time limit";
  if (lease.expires) {
    until =
        fmt::format("for another {} (until {})", duration_text(ms_until(*lease.expires, board.now)),
                    rfc3339(lease.expires->unix_ms));
  }
  const bool same_agent = asking.text.starts_with(lease.agent.text + "@");
  Error error{
      .kind = ErrorKind::held,
      .message = fmt::format(
          "{} is held by {}{} {}", resource.text, lease.agent.text,
          same_agent ? fmt::format(" in another session ({})", lease.session.text) : "", until),
      .hint =
          fmt::format("keep trying with: dibs claim acquire {} --strategy retry", resource.text),
      .fields = {}};
  const auto field = [&](const char* name, std::string_view text) {
    error.fields.push_back({name, json_string(text)});
  };
  field("resource", resource.text);
  field("holder", lease.agent.text);
  field("session", lease.session.text);
  field("lease_id", lease.id.text);
  if (lease.expires) field("expires_at", rfc3339(lease.expires->unix_ms));
  error.fields.push_back({"fence", std::to_string(lease.fence.value)});
  return error;
}

Result<Decision<Grants>> acquire(const Board& board, const AcquireRequest& request) {
  Decision<Grants> decision;
  for (std::size_t i = 0; i < request.resources.size(); ++i) {
    Result<void> one =
        acquire_one(board, request, request.resources[i], request.new_ids[i], decision);
    if (!one) return fail(one.error());
  }
  if (decision.changes.writes.empty()) {
    decision.changes.expectations.clear();  // nothing to write, so nothing to expect
  } else if (request.ttl_secs == 0) {
    Result<void> within = check_indefinite_limits(board, request, decision.changes);
    if (!within) return fail(within.error());
  }
  return decision;
}

Result<Decision<Grants>> renew(const Board& board, const RenewRequest& request) {
  const Result<Place> place = own(board, request.lease, request.who.session);
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

Decision<HeartbeatReply> heartbeat(const Board& board, const Claimant& who) {
  Decision<HeartbeatReply> decision;
  for (const auto& [key, seat] : board.seats) {
    Holding beaten = seat.holding;
    bool changed = false;
    for (Lease& lease : beaten.leases) {
      if (lease.session != who.session) continue;
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
  return decision;
}

Result<Decision<Grants>> release(const Board& board, const Claimant& who, const LeaseRef& ref) {
  const Result<Place> place = own(board, ref, who.session);
  if (!place) return fail(place.error());
  Decision<Grants> decision;
  put(decision.changes, place->key, *place->seat, without(place->seat->holding, place->lease->id));
  decision.changes.events.push_back(event_about(Op::release, place->key, *place->lease));
  decision.changes.gives_back = true;
  decision.reply.push_back({.resource = place->key, .lease = *place->lease});
  return decision;
}

Result<Decision<Grants>> transfer(const Board& board, const TransferRequest& request) {
  const Result<Place> place = own(board, request.lease, request.who.session);
  if (!place) return fail(place.error());
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
  return replaced(*place, lease, std::move(event));
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
                                 const Policy& policy) {
  const Result<Place> place = own(board, ref, who.session);
  if (!place) return fail(place.error());
  Decision<Grants> decision;
  if (place->lease->mode == Mode::exclusive) {
    decision.reply.push_back(
        {.resource = place->key, .lease = *place->lease, .already_held = true});
    return decision;
  }
  for (const Lease& other : place->seat->holding.leases) {
    if (other.id == place->lease->id) continue;
    const Standing standing = standing_of(other, board, policy);
    if (standing.held()) return fail(held_by(place->key, other, board, who.session));
    decision.changes.events.push_back(eviction(place->key, other, standing));
  }
  Lease lease = *place->lease;
  lease.mode = Mode::exclusive;
  lease.fence = {};  // writers are told apart from the readers before them
  extend(lease, board.now);
  put(decision.changes, place->key, *place->seat, Holding{{lease}});
  decision.changes.events.push_back(event_about(Op::upgrade, place->key, lease));
  decision.reply.push_back({.resource = place->key, .lease = lease});
  return decision;
}

Result<Decision<Grants>> downgrade(const Board& board, const Claimant& who, const LeaseRef& ref) {
  const Result<Place> place = own(board, ref, who.session);
  if (!place) return fail(place.error());
  if (place->lease->mode == Mode::shared) {
    Decision<Grants> decision;
    decision.reply.push_back(
        {.resource = place->key, .lease = *place->lease, .already_held = true});
    return decision;
  }
  Lease lease = *place->lease;
  lease.mode = Mode::shared;
  extend(lease, board.now);
  return replaced(*place, lease, event_about(Op::downgrade, place->key, lease));
}

std::vector<Ended> ended_leases(const Board& board, const Policy& policy,
                                std::int64_t older_than_secs) {
  std::vector<Ended> ended;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      Standing standing = standing_of(lease, board, policy);
      const bool old_enough = -ms_until(lease.beat, board.now) >= older_than_secs * 1000;
      if (standing.condition == Condition::live || !old_enough) continue;
      ended.push_back({.resource = key, .lease = lease, .standing = std::move(standing)});
    }
  }
  return ended;
}

Decision<std::vector<Ended>> cleanup(const Board& board, const Policy& policy,
                                     std::int64_t older_than_secs) {
  Decision<std::vector<Ended>> decision;
  decision.changes.gives_back = true;
  std::map<Key, Holding> remaining;
  for (Ended& ended : ended_leases(board, policy, older_than_secs)) {
    if (remaining.size() == kTransactionWritesMax && !remaining.contains(ended.resource)) break;
    Holding& rest =
        remaining.try_emplace(ended.resource, board.seat(ended.resource).holding).first->second;
    rest = without(rest, ended.lease.id);
    decision.changes.events.push_back(eviction(ended.resource, ended.lease, ended.standing));
    decision.reply.push_back(std::move(ended));
  }
  for (const auto& [key, rest] : remaining) put(decision.changes, key, board.seat(key), rest);
  return decision;
}

const PastEvent* own_release(std::span<const PastEvent> past, const Claimant& who,
                             const LeaseRef& ref) {
  const PastEvent* last = ending(past, who, ref);
  const bool own =
      last != nullptr && last->event.op == Op::release && last->event.session == who.session;
  return own ? last : nullptr;
}

Error explain_absence(std::span<const PastEvent> past, const Claimant& who, const LeaseRef& ref) {
  const PastEvent* last = ending(past, who, ref);
  if (last == nullptr) return not_on_board(ref);
  return {.kind = ErrorKind::lease_lost,
          .message = fmt::format("the lease on {} is lost: {} at {}", last->event.resource.text,
                                 how_it_ended(last->event), rfc3339(last->unix_ms)),
          .hint = fmt::format("take it again before you go on: dibs claim acquire {}",
                              last->event.resource.text),
          .fields = {{"resource", json_string(last->event.resource.text)}}};
}

}  // namespace dibs
