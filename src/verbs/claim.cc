#include "verbs/claim.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/archived_tasks.h"
#include "verbs/item_branch.h"
#include "verbs/item_names.h"
#include "verbs/waiting.h"

namespace dibs::verbs {

namespace {

// What the log says about a lease that is not on the board.
Result<std::vector<PastEvent>> past_of(Ledger& ledger, const LeaseRef& ref) {
  HistoryQuery query;
  if (const auto* id = std::get_if<LeaseId>(&ref)) query.mentioning = id->text;
  if (const auto* resource = std::get_if<Resource>(&ref)) query.resource = resource->key();
  Result<History> history = ledger.store().history(query);
  if (!history) return fail(history.error());
  return std::move(history->events);
}

/// What every verb on one lease of the caller's own starts from.
struct AskedLease {
  LeaseRef ref;
  Ledger& ledger;
  Claimant who;
};

Result<AskedLease> asked_about(Workspace& workspace, const std::string& lease) {
  Result<LeaseRef> ref = parse_lease_ref(lease);
  if (!ref) return fail(ref.error());
  if (auto* resource = std::get_if<Resource>(&*ref)) {
    Result<Resource> whole = resolved(workspace, std::move(*resource));
    if (!whole) return fail(whole.error());
    ref = *std::move(whole);
  }
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  Result<Claimant> who = workspace.claimant();
  if (!who) return fail(who.error());
  return AskedLease{.ref = *std::move(ref), .ledger = **ledger, .who = *std::move(who)};
}

using Rule =
    std::function<Result<Decision<Grants>>(const Board&, const Claimant&, const LeaseRef&)>;

// The way of every verb that changes one lease of the caller's own.
Result<HeldLease> change_own(Workspace& workspace, const std::string& lease, const Rule& rule) {
  const Result<AskedLease> asked = asked_about(workspace, lease);
  if (!asked) return fail(asked.error());
  auto settled = asked->ledger.settle<Grants>(selection_of(asked->ref), [&](const Board& board) {
    return rule(board, asked->who, asked->ref);
  });
  if (!settled) return fail(explained(asked->ledger, settled.error(), asked->who, asked->ref));
  if (settled->fence) stamp(settled->reply, *settled->fence);
  return settled->reply.front();
}

}  // namespace

Error explained(Ledger& ledger, const Error& error, const Claimant& who, const LeaseRef& ref) {
  const bool taken = error.kind == ErrorKind::held && std::holds_alternative<Resource>(ref);
  if (error.kind != ErrorKind::not_found && !taken) return error;
  const Result<std::vector<PastEvent>> past = past_of(ledger, ref);
  if (!past) return past.error();
  const Error absence = explain_absence(*past, who, ref);
  const bool lost =
      absence.kind == ErrorKind::lease_lost && own_release(*past, who, ref) == nullptr;
  return taken && !lost ? error : absence;
}

Done check_reason(const std::string& reason) {
  if (reason.size() > kReasonMax) {
    return fail(
        ErrorKind::usage,
        fmt::format("the reason is {} bytes long; at most {} are kept", reason.size(), kReasonMax),
        "say it shorter, and link to the rest");
  }
  if (!is_printable(reason)) {
    return fail(ErrorKind::usage, "the reason has characters that cannot be shown",
                "use plain text on one line");
  }
  return {};
}

Result<LeaseRef> parse_lease_ref(const std::string& text) {
  // Lease ids are shown in capitals; people and shells are not always careful about that.
  std::string upper = text;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  });
  if (is_ulid(upper)) return LeaseId{upper};
  Result<Resource> resource = parse_resource(text);
  if (!resource) return fail(resource.error());
  return *std::move(resource);
}

Selection selection_of(const LeaseRef& ref) {
  if (const auto* id = std::get_if<LeaseId>(&ref)) return Selection::with_text(id->text);
  return Selection::of({std::get<Resource>(ref).key()});
}

Selection selection_with_lines(const std::vector<Resource>& resources) {
  std::vector<Key> keys;
  for (const Resource& resource : resources) keys.push_back(resource.key());
  for (const Resource& resource : resources) keys.push_back(line_key(resource.key()));
  return Selection::of(std::move(keys));
}

Result<HeldLease> renew(Workspace& workspace, const Renew& request) {
  return change_own(
      workspace, request.lease, [&](const Board& board, const Claimant& who, const LeaseRef& ref) {
        return dibs::renew(board, {.who = who, .lease = ref, .ttl_secs = request.ttl_secs});
      });
}

Result<Released> release(Workspace& workspace, const std::string& lease) {
  const Result<AskedLease> asked = asked_about(workspace, lease);
  if (!asked) return fail(asked.error());
  const auto settled = asked->ledger.settle<Grants>(
      selection_of(asked->ref),
      [&](const Board& board) { return dibs::release(board, asked->who, asked->ref); });
  if (settled) {
    const HeldLease& released = settled->reply.front();
    return Released{.resource = released.resource, .lease = released.lease.id, .already = false};
  }
  if (settled.error().kind != ErrorKind::not_found) {
    return fail(explained(asked->ledger, settled.error(), asked->who, asked->ref));
  }
  const Result<std::vector<PastEvent>> past = past_of(asked->ledger, asked->ref);
  if (!past) return fail(past.error());
  if (const PastEvent* before = own_release(*past, asked->who, asked->ref)) {
    if (Done durable = asked->ledger.confirm(before->event.resource); !durable)
      return fail(durable.error());
    return Released{
        .resource = before->event.resource, .lease = before->event.lease, .already = true};
  }
  return fail(explain_absence(*past, asked->who, asked->ref));
}

