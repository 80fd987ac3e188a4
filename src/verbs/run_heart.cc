// The heart of a run: all its sessions in one change, where every change may be a push.
#include <algorithm>
#include <set>

#include "model/agent.h"
#include "verbs/run.h"

namespace dibs::verbs {

namespace {

// What all of them begin with: records that do not mention it need not be read.
std::string common_beginning(const std::vector<SessionId>& sessions) {
  std::string common = sessions.empty() ? std::string() : sessions.front().text;
  for (const SessionId& session : sessions) {
    const auto [ours, theirs] = std::ranges::mismatch(common, session.text);
    common.erase(ours, common.end());
  }
  return common;
}

}  // namespace

Result<std::vector<SessionId>> beat_for(Workspace& workspace,
                                        const std::vector<std::string>& sessions) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  std::vector<SessionId> beating;
  for (const std::string& text : sessions) {
    Result<SessionId> session = parse_session_id(text);
    if (!session) return fail(session.error());
    beating.push_back(*std::move(session));
  }
  std::set<SessionId> alive;
  std::optional<Key> after;
  do {
    const auto settled = (*ledger)->settle<HeartbeatReply>(
        Selection::with_text(common_beginning(beating)),
        [&](const Board& board) -> Result<Decision<HeartbeatReply>> {
          return dibs::heartbeat(board, beating, after);
        });
    if (!settled) return fail(settled.error());
    for (const HeldLease& held : settled->reply.extended) alive.insert(held.lease.session);
    after = settled->reply.goes_on_after;
  } while (after);
  return std::vector<SessionId>(alive.begin(), alive.end());
}

}  // namespace dibs::verbs
