// Any sequence of operations, clock jumps, reboots, process deaths, reopenings and power losses:
// the local store answers as the memory store does, and the invariants of docs/guarantees.md hold.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/ledger.h"
#include "rules/claim.h"
#include "store/memory.h"
#include "testing/fake_clock.h"
#include "testing/fake_machine.h"
#include "testing/local_site.h"
#include "testing/property.h"

namespace dibs {
namespace {

enum class Kind {
  acquire,
  acquire_shared,
  acquire_two,
  acquire_tied,
  acquire_indefinite,
  steal_stale,
  force,
  renew,
  release,
  transfer,
  evict,
  upgrade,
  downgrade,
  beat,
  cleanup,
  // What happens to the world.
  time_passes,
  wall_clock_set,
  reboot,
  process_ends,
  pid_reused,
  reopen,
  power_loss,
};
constexpr int kKinds = 22;

struct Step {
  Kind kind = Kind::acquire;
  int who = 0;
  int item = 0;
  int amount = 0;         // seconds, pids and the like
  int power_loss_at = 0;  // at which change of this operation; 0: none
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << fmt::format("{{kind {}, who {}, item {}, amount {}, power_loss_at {}}}",
                            static_cast<int>(step.kind), step.who, step.item, step.amount,
                            step.power_loss_at);
}

rc::Gen<Step> any_step() {
  return rc::gen::map(
      rc::gen::tuple(any_in(0, kKinds), any_in(0, 4), any_in(0, 3), any_in(0, 900), any_in(0, 60)),
      [](const std::tuple<int, int, int, int, int>& t) {
        // One operation in four loses power, at one of its first changes.
        const int loss = std::get<4>(t) < 45 ? 0 : std::get<4>(t) - 44;
        return Step{static_cast<Kind>(std::get<0>(t)), std::get<1>(t), std::get<2>(t),
                    std::get<3>(t), loss};
      });
}

Resource item(int number) {
  return {.kind = ResourceKind::item, .name = std::to_string(number % 3)};
}

// Two agents in two worktrees each: four sessions.
Claimant claimant(int number) {
  const std::string agent = fmt::format("agent:{}", number / 2);
  const std::string worktree = fmt::format("wt:0000000{}", number % 2);
  return {.agent = {agent},
          .session = {agent + "@" + worktree},
          .worktree = {worktree},
          .branch = "main",
          .process = std::nullopt};
}

std::string text_of_grants(const Grants& grants) {
  std::string text;
  for (const HeldLease& held : grants) {
    text += public_members(held.lease, held.resource) + (held.already_held ? " again" : "") + "; ";
  }
  return text;
}

/// One machine with one store: the same steps on two of them must give the same answers.
struct World {
  FakeClock& clock;
  FakeMachine machine;
  SeededRandom random{1};
  Store* store = nullptr;
  int grants = 0;

  explicit World(FakeClock& shared) : clock{shared} {
    for (int pid = 1; pid <= 4; ++pid) machine.start(pid, 100);
  }

  template <class Reply>
  Result<Reply> settle(const Selection& selection,
                       const std::function<Result<Decision<Reply>>(const Board&)>& rule) {
    Ledger ledger(*store, clock, random, machine);
    auto settled = ledger.settle<Reply>(selection, rule);
    if (!settled) return fail(settled.error());
    if constexpr (std::is_same_v<Reply, Grants>) {
      if (settled->fence) stamp(settled->reply, *settled->fence);
    }
    return settled->reply;
  }

  Result<Grants> acquire_items(const Step& step, Mode mode, Takeover takeover, bool two = false) {
    AcquireRequest request{.who = claimant(step.who),
                           .resources = {item(step.item)},
                           .new_ids = {new_id()},
                           .mode = mode,
                           .ttl_secs = step.kind == Kind::acquire_indefinite ? 0 : 60 + step.amount,
                           .takeover = takeover,
                           .reason = "reason",
                           .policy = {}};
    if (two) {
      request.resources.push_back(item(step.item + 1));
      request.new_ids.push_back(new_id());
    }
    if (step.kind == Kind::acquire_tied) {
      const std::int64_t pid = 1 + step.amount % 4;
      const std::optional<ProcessView> process = machine.find_process(pid);
      request.who.process = ProcessTie{.host = machine.host_name(),
                                       .boot = clock.now().boot,
                                       .pid_namespace = machine.pid_namespace(),
                                       .pid = pid,
                                       .start_ticks = process ? process->start_ticks : 1};
    }
    return settle<Grants>(Selection::everything(),
                          [&](const Board& board) { return acquire(board, request); });
  }

