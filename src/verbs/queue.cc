#include "verbs/queue.h"

#include <algorithm>

#include "rules/hold_times.h"
#include "verbs/item_names.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kPastMax = 500;
constexpr std::uint64_t kEntriesMax = 50'000;

Result<std::optional<std::int64_t>> usual_hold(Ledger& ledger, const Key& resource) {
  HistoryQuery query;
  query.resource = resource;
  query.newest = kPastMax;
  query.last_entries = kEntriesMax;
  const Result<History> history = ledger.store().history(query);
  if (!history) return fail(history.error());
  return usual_hold_ms(history->events);
}

// What is left of the longest hold there is now, if it takes as long as usual.
std::int64_t left_of_now(const Queue& queue, std::int64_t usual_ms, const Instant& now) {
  std::int64_t left_ms = 0;
  for (const ListedLease& held : queue.holders) {
    const std::int64_t so_far_ms = now.unix_ms - held.lease.acquired_unix_ms;
    left_ms = std::max(left_ms, usual_ms - std::clamp<std::int64_t>(so_far_ms, 0, usual_ms));
  }
  return left_ms;
}

Result<Queue> queue_for(Ledger& ledger, const Board& board, const Key& resource,
                        const Policy& policy) {
  Queue queue{.resource = resource, .holders = {}, .waiters = {}};
  for (const Lease& lease : board.seat(resource).holding.leases) {
    ListedLease held = listed(resource, lease, board, policy);
    if (held.standing.held()) queue.holders.push_back(std::move(held));
  }
  for (const Waiter& waiter : board.line(resource).waiters) {
    if (!why_gone(waiter, board)) queue.waiters.push_back({.waiter = waiter, .eta_ms = {}});
  }
  if (queue.waiters.empty()) return queue;
  const Result<std::optional<std::int64_t>> usual = usual_hold(ledger, resource);
  if (!usual) return fail(usual.error());
  if (!usual->has_value()) return queue;
  std::int64_t eta_ms = left_of_now(queue, **usual, board.now);
  for (Queued& queued : queue.waiters) {
    queued.eta_ms = eta_ms;
    eta_ms += **usual;
  }
  return queue;
}

}  // namespace

Result<std::vector<Queue>> queues(Workspace& workspace, const std::optional<std::string>& asked) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
  std::vector<Key> resources;
  Selection selection = Selection::everything();
  if (asked) {
    Result<Resource> resource = parse_resource(*asked);
    if (!resource) return fail(resource.error());
    resource = resolved(workspace, *std::move(resource));
    if (!resource) return fail(resource.error());
    resources.push_back(resource->key());
    selection = selection_with_lines({*resource});
  }
  const Result<Board> board = (*ledger)->look(selection);
  if (!board) return fail(board.error());
  if (!asked) {
    for (const auto& [key, seat] : board->seats) {
      if (const std::optional<Key> resource = waited_for(key)) resources.push_back(*resource);
    }
  }
  std::vector<Queue> found;
  for (const Key& resource : resources) {
    Result<Queue> queue = queue_for(**ledger, *board, resource, *policy);
    if (!queue) return fail(queue.error());
    if (asked || !queue->waiters.empty()) found.push_back(*std::move(queue));
  }
  return found;
}

Result<WaitsFound> find_deadlocks(Workspace& workspace) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
  const Result<Board> board = (*ledger)->look(Selection::everything());
  if (!board) return fail(board.error());
  return WaitsFound{.waits = waits_on(*board, *policy), .deadlocks = deadlocks_on(*board, *policy)};
}

}  // namespace dibs::verbs
