#include "verbs/claim.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/archived_tasks.h"
#include "verbs/item_branch.h"
#include "verbs/item_names.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kBackoffFirstMs = 1000;
constexpr std::int64_t kBackoffLongestMs = 16'000;

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

Done check_acquire(const Acquire& request, std::int64_t ttl_secs) {
  if (request.resources.size() > kResourcesMax) {
    return fail(ErrorKind::usage,
                fmt::format("{} resources in one call; at most {}", request.resources.size(),
                            kResourcesMax),
                "take fewer at once");
  }
  if (ttl_secs == 0 && request.reason.empty()) {
    return fail(ErrorKind::usage, "a lease without a time limit needs a reason",
                "add one: --ttl 0 --reason \"waiting for the vendor\"");
  }
  if (request.strategy == Strategy::force && request.reason.empty()) {
    return fail(ErrorKind::usage, "taking a lease by force needs a reason",
                "add one: --strategy force --reason \"its agent crashed\"");
  }
  return check_reason(request.reason);
}

Takeover takeover_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::retry:
    case Strategy::fail_fast:
      return Takeover::ended_only;
    case Strategy::steal_stale:
      return Takeover::stale_too;
    case Strategy::force:
      return Takeover::any;
  }
  return Takeover::ended_only;
}

Result<std::vector<Resource>> parse_resources(Workspace& workspace,
                                              const std::vector<std::string>& texts) {
  std::vector<Resource> resources;
  for (const std::string& text : texts) {
    Result<Resource> resource = parse_resource(text);
    if (!resource) return fail(resource.error());
    resource = claimable(workspace, *std::move(resource));
    if (!resource) return fail(resource.error());
    resources.push_back(*std::move(resource));
  }
  std::ranges::sort(resources);
  const auto repeated = std::ranges::unique(resources);
  resources.erase(repeated.begin(), repeated.end());
  return resources;
}

// Only the indefinite need to see everything: their number is limited.
Selection selection_for(const AcquireRequest& request) {
  if (request.ttl_secs == 0) return Selection::everything();
  std::vector<Key> keys;
  for (const Resource& resource : request.resources) keys.push_back(resource.key());
  return Selection::of(std::move(keys));
}

Result<std::string> claim_state_for(Workspace& workspace, const Resource& resource) {
  if (resource.kind != ResourceKind::item) return std::string();
  return claim_state_of(workspace, resource.name);
}

Result<AcquireRequest> rule_request(Workspace& workspace, const Acquire& request) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const std::int64_t ttl_secs =
      request.ttl_secs.value_or((*settings)->integer("coordination.default_ttl_secs"));
  if (Done checked = check_acquire(request, ttl_secs); !checked) return fail(checked.error());
  Result<std::vector<Resource>> resources = parse_resources(workspace, request.resources);
  if (!resources) return fail(resources.error());
  Result<Claimant> who = request.elsewhere
                             ? workspace.claimant_in(request.elsewhere->worktree,
                                                     request.elsewhere->branch, request.pid)
                             : workspace.claimant(request.pid);
  if (!who) return fail(who.error());
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
  AcquireRequest result{.who = *std::move(who),
                        .resources = *std::move(resources),
                        .new_ids = {},
                        .mode = request.mode,
                        .ttl_secs = ttl_secs,
                        .takeover = takeover_of(request.strategy),
                        .reason = request.reason,
                        .policy = *policy};
  const std::int64_t now_ms = workspace.system().clock.now().unix_ms;
  for (std::size_t i = 0; i < result.resources.size(); ++i) {
    result.new_ids.push_back(workspace.system().random.lease_id(now_ms));
    Result<std::string> state = claim_state_for(workspace, result.resources[i]);
    if (!state) return fail(state.error());
    result.claim_states.push_back(*std::move(state));
  }
  return result;
}

struct Acquired {
  Grants grants;
  std::size_t taken_over = 0;  // leases that had ended or gone stale and were ended for this
};

Result<Acquired> acquire_once(Ledger& ledger, const AcquireRequest& request) {
  std::size_t taken_over = 0;
  auto settled = ledger.settle<Grants>(selection_for(request), [&](const Board& board) {
    Result<Decision<Grants>> decision = dibs::acquire(board, request);
    if (decision)
      taken_over = static_cast<std::size_t>(
          std::ranges::count(decision->changes.events, Op::auto_evict, &Event::op));
    return decision;
  });
  if (!settled) return fail(settled.error());
  if (settled->fence) stamp(settled->reply, *settled->fence);
  return Acquired{.grants = std::move(settled->reply), .taken_over = taken_over};
}

Result<Acquired> acquire_with_retries(Workspace& workspace, Ledger& ledger,
                                      const AcquireRequest& request, std::int64_t retries) {
  std::int64_t backoff_ms = kBackoffFirstMs;
  for (std::int64_t attempt = 0;; ++attempt) {
    Result<Acquired> acquired = acquire_once(ledger, request);
    if (acquired || acquired.error().kind != ErrorKind::held) return acquired;
    if (attempt == retries) {
      if (retries > 0)
        acquired.error().message += fmt::format(", also after {} more tries", retries);
      return acquired;
    }
    // Half fixed, half random: those who were refused together do not come back together.
    const auto half_ms = static_cast<std::uint64_t>(backoff_ms / 2);
    workspace.system().clock.sleep_ms(
        static_cast<std::int64_t>(half_ms + workspace.system().random.below(half_ms + 1)));
    backoff_ms = std::min(backoff_ms * 2, kBackoffLongestMs);
  }
}