Result<HeldLease> transfer(Workspace& workspace, const Transfer& request) {
  const Result<AgentId> agent = parse_agent_id(request.to_agent);
  if (!agent) return fail(agent.error());
  std::optional<SessionId> session;
  if (request.to_session) {
    const Result<SessionId> parsed = parse_session_id(*request.to_session);
    if (!parsed) return fail(parsed.error());
    session = *parsed;
  }
  if (request.to_worktree &&
      (!request.to_worktree->starts_with("wt:") || !parse_session_id(*request.to_worktree))) {
    return fail(ErrorKind::usage,
                fmt::format("'{}' is not a worktree id", printable(*request.to_worktree)),
                "see them with: dibs worktree list");
  }
  const LeaseId new_id = workspace.system().random.lease_id(workspace.system().clock.now().unix_ms);
  return change_own(
      workspace, request.lease, [&](const Board& board, const Claimant& who, const LeaseRef& ref) {
        Claimant to{.agent = *agent,
                    .session = {},
                    .worktree = who.worktree,
                    .branch = who.branch,
                    .process = std::nullopt};
        if (request.to_worktree && *request.to_worktree != who.worktree.text) {
          to.worktree = {*request.to_worktree};
          to.branch = request.to_branch.value_or("");  // else the other side's to say
        }
        to.session = session.value_or(session_of(to.agent, to.worktree));
        return dibs::transfer(board, {.who = who, .lease = ref, .to = to, .new_id = new_id});
      });
}

Result<Grants> force_evict(Workspace& workspace, const std::string& lease,
                           const std::string& reason) {
  if (Done checked = check_reason(reason); !checked) return fail(checked.error());
  const Result<LeaseRef> ref = parse_lease_ref(lease);
  if (!ref) return fail(ref.error());
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  auto settled = (*ledger)->settle<Grants>(selection_of(*ref), [&](const Board& board) {
    return dibs::force_evict(board, *agent, *ref, reason);
  });
  if (!settled) return fail(settled.error());
  return std::move(settled->reply);
}

Result<HeldLease> upgrade_in_line(Workspace& workspace, const std::string& lease,
                                  const Policy& policy, const Queueing& queueing) {
  const Result<AskedLease> asked = asked_about(workspace, lease);
  if (!asked) return fail(asked.error());
  const Result<Board> board = asked->ledger.look(selection_of(asked->ref));
  if (!board) return fail(board.error());
  const Result<HeldLease> own = own_lease(*board, asked->who, asked->ref);
  if (!own) return fail(explained(asked->ledger, own.error(), asked->who, asked->ref));
  const LeaseRef ref = own->lease.id;
  const std::vector<Resource> resources{*resource_of(own->resource)};
  const WaitRequest wait{.who = asked->who,
                         .resources = resources,
                         .priority = queueing.priority,
                         .upgrades = own->lease.id,
                         .resolve = queueing.resolve,
                         .policy = policy};
  const Turn turn{.selection = selection_with_lines(resources),
                  .take = [&](const Board& now, const PlaceInLine& place) {
                    return dibs::upgrade(now, asked->who, ref, policy, place);
                  }};
  const Result<Grants> grants =
      take_in_line(workspace, asked->ledger, wait, turn, queueing.most_secs);
  if (!grants) return fail(explained(asked->ledger, grants.error(), asked->who, ref));
  return grants->front();
}

Result<HeldLease> upgrade(Workspace& workspace, const std::string& lease,
                          const std::optional<Queueing>& queueing) {
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
  if (queueing) return upgrade_in_line(workspace, lease, *policy, *queueing);
  return change_own(workspace, lease,
                    [&](const Board& board, const Claimant& who, const LeaseRef& ref) {
                      return dibs::upgrade(board, who, ref, *policy);
                    });
}

Result<HeldLease> downgrade(Workspace& workspace, const std::string& lease) {
  return change_own(workspace, lease,
                    [](const Board& board, const Claimant& who, const LeaseRef& ref) {
                      return dibs::downgrade(board, who, ref);
                    });
}

Result<std::vector<Ended>> cleanup(Workspace& workspace, const Cleanup& request) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
  const Result<ArchivedTasks> archived = archived_tasks(workspace);
  if (!archived) return fail(archived.error());
  if (request.dry_run) {
    Result<Board> board = (*ledger)->look(Selection::everything());
    if (!board) return fail(board.error());
    note_archived(*board, *archived);
    return ended_leases(*board, *policy, request.older_than_secs);
  }
  std::vector<Ended> all;
  while (true) {
    auto settled = (*ledger)->settle<std::vector<Ended>>(
        Selection::everything(), [&](const Board& board) -> Result<Decision<std::vector<Ended>>> {
          Board noted = board;
          note_archived(noted, *archived);
          return dibs::cleanup(noted, *policy, request.older_than_secs);
        });
    if (!settled) return fail(settled.error());
    if (settled->reply.empty()) break;
    all.insert(all.end(), settled->reply.begin(), settled->reply.end());
  }
  const Result<Upkeep*> upkeep = workspace.upkeep();
  if (!upkeep) return fail(upkeep.error());
  if (*upkeep != nullptr) {
    if (const Result<std::size_t> put_away = (*upkeep)->tidy(); !put_away)
      workspace.warn(put_away.error().message);
  }
  return all;
}

std::optional<std::string> expiry_warning(const HeldLease& held, const Instant& now,
                                          std::int64_t threshold_pct) {
  if (!held.lease.expires) return std::nullopt;
  const std::int64_t left_ms = ms_until(*held.lease.expires, now);
  if (left_ms <= 0 || left_ms * 100 >= held.lease.ttl_secs * 1000 * threshold_pct)
    return std::nullopt;
  return fmt::format("your lease on {} ends in {}; keep it with: dibs claim renew {}",
                     held.resource.text, duration_text(left_ms), held.lease.id.text);
}

}  // namespace dibs::verbs
