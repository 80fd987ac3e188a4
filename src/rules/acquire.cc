// Taking a lease: who stays, who goes, and whether the claimant gets in.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/text.h"
#include "rules/changes.h"
#include "rules/claim.h"
#include "rules/line.h"

namespace dibs {

namespace {

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
              fmt::format("ask for more with: dibs claim upgrade {}", shell_word(key.text)));
}

// Those who share an item have one branch.
std::string claim_state_for(const AcquireRequest& request, std::size_t index,
                            const Holding& beside) {
  if (!beside.leases.empty()) return beside.leases.front().claim_state;
  return index < request.claim_states.size() ? request.claim_states[index] : std::string();
}

// Decides one resource: who stays, who goes, and whether the claimant gets in.
Result<void> acquire_one(const Board& board, const AcquireRequest& request, std::size_t index,
                         Decision<Grants>& decision) {
  const Key key = request.resources[index].key();
  const Seat& seat = board.seat(key);
  if (const Waiter* told = told_to_give_way(board, key, request.place))
    return fail(gives_way(told->victim_of));
  Holding remaining;
  std::vector<Event> evictions;
  for (const Lease& lease : seat.holding.leases) {
    const Standing standing = standing_of(lease, board, request.policy);
    if (lease.session == request.who.session && standing.held()) {
      if (Result<void> fits = check_own_mode(key, lease, request.mode); !fits) return fits;
      decision.reply.push_back(told_again(decision.changes, key, seat, lease, board.now));
      if (request.place.id) take_out(decision.changes, board, key, request.place);
      return {};
    }
    const bool both_read = lease.mode == Mode::shared && request.mode == Mode::shared;
    if (both_read && standing.held()) {
      remaining.leases.push_back(lease);
    } else if (!may_take(standing.condition, request.takeover)) {
      return fail(held_by(key, lease, board, request.who));
    } else if (standing.condition == Condition::live) {
      evictions.push_back(forced_eviction(key, lease, request.who.agent, request.reason));
    } else {
      evictions.push_back(eviction(key, lease, standing));
    }
  }
  if (remaining.leases.size() >= kSharedHoldersMax) {
    return fail(ErrorKind::refused, fmt::format("{} has {} shared holders, the most there may be",
                                                key.text, remaining.leases.size()));
  }
  const Waiter* next = ahead_of(board, key, request.mode, request.who.session, request.place);
  if (next != nullptr && request.takeover != Takeover::any)
    return fail(not_its_turn(board, key, *next));
  Lease lease = granted(request, request.new_ids[index], board.now);
  lease.claim_state = claim_state_for(request, index, remaining);
  remaining.leases.push_back(lease);
  put(decision.changes, key, seat, remaining);
  take_out(decision.changes, board, key, request.place);
  std::ranges::move(evictions, std::back_inserter(decision.changes.events));
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
      if (!lease.indefinite() || is_of_another_tool(lease)) continue;
      if (!standing_of(lease, board, request.policy).held()) continue;
      // On what is asked for, only the other readers stay beside the new lease.
      const bool asked_for =
          std::ranges::find(request.resources, key, &Resource::key) != request.resources.end();
      const bool stays = request.mode == Mode::shared && lease.mode == Mode::shared &&
                         lease.session != request.who.session;
      if (asked_for && !stays) continue;
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

// All or nothing: whoever tries again wants all of them again.
Error with_hint_for_all(Error error, const AcquireRequest& request) {
  if (error.kind != ErrorKind::held || request.resources.size() == 1) return error;
  error.hint = "stand in line for them with: dibs claim acquire";
  for (const Resource& resource : request.resources)
    error.hint += " " + shell_word(resource.key().text);
  error.hint += " --wait 600";
  return error;
}

}  // namespace

const Key& indefinite_guard() {
  static const Key kGuard{"guard:indefinite"};
  return kGuard;
}

Result<Decision<Grants>> acquire(const Board& board, const AcquireRequest& request) {
  Decision<Grants> decision;
  for (std::size_t i = 0; i < request.resources.size(); ++i) {
    Result<void> one = acquire_one(board, request, i, decision);
    if (!one) return fail(with_hint_for_all(one.error(), request));
  }
  if (request.ttl_secs == 0 && !decision.changes.writes.empty()) {
    Result<void> within = check_indefinite_limits(board, request, decision.changes);
    if (!within) return fail(within.error());
  }
  return decision;
}

}  // namespace dibs