// Writing a duration down takes longer than it should: of many grants, every sixteenth will do.
// Spread by a multiplication, because fences of grants may well be even numbers only.
bool is_timed(Fence fence) {
  constexpr std::uint64_t kAllUpTo = 64;
  return fence.value <= kAllUpTo || fence.value * 0x9e3779b97f4a7c15U >> 60U == 0;
}

void count_acquire(Workspace& workspace, const Result<Acquired>& acquired,
                   std::int64_t started_us) {
  const auto add = [&](Counter counter, std::uint64_t amount) {
    if (const Result<Counters*> counters = workspace.counters()) (*counters)->add(counter, amount);
  };
  if (!acquired)
    return add(acquired.error().kind == ErrorKind::held ? Counter::conflicts : Counter::failed, 1);
  const auto granted = std::ranges::find(acquired->grants, false, &HeldLease::already_held);
  if (granted == acquired->grants.end()) return;
  if (acquired->taken_over > 0) add(Counter::stale_claimed, acquired->taken_over);
  if (const auto backend = workspace.backend(); backend && (*backend)->is_remote) {
    const auto fresh = std::ranges::count(acquired->grants, false, &HeldLease::already_held);
    add(Counter::granted, static_cast<std::uint64_t>(fresh));
  }
  if (!is_timed(granted->lease.fence)) return;
  const std::int64_t took_us = workspace.system().clock.stopwatch_us() - started_us;
  add(Counter::acquisition_micros, static_cast<std::uint64_t>(std::max<std::int64_t>(took_us, 0)));
  add(Counter::acquisitions_timed, 1);
}

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
struct Asked {
  LeaseRef ref;
  Ledger& ledger;
  Claimant who;
};

Result<Asked> asked_about(Workspace& workspace, const std::string& lease) {
  Result<LeaseRef> ref = parse_lease_ref(lease);
  if (!ref) return fail(ref.error());
  if (auto* resource = std::get_if<Resource>(&*ref)) {
    Result<Resource> whole = resolved(workspace, *std::move(resource));
    if (!whole) return fail(whole.error());
    ref = *std::move(whole);
  }
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  Result<Claimant> who = workspace.claimant();
  if (!who) return fail(who.error());
  return Asked{.ref = *std::move(ref), .ledger = **ledger, .who = *std::move(who)};
}

using Rule =
    std::function<Result<Decision<Grants>>(const Board&, const Claimant&, const LeaseRef&)>;

// The way of every verb that changes one lease of the caller's own.
Result<HeldLease> change_own(Workspace& workspace, const std::string& lease, const Rule& rule) {
  const Result<Asked> asked = asked_about(workspace, lease);
  if (!asked) return fail(asked.error());
  auto settled = asked->ledger.settle<Grants>(selection_of(asked->ref), [&](const Board& board) {
    return rule(board, asked->who, asked->ref);
  });
  if (!settled) return fail(explained(asked->ledger, settled.error(), asked->who, asked->ref));
  if (settled->fence) stamp(settled->reply, *settled->fence);
  return settled->reply.front();
}

ListedLease listed(const Key& resource, const Lease& lease, const Board& board,
                   const Policy& policy) {
  ListedLease entry{.resource = resource,
                    .lease = lease,
                    .standing = standing_of(lease, board, policy),
                    .left_ms = {}};
  if (lease.expires) entry.left_ms = ms_until(*lease.expires, board.now);
  return entry;
}

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

std::optional<Strategy> parse_strategy(std::string_view name) {
  if (name == "retry") return Strategy::retry;
  if (name == "fail-fast") return Strategy::fail_fast;
  if (name == "steal-stale") return Strategy::steal_stale;
  if (name == "force") return Strategy::force;
  return std::nullopt;
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

Result<Grants> acquire(Workspace& workspace, const Acquire& request) {
  const std::int64_t started_us = workspace.system().clock.stopwatch_us();
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<AcquireRequest> rule = rule_request(workspace, request);
  if (!rule) return fail(rule.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  std::int64_t retries = 0;
  if (request.strategy == Strategy::retry) {
    retries = request.max_retries.value_or((*settings)->integer("coordination.max_retries"));
  }
  const Result<Acquired> acquired = acquire_with_retries(workspace, **ledger, *rule, retries);
  count_acquire(workspace, acquired, started_us);
  if (!acquired) return fail(acquired.error());
  return acquired->grants;
}

Result<HeldLease> renew(Workspace& workspace, const Renew& request) {
  return change_own(
      workspace, request.lease, [&](const Board& board, const Claimant& who, const LeaseRef& ref) {
        return dibs::renew(board, {.who = who, .lease = ref, .ttl_secs = request.ttl_secs});
      });
}

Result<Released> release(Workspace& workspace, const std::string& lease) {
  const Result<Asked> asked = asked_about(workspace, lease);
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

Result<HeldLease> upgrade(Workspace& workspace, const std::string& lease) {
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
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
