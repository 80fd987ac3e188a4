#include "agent.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent_habits.h"
#include "spoiling.h"

namespace dibs::sim {

namespace {
constexpr std::int64_t kComeBackMostMs = 20'000;
constexpr std::int64_t kAtOnceMs = 50;                 // scripts try again at once
constexpr std::int64_t kLateMostMs = 3LL * 3'600'000;  // a clone that lies unused for long

/// What a ledger with a certain bug makes its nonces of.
class NoRandom final : public Random {
  void fill(std::span<std::uint8_t> bytes) override { std::ranges::fill(bytes, std::uint8_t{0}); }
};
}  // namespace

Resource resource_number(std::int64_t number) {
  return {.kind = ResourceKind::item, .name = std::to_string(number % kResources)};
}

Agent::Agent(World& world, int number, Host& host) : world_(world), host_(host) {
  const std::string name = fmt::format("agent:{}", number);
  who_ = {.agent = {name},
          .session = {name + "@wt"},
          .worktree = {"wt"},
          .branch = "work",
          .process = std::nullopt};
  process_ = std::make_unique<Process>(world.schedule, host, world.bug);
}

void Agent::come_back() {
  world_.witness.gives_up(who_.session);
  world_.schedule.sleep_ms(dice().below(dice().chance(30) ? kAtOnceMs : kComeBackMostMs));
  process_ = std::make_unique<Process>(world_.schedule, host_, world_.bug);
  if (dice().chance(50)) held_.clear();  // it may have forgotten what it had
}

void Agent::live(int commands) {
  if (world_.is_quiet && &host_ == world_.hosts.back().get())
    world_.schedule.sleep_ms(dice().below(kLateMostMs));
  for (int i = 0; i < commands && !world_.witness.broken(); ++i) {
    const bool was_killed = !process_->alive();
    if (was_killed) come_back();
    process_->sleep_ms(dice().below(world_.think_most_ms));
    if (was_killed && last_wanted_ && dice().chance(60)) {
      acquire(*last_wanted_);  // perhaps it has it
    } else if (process_->alive()) {
      one_command();
    }
    process_->has_answered();
    world_.look_around();
  }
  world_.witness.gives_up(who_.session);
  process_->kill();
  --world_.agents_at_work;
}

// A clone that never looks around knows little of the others.
void Agent::one_quiet_command() {
  const std::int64_t choice = dice().below(100);
  if (choice < 45) return acquire(any_resource());
  if (choice < 85) return release();
  return world_.site->tidy(*process_);
}

void Agent::one_command() {
  if (world_.is_quiet) return one_quiet_command();
  const std::int64_t choice = dice().below(100);
  if (choice < 24) return acquire(any_resource());
  if (choice < 38) return wait();
  if (choice < 50) return renew();
  if (choice < 56) return beat();
  if (choice < 70) return release();
  if (choice < 75) return transfer();
  if (choice < 78) return evict();
  if (choice < 84) return upgrade();
  if (choice < 88) return downgrade();
  if (choice < 91) return clean_up();
  if (choice < 93) return world_.site->tidy(*process_);
  return land();
}

Claimant Agent::claimant() const { return who_; }

Asked Agent::asks(std::string verb, const std::vector<Resource>& resources) {
  world_.site->catch_up(world_.witness);
  Asked asked{.verb = std::move(verb), .session = who_.session};
  for (const Resource& resource : resources) asked.resources.push_back(resource.key());
  asked.since = world_.witness.chronicle().size();
  return asked;
}

template <class Reply>
Agent::Heard<Reply> Agent::command(Asked& asked, const Selection& selection,
                                   const Rule<Reply>& rule) {
  Result<std::unique_ptr<Store>> store = world_.site->open(*process_);
  if (!store) {
    note(asked, &store.error(), {});
    return process_->alive() ? Heard<Reply>(fail(store.error())) : std::nullopt;
  }
  WatchedStore watched(*std::move(store), *process_, *world_.site, world_.witness, asked);
  NoRandom the_same;
  Random& random =
      world_.bug == Bug::the_same_nonce ? static_cast<Random&>(the_same) : process_->random();
  Ledger ledger(watched, process_->clock(), random, process_->machine());
  const Spoiled by{.bug = world_.bug, .verb = asked.verb, .session = who_.session};
  auto settled = ledger.settle<Reply>(selection, [&](const Board& board) {
    if (by.bug == Bug::none) return rule(board);
    Result<Decision<Reply>> decision = rule(spoiled_board(board, by));
    if (decision) spoil(decision->changes, board, by);
    return decision;
  });
  world_.site->catch_up(world_.witness);
  if (!process_->alive()) {
    world_.schedule.note(fmt::format("{} dies over {}", who_.agent.text, asked.verb));
    return std::nullopt;
  }
  note(asked, settled ? nullptr : &settled.error(),
       settled && settled->fence ? std::to_string(settled->fence->value) : "no change");
  return settled;
}

template Agent::Heard<Grants> Agent::command<Grants>(Asked&, const Selection&, const Rule<Grants>&);
template Agent::Heard<Joined> Agent::command<Joined>(Asked&, const Selection&, const Rule<Joined>&);
template Agent::Heard<std::monostate> Agent::command<std::monostate>(Asked&, const Selection&,
                                                                     const Rule<std::monostate>&);
template Agent::Heard<HeartbeatReply> Agent::command<HeartbeatReply>(Asked&, const Selection&,
                                                                     const Rule<HeartbeatReply>&);
template Agent::Heard<std::vector<Ended>> Agent::command<std::vector<Ended>>(
    Asked&, const Selection&, const Rule<std::vector<Ended>>&);

void Agent::note(const Asked& asked, const Error* error, const std::string& answer) {
  std::string what;
  for (const Key& key : asked.resources) what += " " + key.text;
  world_.schedule.note(fmt::format(
      "{} {}{}: {}", who_.agent.text, asked.verb, what,
      error != nullptr ? fmt::format("{} ({})", name_of(error->kind), error->message) : answer));
}

Agent::Heard<Grants> Agent::settle(Asked& asked, const Selection& selection,
                                   const Rule<Grants>& rule) {
  Heard<Grants> heard = command<Grants>(asked, selection, rule);
  if (!heard || !*heard) return heard;
  if ((*heard)->fence) stamp((*heard)->reply, *(*heard)->fence);
  world_.witness.told(asked, (*heard)->fence, (*heard)->reply);
  return heard;
}

void Agent::believe(const Grants& grants) {
  for (const HeldLease& held : grants) {
    std::optional<Instant> until = held.lease.expires;
    if (until && world_.bug == Bug::belief_counts_from_the_answer) {
      until = later_by(host_.now(), held.lease.ttl_secs * 1000);
    }
    world_.witness.believes({.session = who_.session,
                             .resource = held.resource,
                             .lease = held.lease.id,
                             .mode = held.lease.mode,
                             .until = until,
                             .host = &host_,
                             .pid = process_->pid()});
    std::erase_if(held_, [&](const HeldLease& old) { return old.resource == held.resource; });
    held_.push_back(held);
  }
  world_.witness.compare_beliefs();
}

Resource Agent::any_resource() { return resource_number(dice().below(kResources)); }

Resource Agent::own_resource() {
  if (held_.empty() || dice().chance(20)) return any_resource();
  const auto which =
      static_cast<std::size_t>(dice().below(static_cast<std::int64_t>(held_.size())));
  return *resource_of(held_[which].resource);
}

AcquireRequest Agent::acquire_request(std::vector<Resource> resources) {
  AcquireRequest request{
      .who = claimant(),
      .resources = std::move(resources),
      .new_ids = {},
      .mode = dice().chance(70) ? Mode::exclusive : Mode::shared,
      .ttl_secs = dice().chance(8) ? 0 : dice().between(kTtlLeastSecs, kTtlMostSecs),
      .reason = "a reason",
      .policy = {.stale_after_secs = kStaleSecs}};
  if (dice().chance(30)) request.who.process = process_->tie();
  for (std::size_t i = 0; i < request.resources.size(); ++i)
    request.new_ids.push_back(process_->random().lease_id(host_.now().unix_ms));
  return request;
}

void Agent::inherit(const std::vector<Resource>& resources) {
  for (const Resource& resource : resources) {
    constexpr int kTries = 3;
    bool got = false;
    for (int i = 0; i < kTries && !got; ++i) {
      Asked asked = asks("acquire", {resource});
      AcquireRequest request = acquire_request({resource});
      request.mode = Mode::exclusive;
      request.ttl_secs = kTtlMostSecs;
      request.takeover = asked.takeover = Takeover::stale_too;
      const Heard<Grants> heard =
          settle(asked, Selection::of({resource.key(), line_key(resource.key())}),
                 [&](const Board& board) { return dibs::acquire(board, request); });
      got = heard && heard->has_value();
    }
    if (!got) world_.witness.accuse("I15", resource.key().text + " is free, and cannot be taken");
  }
}

}  // namespace dibs::sim
