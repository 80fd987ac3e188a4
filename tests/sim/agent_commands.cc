// What agents ask for, one function a command.
#include <fmt/core.h>

#include <algorithm>

#include "agent.h"
#include "agent_habits.h"

namespace dibs::sim {

namespace {

Selection with_lines(const std::vector<Resource>& resources) {
  std::vector<Key> keys;
  for (const Resource& resource : resources) keys.push_back(resource.key());
  for (const Resource& resource : resources) keys.push_back(line_key(resource.key()));
  return Selection::of(std::move(keys));
}

Selection for_acquire(const AcquireRequest& request) {
  return request.ttl_secs == 0 ? Selection::everything() : with_lines(request.resources);
}

// How long the chronicle was when what was asked for had been done.
std::size_t done_at(const Chronicle& chronicle, const Asked& asked) {
  std::size_t end = chronicle.size();
  const auto own = [&](const LogLine& entry) {
    return std::ranges::find(asked.nonces, entry.nonce) != asked.nonces.end();
  };
  while (end > asked.since && !own(chronicle.entry(end - 1))) --end;
  return end;
}

}  // namespace

void Agent::acquire(const Resource& resource) {
  last_wanted_ = resource;
  std::vector<Resource> resources{resource};
  if (dice().chance(25)) resources.push_back(any_resource());
  if (resources.size() == 2 && resources[0] == resources[1]) resources.pop_back();
  AcquireRequest request = acquire_request(std::move(resources));
  Asked asked = asks("acquire", request.resources);
  const std::int64_t strategy = dice().below(100);
  if (strategy < 15) request.takeover = Takeover::stale_too;
  if (strategy >= 94) request.takeover = Takeover::any;
  asked.takeover = request.takeover;
  asked.may_evict = request.takeover == Takeover::any;
  if (world_.bug == Bug::force_without_being_asked) request.takeover = Takeover::any;
  if (world_.bug == Bug::several_are_taken_one_by_one && request.resources.size() > 1)
    return acquire_one_by_one(request);
  const Heard<Grants> heard = settle(asked, for_acquire(request), [&](const Board& board) {
    return dibs::acquire(board, request);
  });
  if (heard && *heard) believe((*heard)->reply);
}

void Agent::acquire_one_by_one(const AcquireRequest& request) {
  Asked asked = asks("acquire", request.resources);
  for (std::size_t i = 0; i < request.resources.size(); ++i) {
    AcquireRequest part = request;
    part.resources = {request.resources[i]};
    part.new_ids = {request.new_ids[i]};
    const Heard<Grants> heard = settle(
        asked, for_acquire(part), [&](const Board& board) { return dibs::acquire(board, part); });
    if (!heard || !*heard) return;
  }
}

void Agent::renew() {
  const Resource resource = own_resource();
  std::optional<std::int64_t> ttl_secs;
  if (dice().chance(30)) ttl_secs = dice().between(kTtlLeastSecs, kTtlMostSecs);
  Asked asked = asks("renew", {resource});
  const Heard<Grants> heard =
      settle(asked, Selection::of({resource.key()}), [&](const Board& board) {
        return dibs::renew(board, {.who = claimant(), .lease = resource, .ttl_secs = ttl_secs});
      });
  if (heard && *heard) believe((*heard)->reply);
}

void Agent::beat() {
  Asked asked = asks("beat");
  const Heard<HeartbeatReply> heard = command<HeartbeatReply>(
      asked, Selection::everything(), [&](const Board& board) -> Result<Decision<HeartbeatReply>> {
        return heartbeat(board, claimant());
      });
  if (!heard || !*heard) return;
  world_.witness.told(asked, (*heard)->fence, (*heard)->reply.extended);
  believe((*heard)->reply.extended);
  for (const HeldLease& lost : (*heard)->reply.lost)
    world_.witness.gives_up(who_.session, lost.resource);
}

void Agent::release() {
  const Resource resource = own_resource();
  // Whoever gives something back does not count on it from here on, whatever comes of it.
  world_.witness.gives_up(who_.session, resource.key());
  std::erase_if(held_, [&](const HeldLease& old) { return old.resource == resource.key(); });
  Asked asked = asks("release", {resource});
  const Heard<Grants> heard =
      settle(asked, Selection::of({resource.key()}),
             [&](const Board& board) { return dibs::release(board, claimant(), resource); });
  if (heard && *heard && dice().chance(40)) release_again(resource, asked);
}

// The second time changes nothing, and the history knows that it was done.
void Agent::release_again(const Resource& resource, const Asked& before) {
  Asked asked = asks("release", {resource});
  const Heard<Grants> heard =
      settle(asked, Selection::of({resource.key()}),
             [&](const Board& board) { return dibs::release(board, claimant(), resource); });
  if (!heard) return;
  // A lease may have been handed to this session in between.
  if (*heard) return;
  if ((*heard).error().kind != ErrorKind::not_found) return;
  Result<std::unique_ptr<Store>> store = world_.site->open(*process_);
  if (!store) return;
  const Result<History> history = (*store)->history({.resource = resource.key()});
  if (!history || !process_->alive()) return;
  if (own_release(history->events, claimant(), resource) != nullptr) return;
  // Somebody may have handed it to this session since, and it was lost again.
  const Chronicle& chronicle = world_.witness.chronicle();
  for (std::size_t i = done_at(chronicle, before); i <= chronicle.size(); ++i) {
    const std::vector<Lease>& leases = chronicle.before(i).holding(resource.key()).leases;
    if (std::ranges::find(leases, who_.session, &Lease::session) != leases.end()) return;
  }
  world_.witness.accuse("I7", "a release is not remembered");
}

void Agent::transfer() {
  const Resource resource = own_resource();
  const std::string to = fmt::format("agent:{}", dice().below(4));
  if (to == who_.agent.text) return;
  world_.witness.gives_up(who_.session, resource.key());
  std::erase_if(held_, [&](const HeldLease& old) { return old.resource == resource.key(); });
  const LeaseId id = process_->random().lease_id(host_.now().unix_ms);
  Asked asked = asks("transfer", {resource});
  (void)settle(asked, Selection::of({resource.key()}), [&](const Board& board) {
    const Claimant other{.agent = {to},
                         .session = {to + "@wt"},
                         .worktree = {"wt"},
                         .branch = "work",
                         .process = {}};
    return dibs::transfer(board, {.who = claimant(), .lease = resource, .to = other, .new_id = id});
  });
}

void Agent::evict() {
  const Resource resource = any_resource();
  Asked asked = asks("evict", {resource});
  asked.may_evict = true;
  (void)settle(asked, Selection::of({resource.key()}), [&](const Board& board) {
    return force_evict(board, who_.agent, resource, "it hangs");
  });
}

void Agent::upgrade() {
  const Resource resource = own_resource();
  Asked asked = asks("upgrade", {resource});
  const Heard<Grants> heard = settle(asked, with_lines({resource}), [&](const Board& board) {
    return dibs::upgrade(board, claimant(), resource, {.stale_after_secs = kStaleSecs});
  });
  if (heard && *heard) believe((*heard)->reply);
}

void Agent::downgrade() {
  const Resource resource = own_resource();
  world_.witness.gives_up(who_.session, resource.key());
  Asked asked = asks("downgrade", {resource});
  const Heard<Grants> heard =
      settle(asked, Selection::of({resource.key()}),
             [&](const Board& board) { return dibs::downgrade(board, claimant(), resource); });
  if (heard && *heard) believe((*heard)->reply);
}

void Agent::clean_up() {
  Asked asked = asks("cleanup");
  const Heard<std::vector<Ended>> heard =
      command<std::vector<Ended>>(asked, Selection::everything(),
                                  [&](const Board& board) -> Result<Decision<std::vector<Ended>>> {
                                    return cleanup(board, {.stale_after_secs = kStaleSecs}, 0);
                                  });
  if (heard && *heard) world_.witness.told(asked, (*heard)->fence, {});
}

void Agent::land() {
  const std::optional<std::string> from = world_.site->target();
  if (!from || held_.empty()) return;
  const HeldLease held =
      held_[static_cast<std::size_t>(dice().below(static_cast<std::int64_t>(held_.size())))];
  const std::string to = world_.site->landing_commit(held.lease.id);
  const Landing landing{.target = "main",
                        .commit = to,
                        .work = to,
                        .refs = {{.name = kTarget, .from = *from, .to = to}}};
  world_.witness.gives_up(who_.session, held.resource);
  std::erase_if(held_, [&](const HeldLease& old) { return old.resource == held.resource; });
  Asked asked = asks("land", {*resource_of(held.resource)});
  (void)settle(asked, Selection::of({held.resource}),
               [&](const Board& board) -> Result<Decision<Grants>> {
                 if (world_.bug != Bug::landing_without_the_lease)
                   return dibs::land(board, claimant(), held.lease.id, landing);
                 Decision<Grants> unfenced;
                 unfenced.changes.writes = {{.key = {"guard:landing"}, .value = "{}"}};
                 unfenced.changes.refs = landing.refs;
                 return unfenced;
               });
}

}  // namespace dibs::sim
