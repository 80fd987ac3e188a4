// Looking at leases: `claim status`, `list` and `verify`.
#include <fmt/core.h>

#include <algorithm>

#include "verbs/claim.h"
#include "verbs/item_names.h"

namespace dibs::verbs {

namespace {

// Everything on the board, with how it stands.
Result<std::vector<ListedLease>> survey(Workspace& workspace, const Selection& selection) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
  const Result<Board> board = (*ledger)->look(selection);
  if (!board) return fail(board.error());
  std::vector<ListedLease> leases;
  for (const auto& [key, seat] : board->seats) {
    for (const Lease& lease : seat.holding.leases)
      leases.push_back(listed(key, lease, *board, *policy));
  }
  return leases;
}

}  // namespace

ListedLease listed(const Key& resource, const Lease& lease, const Board& board,
                   const Policy& policy) {
  ListedLease entry{.resource = resource,
                    .lease = lease,
                    .standing = standing_of(lease, board, policy),
                    .left_ms = {}};
  if (lease.expires) entry.left_ms = ms_until(*lease.expires, board.now);
  return entry;
}

Result<Status> status(Workspace& workspace, const std::string& text) {
  Result<Resource> resource = parse_resource(text);
  if (!resource) return fail(resource.error());
  resource = resolved(workspace, *std::move(resource));
  if (!resource) return fail(resource.error());
  Result<std::vector<ListedLease>> leases = survey(workspace, Selection::of({resource->key()}));
  if (!leases) return fail(leases.error());
  std::erase_if(*leases, [](const ListedLease& entry) { return !entry.standing.held(); });
  return Status{.resource = resource->key(), .leases = *std::move(leases)};
}

Result<std::vector<ListedLease>> held_among(Workspace& workspace, std::vector<Key> keys) {
  Result<std::vector<ListedLease>> all = survey(workspace, Selection::of(std::move(keys)));
  if (all) std::erase_if(*all, [](const ListedLease& entry) { return !entry.standing.held(); });
  return all;
}

Result<std::vector<ListedLease>> list(Workspace& workspace, const List& request) {
  std::optional<AgentId> agent;
  if (request.agent_id) {
    const Result<AgentId> parsed = parse_agent_id(*request.agent_id);
    if (!parsed) return fail(parsed.error());
    agent = *parsed;
  }
  std::optional<SessionId> session;
  if (request.own_session) {
    const Result<Claimant> who = workspace.claimant();
    if (!who) return fail(who.error());
    session = who->session;
  }
  Result<std::vector<ListedLease>> leases =
      survey(workspace, Selection::with_text(session ? session->text : ""));
  if (!leases) return fail(leases.error());
  std::erase_if(*leases, [&](const ListedLease& entry) {
    if (agent && entry.lease.agent != *agent) return true;
    if (session && entry.lease.session != *session) return true;
    return request.stale ? entry.standing.condition == Condition::live : !entry.standing.held();
  });
  return leases;
}

Result<ListedLease> verify(Workspace& workspace, const std::string& resource, std::uint64_t fence) {
  const Result<Status> now = status(workspace, resource);
  if (!now) return fail(now.error());
  std::uint64_t highest = 0;
  for (const ListedLease& entry : now->leases) {
    // Another tool's lock has no fence, and nothing may pass under it.
    if (fence != 0 && entry.lease.fence.value == fence) return entry;
    highest = std::max(highest, entry.lease.fence.value);
  }
  return fail(ErrorKind::lease_lost,
              now->leases.empty() ? fmt::format("nobody holds {}", now->resource.text)
                                  : fmt::format("the live fence of {} is {}, not {}",
                                                now->resource.text, highest, fence),
              "stop: whatever was done under this fence must not land");
}

}  // namespace dibs::verbs