  LeaseId new_id() { return {fmt::format("LEASE{:04}", ++grants)}; }

  Result<Grants> on_own(const Step& step,
                        const std::function<Result<Decision<Grants>>(const Board&, const Claimant&,
                                                                     const LeaseRef&)>& rule) {
    const Claimant who = claimant(step.who);
    const LeaseRef ref = item(step.item);
    return settle<Grants>(Selection::of({item(step.item).key()}),
                          [&](const Board& board) { return rule(board, who, ref); });
  }

  Result<Grants> operate(const Step& step) {
    switch (step.kind) {
      case Kind::acquire:
      case Kind::acquire_tied:
      case Kind::acquire_indefinite:
        return acquire_items(step, Mode::exclusive, Takeover::ended_only);
      case Kind::acquire_shared:
        return acquire_items(step, Mode::shared, Takeover::ended_only);
      case Kind::acquire_two:
        return acquire_items(step, Mode::exclusive, Takeover::ended_only, true);
      case Kind::steal_stale:
        return acquire_items(step, Mode::exclusive, Takeover::stale_too);
      case Kind::force:
        return acquire_items(step, Mode::exclusive, Takeover::any);
      case Kind::renew:
        return on_own(step, [&](const Board& board, const Claimant& who, const LeaseRef& ref) {
          return renew(board, {.who = who, .lease = ref, .ttl_secs = 60 + step.amount});
        });
      case Kind::release:
        return on_own(step, [](const Board& board, const Claimant& who, const LeaseRef& ref) {
          return release(board, who, ref);
        });
      case Kind::transfer:
        return on_own(step, [&](const Board& board, const Claimant& who, const LeaseRef& ref) {
          const LeaseId id{fmt::format("GIVEN{:04}", ++grants)};
          return transfer(board, {.who = who,
                                  .lease = ref,
                                  .to = claimant((step.who + 1 + step.amount % 3) % 4),
                                  .new_id = id});
        });
      case Kind::evict:
        return on_own(step, [](const Board& board, const Claimant& who, const LeaseRef& ref) {
          return force_evict(board, who.agent, ref, "reason");
        });
      case Kind::upgrade:
        return on_own(step, [](const Board& board, const Claimant& who, const LeaseRef& ref) {
          return upgrade(board, who, ref, {});
        });
      case Kind::downgrade:
        return on_own(step, [](const Board& board, const Claimant& who, const LeaseRef& ref) {
          return downgrade(board, who, ref);
        });
      case Kind::beat: {
        const Result<HeartbeatReply> reply = settle<HeartbeatReply>(
            Selection::everything(), [&](const Board& board) -> Result<Decision<HeartbeatReply>> {
              return heartbeat(board, claimant(step.who));
            });
        if (!reply) return fail(reply.error());
        return reply->extended;
      }
      default: {
        const Result<std::vector<Ended>> ended = settle<std::vector<Ended>>(
            Selection::everything(),
            [](const Board& board) -> Result<Decision<std::vector<Ended>>> {
              return cleanup(board, {}, 0);
            });
        if (!ended) return fail(ended.error());
        Grants leases;
        for (const Ended& one : *ended)
          leases.push_back({.resource = one.resource, .lease = one.lease});
        return leases;
      }
    }
  }

  Board board() {
    Ledger ledger(*store, clock, random, machine);
    return ledger.look(Selection::everything()).value();
  }
};

std::string answer(const Result<Grants>& result) {
  if (result) return "ok " + text_of_grants(*result);
  return fmt::format("{} {}", name_of(result.error().kind), result.error().message);
}

/// The two worlds side by side, and what must always be true of them.
class Twins {
 public:
  explicit Twins(std::uint64_t seed) : site_(kTinyLimits, seed) {
    local_.store = (open_ = site_.open()).get();
    memory_.store = &model_;
  }

