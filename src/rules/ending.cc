// How leases end when nobody gives them back, and what to tell whoever asks for one that is gone.
#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "rules/changes.h"
#include "rules/claim.h"

namespace dibs {

namespace {

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
    if (op == Op::wait || op == Op::leave) continue;  // about a place in a line, not a lease
    const bool ends = op == Op::release || op == Op::auto_evict || op == Op::force_evict ||
                      op == Op::transfer || op == Op::land;
    last = ends ? &event : nullptr;
  }
  return last;
}

std::string how_it_ended(const Event& event) {
  switch (event.op) {
    case Op::release:
      return fmt::format("{} released it", event.agent.text);
    case Op::land:
      return fmt::format("{} landed it: {}", event.agent.text, event.reason);
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

std::vector<Ended> ended_leases(const Board& board, const Policy& policy,
                                std::int64_t older_than_secs) {
  std::vector<Ended> ended;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      Standing standing = standing_of(lease, board, policy);
      const bool old_enough = -ms_until(lease.beat, board.now) >= older_than_secs * 1000;
      if (standing.condition == Condition::live || !old_enough) continue;
      // Whoever wants what another tool left can steal it; it is not cleared away unasked.
      if (standing.condition == Condition::stale && is_of_another_tool(lease)) continue;
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
          .message = fmt::format("the lease on {} is lost: at {} {}", last->event.resource.text,
                                 rfc3339(last->unix_ms), how_it_ended(last->event)),
          .hint = fmt::format("take it again before you go on: dibs claim acquire {}",
                              shell_word(last->event.resource.text)),
          .fields = {{"resource", json_string(last->event.resource.text)}}};
}

}  // namespace dibs
