// Taking leases: what `claim acquire`, `start` and `next` do, with the strategies for what is held.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/claim.h"
#include "verbs/item_branch.h"
#include "verbs/item_names.h"
#include "verbs/waiting.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kBackoffFirstMs = 1000;
constexpr std::int64_t kBackoffLongestMs = 16'000;

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
  return selection_with_lines(request.resources);
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

std::size_t count_taken_over(const Decision<Grants>& decision) {
  return static_cast<std::size_t>(
      std::ranges::count(decision.changes.events, Op::auto_evict, &Event::op));
}

Result<Acquired> acquire_once(Ledger& ledger, const AcquireRequest& request) {
  std::size_t taken_over = 0;
  auto settled = ledger.settle<Grants>(selection_for(request), [&](const Board& board) {
    Result<Decision<Grants>> decision = dibs::acquire(board, request);
    if (decision) taken_over = count_taken_over(*decision);
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

// In line: the one way to get what is held without being the quickest to ask again.
Result<Acquired> acquire_in_line(Workspace& workspace, Ledger& ledger, AcquireRequest request,
                                 const Queueing& queueing) {
  std::size_t taken_over = 0;
  const Turn turn{.selection = selection_for(request),
                  .take = [&](const Board& board, const PlaceInLine& place) {
                    request.place = place;
                    Result<Decision<Grants>> decision = dibs::acquire(board, request);
                    if (decision) taken_over = count_taken_over(*decision);
                    return decision;
                  }};
  const WaitRequest wait{.who = request.who,
                         .resources = request.resources,
                         .mode = request.mode,
                         .priority = queueing.priority,
                         .resolve = queueing.resolve,
                         .policy = request.policy};
  Result<Grants> grants = take_in_line(workspace, ledger, wait, turn, queueing.most_secs);
  if (!grants) return fail(grants.error());
  return Acquired{.grants = *std::move(grants), .taken_over = taken_over};
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

}  // namespace

std::optional<Strategy> parse_strategy(std::string_view name) {
  if (name == "retry") return Strategy::retry;
  if (name == "fail-fast") return Strategy::fail_fast;
  if (name == "steal-stale") return Strategy::steal_stale;
  if (name == "force") return Strategy::force;
  return std::nullopt;
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
  const Result<Acquired> acquired =
      request.queueing ? acquire_in_line(workspace, **ledger, *rule, *request.queueing)
                       : acquire_with_retries(workspace, **ledger, *rule, retries);
  count_acquire(workspace, acquired, started_us);
  if (!acquired) return fail(acquired.error());
  return acquired->grants;
}

}  // namespace dibs::verbs
