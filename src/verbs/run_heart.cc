// The heart of a run: all its sessions in one change. They are known by the beginning of their
// names, so that whoever beats need not be told which there are.
#include <set>

#include "verbs/run.h"

namespace dibs::verbs {

namespace {

std::vector<SessionId> sessions_on(const Board& board, const std::string& prefix) {
  std::set<SessionId> sessions;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      if (lease.session.text.starts_with(prefix)) sessions.insert(lease.session);
    }
  }
  return {sessions.begin(), sessions.end()};
}

}  // namespace

Result<std::vector<SessionId>> beat_for_run(Workspace& workspace, const std::string& run) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const std::string prefix = run + "-";
  std::set<SessionId> alive;
  std::optional<Key> after;
  do {
    const auto settled = (*ledger)->settle<HeartbeatReply>(
        Selection::with_text(prefix), [&](const Board& board) -> Result<Decision<HeartbeatReply>> {
          return dibs::heartbeat(board, sessions_on(board, prefix), after);
        });
    if (!settled) return fail(settled.error());
    for (const HeldLease& held : settled->reply.extended) alive.insert(held.lease.session);
    after = settled->reply.goes_on_after;
  } while (after);
  return std::vector<SessionId>(alive.begin(), alive.end());
}

}  // namespace dibs::verbs