  void take(const Step& step) {
    if (step.kind < Kind::time_passes) {
      operate(step);
    } else {
      happen(step);
    }
    check_invariants();
  }

  // What the store shows is what its log says, and the log is whole.
  void check_log() {
    for (const Finding& finding : site_.open()->inspect())
      RC_ASSERT(finding.level != Finding::Level::problem);
    const Contents with_index = contents_of(*site_.open()).value();
    RC_ASSERT(with_index == contents_of(model_).value());
    RC_ASSERT(site_.disk.remove(site_.path("claims.index.json")).has_value());
    RC_ASSERT(contents_of(*site_.open()).value() == with_index);
    const History told = site_.open()->history({.newest = 100'000}).value();
    const History modelled = model_.history({.newest = 100'000}).value();
    RC_ASSERT(told.events == modelled.events);
  }

 private:
  void operate(const Step& step) {
    const Board before = local_.board();
    if (step.power_loss_at > 0)
      site_.disk.lose_power_at(static_cast<std::uint64_t>(step.power_loss_at));
    const Result<Grants> got = local_.operate(step);
    const bool went_dark = site_.disk.power_is_out();
    if (went_dark) {
      recover();
    } else {
      site_.disk.lose_power_at(0);
    }
    if (!got && went_dark) {
      // Nobody was told. It happened or it did not, whole; the model follows.
      const std::uint64_t seq = cursor(*local_.store);
      RC_ASSERT((seq == cursor(model_) || seq == cursor(model_) + 1));
      if (seq > cursor(model_)) RC_ASSERT(memory_.operate(step).has_value());
      memory_.grants = local_.grants;
    } else {
      RC_ASSERT(answer(memory_.operate(step)) == answer(got));
    }
    RC_ASSERT(cursor(*local_.store) == cursor(model_));
    if (got) check_change(step, before, *got);
  }

  void happen(const Step& step) {
    switch (step.kind) {
      case Kind::time_passes:
        site_.clock.advance_ms(step.amount * 1000LL);
        break;
      case Kind::wall_clock_set:
        site_.clock.jump_wall_ms((step.amount - 450) * 1000LL);
        break;
      case Kind::reboot:
        site_.disk.crash();
        site_.clock.reboot();
        for (World* world : {&local_, &memory_}) {
          world->machine.reboot(site_.clock.now().boot);
          for (int pid = 1; pid <= 4; ++pid) world->machine.start(pid, 100);
        }
        recover();
        break;
      case Kind::process_ends:
        for (World* world : {&local_, &memory_}) world->machine.end(1 + step.amount % 4);
        break;
      case Kind::pid_reused:
        for (World* world : {&local_, &memory_})
          world->machine.start(1 + step.amount % 4, 200 + static_cast<std::uint64_t>(step.amount));
        break;
      case Kind::power_loss:
        recover();
        break;
      default:
        local_.store = (open_ = site_.open()).get();
    }
  }

  void recover() {
    site_.disk.crash();
    local_.store = (open_ = site_.open()).get();
    // Nothing needs a hand: readers pass over a torn end, and the next writer cuts or completes it.
    // Only then is it settled whether a change that nobody was told about has happened.
    RC_ASSERT(contents_of(*local_.store).has_value());
    // A writer that comes too late settles it, and writes nothing else.
    const Transaction too_late{.nonce = local_.random.nonce(),
                               .expectations = {{.key = {"item:nobody"}, .version = Version{1}}},
                               .writes = {{.key = {"item:nobody"}, .value = std::nullopt}},
                               .events = {}};
    const Result<Outcome> outcome = site_.open()->commit(too_late);
    RC_ASSERT(outcome && std::holds_alternative<LostRace>(*outcome));
  }

  static std::uint64_t cursor(Store& store) { return store.read(Selection{}).value().cursor.seq; }

  static const Lease* find(const Board& board, const Key& key, const LeaseId& id) {
    const Holding& holding = board.seat(key).holding;
    const auto found = std::ranges::find(holding.leases, id, &Lease::id);
    return found == holding.leases.end() ? nullptr : &*found;
  }

  // Whether a lease's time is over, by hand: the code under test is not asked.
  static bool is_over(const Lease& lease, const Instant& now) {
    if (!lease.expires) return false;
    return lease.expires->boot == now.boot ? lease.expires->boot_ms <= now.boot_ms
                                           : lease.expires->unix_ms <= now.unix_ms;
  }

  void check_change(const Step& step, const Board& before, const Grants& grants) {
    for (const HeldLease& held : grants) {
      const Lease* had = find(before, held.resource, held.lease.id);
      const bool own = had != nullptr && had->session == claimant(step.who).session;
      switch (step.kind) {
        case Kind::renew:
        case Kind::beat:
          // I6: by the holder, of what was live, and never shorter.
          RC_ASSERT((own && !is_over(*had, before.now) && !before.gone.contains(had->id)));
          RC_ASSERT((!had->expires || ms_until(*held.lease.expires, before.now) >=
                                          ms_until(*had->expires, before.now)));
          RC_ASSERT(held.lease.fence == had->fence);
          break;
        case Kind::release:
        case Kind::downgrade:
          RC_ASSERT((own && !is_over(*had, before.now) && !before.gone.contains(had->id)));
          break;
        case Kind::evict:
          check_eviction(held);
          break;
        case Kind::cleanup:
          RC_ASSERT((had != nullptr && standing_of(*had, before, {}).condition != Condition::live));
          break;
        default:
          if (!held.already_held) check_fence(held);
      }
    }
    if (step.kind == Kind::release) check_release_again(step);
  }

  // I2: every grant of a resource has a larger fence than all before it.
  void check_fence(const HeldLease& held) {
    Fence& highest = highest_[held.resource];
    RC_ASSERT(held.lease.fence > highest);
    highest = held.lease.fence;
  }

  // I14: who and why are written down.
  void check_eviction(const HeldLease& held) {
    const History history =
        local_.store->history({.mentioning = held.lease.id.text, .newest = 100}).value();
    RC_ASSERT(std::ranges::any_of(history.events, [&](const PastEvent& past) {
      return past.event.op == Op::force_evict && past.event.lease == held.lease.id &&
             past.event.by && past.event.reason == "reason";
    }));
  }

  // I7: asked again, the log still knows that it was released by this session.
  void check_release_again(const Step& step) {
    const Result<Grants> again = local_.operate(step);
    RC_ASSERT(!again.has_value());
    if (again.error().kind != ErrorKind::not_found) return;  // others read here, too
    const History history =
        local_.store->history({.resource = item(step.item).key(), .newest = 100'000}).value();
    RC_ASSERT(own_release(history.events, claimant(step.who), item(step.item)) != nullptr);
  }

  void check_invariants() {
    const Board board = local_.board();
    for (const auto& [key, seat] : board.seats) {
      std::size_t live = 0;
      std::size_t exclusive = 0;
      for (const Lease& lease : seat.holding.leases) {
        if (!standing_of(lease, board, {}).held()) continue;
        ++live;
        if (lease.mode == Mode::exclusive) ++exclusive;
      }
      RC_ASSERT((exclusive == 0 || live == 1));  // I1
      std::set<SessionId> sessions;
      for (const Lease& lease : seat.holding.leases)
        RC_ASSERT(sessions.insert(lease.session).second);  // one lease a session
    }
    RC_ASSERT(contents_of(*local_.store).value() == contents_of(model_).value());
  }

  LocalSite site_;
  MemoryStore model_{site_.clock};
  World local_{site_.clock};
  World memory_{site_.clock};
  std::unique_ptr<LocalStore> open_;
  std::map<Key, Fence> highest_;
};

TEST(LedgerProperty, AnySequenceKeepsTheInvariantsAndAgreesWithTheModel) {
  EXPECT_PROPERTY(200, 60, [] {
    const auto seed = *any_in<std::uint64_t>(1, 1'000'000);
    const auto steps = *rc::gen::container<std::vector<Step>>(any_step());
    Twins twins(seed);
    for (const Step& step : steps) twins.take(step);
    twins.check_log();
  });
}

}  // namespace
}  // namespace dibs
