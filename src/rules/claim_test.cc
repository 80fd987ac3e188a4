// Each rule by itself, on a board that takes in what rules decide, as a store would.
#include "rules/claim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"

namespace dibs {
namespace {

constexpr std::int64_t kMinute = 60'000;

Resource item(const std::string& name) { return {.kind = ResourceKind::item, .name = name}; }

Claimant someone(const std::string& agent, const std::string& worktree = "wt:00000001") {
  return {.agent = {agent},
          .session = {agent + "@" + worktree},
          .worktree = {worktree},
          .branch = "main",
          .process = std::nullopt};
}

const Claimant kOne = someone("agent:one");
const Claimant kOneElsewhere = someone("agent:one", "wt:00000002");
const Claimant kTwo = someone("agent:two");
const Claimant kThree = someone("agent:three");

class Rules : public testing::Test {
 protected:
  Rules() { board_.now = {.unix_ms = 1'767'441'600'000, .boot_ms = 1000, .boot = {"boot-1"}}; }

  AcquireRequest request(const Claimant& who, const std::vector<std::string>& names,
                         std::int64_t ttl_secs = 600) {
    AcquireRequest made{.who = who,
                        .resources = {},
                        .new_ids = {},
                        .mode = Mode::exclusive,
                        .ttl_secs = ttl_secs,
                        .takeover = Takeover::ended_only,
                        .reason = {},
                        .policy = policy_};
    for (const std::string& name : names) {
      made.resources.push_back(item(name));
      made.new_ids.push_back({"L" + std::to_string(++leases_)});
    }
    return made;
  }
  AcquireRequest shared(const Claimant& who, const std::vector<std::string>& names,
                        std::int64_t ttl_secs = 600) {
    AcquireRequest made = request(who, names, ttl_secs);
    made.mode = Mode::shared;
    return made;
  }
  static AcquireRequest with(AcquireRequest made, Takeover takeover, std::string reason = {}) {
    made.takeover = takeover;
    made.reason = std::move(reason);
    return made;
  }

  // Writes a decision down. Whatever it writes it must also have expected.
  void apply(const Changes& changes) {
    events_ = changes.events;
    for (const Expectation& expected : changes.expectations)
      EXPECT_EQ(expected.version, board_.seat(expected.key).version) << expected.key.text;
    if (changes.writes.empty()) return;
    ++seq_;
    for (const Write& write : changes.writes) {
      EXPECT_EQ(std::ranges::count(changes.expectations, write.key, &Expectation::key), 1)
          << write.key.text << " is written and not expected";
      board_.seats.erase(write.key);
      if (!write.value) continue;
      Seat seat{.version = Version{seq_}, .holding = {}};
      if (resource_of(write.key)) seat.holding = *holding_of(record(write));
      board_.seats[write.key] = seat;
    }
  }
  Record record(const Write& write) const {
    return {.key = write.key, .value = *write.value, .version = {seq_}, .fence = {seq_}};
  }
  template <class Reply>
  Result<Reply> applied(Result<Decision<Reply>> decision) {
    if (!decision) return fail(decision.error());
    apply(decision->changes);
    return decision->reply;
  }
  Result<Grants> take(const AcquireRequest& asked) {
    Result<Grants> grants = applied(acquire(board_, asked));
    if (grants) stamp(*grants, Fence{seq_});
    return grants;
  }
  Lease taken(const Claimant& who, const std::string& name, std::int64_t ttl_secs = 600) {
    const Result<Grants> grants = take(request(who, {name}, ttl_secs));
    EXPECT_TRUE(grants) << grants.error().message;
    return grants ? grants->front().lease : Lease{};
  }
  Lease taken_shared(const Claimant& who, const std::string& name, std::int64_t ttl_secs = 600) {
    const Result<Grants> grants = take(shared(who, {name}, ttl_secs));
    EXPECT_TRUE(grants) << grants.error().message;
    return grants ? grants->front().lease : Lease{};
  }
  Result<Grants> renewed(const Claimant& who, const LeaseRef& ref,
                         std::optional<std::int64_t> ttl_secs = std::nullopt) {
    return applied(renew(board_, {.who = who, .lease = ref, .ttl_secs = ttl_secs}));
  }
  void pass(std::int64_t ms) { board_.now = later_by(board_.now, ms); }
  void reboot() {
    board_.now = {.unix_ms = board_.now.unix_ms + kMinute, .boot_ms = 5, .boot = {"boot-2"}};
  }
  std::vector<Lease> on(const std::string& name) {
    return board_.seat(item(name).key()).holding.leases;
  }
  std::vector<Op> ops() const {
    std::vector<Op> all;
    for (const Event& event : events_) all.push_back(event.op);
    return all;
  }
  static ErrorKind kind(const Result<Grants>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorKind::internal : result.error().kind;
  }

  Board board_;
  Policy policy_;
  std::uint64_t seq_ = 0;
  std::uint64_t leases_ = 0;
  std::vector<Event> events_;
};

using Ops = std::vector<Op>;

// --- acquire ---

using Acquire = Rules;

TEST_F(Acquire, GrantsAFreeItemUntilItsTtlIsOver) {
  const Result<Grants> grants = take(request(kOne, {"1"}, 600));
  ASSERT_TRUE(grants);
  const Lease& lease = grants->front().lease;
  EXPECT_FALSE(grants->front().already_held);
  EXPECT_EQ(lease.session, kOne.session);
  EXPECT_EQ(lease.worktree, kOne.worktree);
  EXPECT_EQ(lease.branch, "main");
  EXPECT_EQ(lease.fence, Fence{1});
  EXPECT_EQ(lease.expires, later_by(board_.now, 600'000));
  EXPECT_EQ(on("1"), (std::vector<Lease>{lease})) << "the reply is what the record says";
  EXPECT_EQ(ops(), (Ops{Op::acquire}));
}

TEST_F(Acquire, RefusesAnItemHeldByAnotherSession) {
  const Lease held = taken(kOne, "1");
  const Result<Grants> refused = take(request(kTwo, {"1"}));
  ASSERT_EQ(kind(refused), ErrorKind::held);
  const Error& error = refused.error();
  EXPECT_TRUE(contains(error.message, "item:1 is held by agent:one for another 10 min"))
      << error.message;
  EXPECT_TRUE(contains(error.hint, "--strategy retry"));
  std::map<std::string, std::string> fields;
  for (const ErrorField& field : error.fields) fields[field.name] = field.json;
  EXPECT_EQ(fields["holder"], "\"agent:one\"");
  EXPECT_EQ(fields["lease_id"], "\"" + held.id.text + "\"");
  EXPECT_EQ(fields["expires_at"], "\"" + rfc3339(held.expires->unix_ms) + "\"");
  EXPECT_EQ(fields["fence"], "1");
  EXPECT_EQ(on("1"), (std::vector<Lease>{held}));
}

TEST_F(Acquire, GivesTheSameSessionItsOwnLeaseBack) {
  const Lease first = taken(kOne, "1");
  pass(kMinute);
  const Result<Grants> again = take(request(kOne, {"1"}));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->front().already_held);
  EXPECT_EQ(again->front().lease, first) << "same id, fence and expiry";
  EXPECT_EQ(seq_, 1U) << "nothing was written";
}

TEST_F(Acquire, RefusesAnotherSessionOfTheSameAgent) {
  taken(kOne, "1");
  const Result<Grants> refused = take(request(kOneElsewhere, {"1"}));
  ASSERT_EQ(kind(refused), ErrorKind::held);
  EXPECT_TRUE(contains(refused.error().message, "in another session")) << refused.error().message;
}

TEST_F(Acquire, LetsManyShareAndKeepsWritersOut) {
  taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  EXPECT_EQ(on("1").size(), 2U);
  EXPECT_EQ(kind(take(request(kThree, {"1"}))), ErrorKind::held);
}

TEST_F(Acquire, KeepsReadersOutWhileAWriterHolds) {
  taken(kOne, "1");
  EXPECT_EQ(kind(take(shared(kTwo, {"1"}))), ErrorKind::held);
}

TEST_F(Acquire, AnExclusiveLeaseCoversASharedRequestButNotTheOtherWayRound) {
  const Lease writer = taken(kOne, "1");
  EXPECT_EQ(take(shared(kOne, {"1"}))->front().lease, writer);
  taken_shared(kTwo, "2");
  const Result<Grants> refused = take(request(kTwo, {"2"}));
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().hint, "dibs claim upgrade item:2"));
}

TEST_F(Acquire, TakesSeveralOrNone) {
  taken(kTwo, "2");
  EXPECT_EQ(kind(take(request(kOne, {"1", "2", "3"}))), ErrorKind::held);
  EXPECT_TRUE(on("1").empty());
  EXPECT_TRUE(on("3").empty());
  const Result<Grants> grants = take(request(kOne, {"1", "3", "4"}));
  ASSERT_TRUE(grants);
  EXPECT_EQ(grants->size(), 3U);
  for (const HeldLease& held : *grants) EXPECT_EQ(held.lease.fence, Fence{seq_});
}

TEST_F(Acquire, ExpectsWhatItHoldsAlreadyWhenItTakesMore) {
  taken(kOne, "1");
  const Result<Decision<Grants>> decision = acquire(board_, request(kOne, {"1", "2"}));
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->changes.writes.size(), 1U);
  EXPECT_EQ(decision->changes.expectations.size(), 2U) << "or it could be told it holds both";
  EXPECT_TRUE(decision->reply[0].already_held);
  EXPECT_FALSE(decision->reply[1].already_held);
}

TEST_F(Acquire, TakesWhatHasExpiredAndWritesThatDown) {
  const Lease old = taken(kOne, "1", 600);
  pass(599'999);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held) << "a millisecond early";
  pass(1);
  const Result<Grants> grants = take(request(kTwo, {"1"}));
  ASSERT_TRUE(grants);
  EXPECT_GT(grants->front().lease.fence, old.fence);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::acquire}));
  EXPECT_EQ(events_[0].lease, old.id);
  EXPECT_TRUE(contains(events_[0].reason, "expired"));
}

TEST_F(Acquire, WaitsOutTheMarginOfAStoreWhoseClockMayBeOff) {
  taken(kOne, "1", 600);
  board_.margin_ms = 5000;
  pass(604'999);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  EXPECT_EQ(kind(renewed(kOne, item("1"))), ErrorKind::lease_lost) << "the holder stops earlier";
  pass(1);
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(Acquire, IsNotFooledByAChangedWallClock) {
  taken(kOne, "1", 600);
  board_.now.unix_ms += 86'400'000;
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  board_.now.unix_ms -= 2 * std::int64_t{86'400'000};
  board_.now.boot_ms += 600'000;
  EXPECT_TRUE(take(request(kTwo, {"1"}))) << "ten minutes of the boot clock are over";
}

TEST_F(Acquire, GoesByTheWallClockAfterAReboot) {
  taken(kOne, "1", 600);
  reboot();
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  pass(540'000);
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(Acquire, TakesWhatADeadProcessHeldAtOnce) {
  const Lease old = taken(kOne, "1");
  board_.gone[old.id] = "process 42 is gone";
  ASSERT_TRUE(take(request(kTwo, {"1"})));
  EXPECT_EQ(events_[0].op, Op::auto_evict);
  EXPECT_EQ(events_[0].reason, "process 42 is gone");
}

TEST_F(Acquire, GrantsItsOwnLapsedLeaseAnewWithANewFence) {
  const Lease old = taken(kOne, "1", 600);
  pass(600'000);
  const Result<Grants> grants = take(request(kOne, {"1"}));
  ASSERT_TRUE(grants);
  EXPECT_FALSE(grants->front().already_held);
  EXPECT_NE(grants->front().lease.id, old.id);
  EXPECT_GT(grants->front().lease.fence, old.fence);
}

TEST_F(Acquire, NeedsStealStaleToTakeWhatIsStale) {
  AcquireRequest endless = with(request(kOne, {"1"}, 0), Takeover::ended_only, "vendor");
  ASSERT_TRUE(take(endless));
  pass(policy_.stale_after_secs * 1000);
  EXPECT_EQ(kind(take(with(request(kTwo, {"1"}), Takeover::stale_too))), ErrorKind::held)
      << "not stale yet";
  pass(1);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  ASSERT_TRUE(take(with(request(kTwo, {"1"}), Takeover::stale_too)));
  EXPECT_EQ(events_[0].op, Op::auto_evict);
  EXPECT_TRUE(contains(events_[0].reason, "no heartbeat for 10 min"));
}

TEST_F(Acquire, StealStaleDoesNotTakeWhatIsLive) {
  taken(kOne, "1");
  EXPECT_EQ(kind(take(with(request(kTwo, {"1"}), Takeover::stale_too))), ErrorKind::held);
}

TEST_F(Acquire, ByForceEndsALiveLeaseAndSaysWhoAndWhy) {
  const Lease old = taken(kOne, "1");
  const Result<Grants> grants = take(with(request(kTwo, {"1"}), Takeover::any, "it hangs"));
  ASSERT_TRUE(grants);
  EXPECT_GT(grants->front().lease.fence, old.fence);
  ASSERT_EQ(ops(), (Ops{Op::force_evict, Op::acquire}));
  EXPECT_EQ(events_[0].agent, kOne.agent);
  EXPECT_EQ(events_[0].by, kTwo.agent);
  EXPECT_EQ(events_[0].reason, "it hangs");
}

TEST_F(Acquire, ByForceEndsAllReadersForAWriterAndNoneForAReader) {
  taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  ASSERT_TRUE(take(with(shared(kThree, {"1"}), Takeover::any, "why")));
  EXPECT_EQ(on("1").size(), 3U);
  ASSERT_TRUE(take(with(request(kOneElsewhere, {"1"}), Takeover::any, "why")));
  EXPECT_EQ(on("1").size(), 1U);
  EXPECT_EQ(std::ranges::count(ops(), Op::force_evict), 3);
}

TEST_F(Acquire, SweepsLapsedReadersAsideForANewOne) {
  taken_shared(kOne, "1", 60);
  const Lease stays = taken_shared(kTwo, "1", 600);
  pass(kMinute);
  const Lease added = taken_shared(kThree, "1");
  EXPECT_EQ(on("1"), (std::vector<Lease>{stays, added}));
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::acquire}));
}

TEST_F(Acquire, TellsOfNoEvictionThatItDoesNotMake) {
  taken_shared(kOne, "1", 60);
  taken_shared(kTwo, "1", 600);
  pass(kMinute);
  // The second holds 1 already; only 2 is written, so the record of 1 stays as it is.
  ASSERT_TRUE(take(shared(kTwo, {"1", "2"})));
  EXPECT_EQ(ops(), (Ops{Op::acquire}));
  EXPECT_EQ(on("1").size(), 2U);
}

TEST_F(Acquire, RefusesMoreReadersThanThereMayBe) {
  for (std::size_t i = 0; i < kSharedHoldersMax; ++i)
    taken_shared(someone("agent:reader-" + std::to_string(i)), "1");
  EXPECT_EQ(kind(take(shared(kOne, {"1"}))), ErrorKind::refused);
}

TEST_F(Acquire, KeepsUnknownMembersOfReadersThatStay) {
  taken_shared(kOne, "1");
  board_.seats[item("1").key()].holding.leases[0].unknown_members = R"("mood":"fine")";
  taken_shared(kTwo, "1");
  EXPECT_EQ(on("1")[0].unknown_members, R"("mood":"fine")");
}

// --- indefinite leases ---

class Indefinite : public Rules {
 protected:
  Result<Grants> endless(const Claimant& who, const std::vector<std::string>& names) {
    return take(with(request(who, names, 0), Takeover::ended_only, "reason"));
  }
  Result<Grants> endless_shared(const Claimant& who, const std::vector<std::string>& names) {
    return take(with(shared(who, names, 0), Takeover::ended_only, "reason"));
  }
};

TEST_F(Indefinite, LeasesDoNotExpire) {
  ASSERT_TRUE(endless(kOne, {"1"}));
  pass(365LL * 86'400'000);
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
  EXPECT_FALSE(on("1")[0].expires);
}

TEST_F(Indefinite, LeasesAreLimitedForEachAgent) {
  ASSERT_TRUE(endless(kOne, {"1"}));
  ASSERT_TRUE(endless(kOneElsewhere, {"2"}));
  const Result<Grants> refused = endless(kOne, {"3"});
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().message, "agent:one may hold at most 2"));
  EXPECT_TRUE(contains(refused.error().hint, "max_indefinite_per_agent 3"));
  EXPECT_TRUE(endless(kTwo, {"3"})) << "another agent has its own";
  EXPECT_TRUE(take(request(kOne, {"4"}, 600))) << "with a time limit there is no limit";
}

TEST_F(Indefinite, LeasesAreLimitedForTheRepository) {
  policy_.indefinite_per_repository = 2;
  ASSERT_TRUE(endless(kOne, {"1"}));
  ASSERT_TRUE(endless(kTwo, {"2"}));
  const Result<Grants> refused = endless(kThree, {"3"});
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().hint, "max_indefinite_per_repository 3"));
}

TEST_F(Indefinite, SeveralInOneCallCountEach) {
  EXPECT_EQ(kind(endless(kOne, {"1", "2", "3"})), ErrorKind::refused);
  EXPECT_TRUE(on("1").empty());
  EXPECT_TRUE(endless(kOne, {"1", "2"}));
}

TEST_F(Indefinite, TakingAgainWhatIsHeldCountsOnce) {
  ASSERT_TRUE(endless(kOne, {"1", "2"}));
  EXPECT_TRUE(endless(kOne, {"1", "2"}));
  policy_.indefinite_per_agent = 3;
  EXPECT_TRUE(endless(kOne, {"1", "2", "3"}));
}

TEST_F(Indefinite, SharingDoesNotEvadeTheLimits) {
  policy_.indefinite_per_repository = 2;
  ASSERT_TRUE(endless_shared(kOne, {"1"}));
  ASSERT_TRUE(endless_shared(kTwo, {"1"}));
  EXPECT_EQ(kind(endless_shared(kThree, {"1"})), ErrorKind::refused);
  policy_ = {.indefinite_per_agent = 1};
  EXPECT_EQ(kind(endless_shared(kOneElsewhere, {"1"})), ErrorKind::refused);
}

TEST_F(Indefinite, OnesThatAreTakenOverDoNotCountAgainstTheTaker) {
  policy_.indefinite_per_repository = 1;
  ASSERT_TRUE(endless(kOne, {"1"}));
  EXPECT_TRUE(take(with(request(kTwo, {"1"}, 0), Takeover::any, "it hangs")));
}

TEST_F(Indefinite, ClaimsShareAGuardSoThatTwoCannotBothPassTheLimit) {
  const Result<Decision<Grants>> one = acquire(board_, request(kOne, {"1"}, 0));
  const Result<Decision<Grants>> two = acquire(board_, request(kOne, {"2"}, 0));
  for (const auto& decision : {one, two}) {
    ASSERT_TRUE(decision);
    EXPECT_EQ(
        std::ranges::count(decision->changes.expectations, indefinite_guard(), &Expectation::key),
        1);
    EXPECT_EQ(std::ranges::count(decision->changes.writes, indefinite_guard(), &Write::key), 1);
  }
}

TEST_F(Indefinite, LeasesStayLiveByHeartbeats) {
  ASSERT_TRUE(endless(kOne, {"1"}));
  pass(policy_.stale_after_secs * 1000);
  apply(heartbeat(board_, kOne).changes);
  pass(policy_.stale_after_secs * 1000);
  EXPECT_EQ(standing_of(on("1")[0], board_, policy_).condition, Condition::live);
  pass(1);
  EXPECT_EQ(standing_of(on("1")[0], board_, policy_).condition, Condition::stale);
  EXPECT_TRUE(standing_of(on("1")[0], board_, policy_).held());
  EXPECT_TRUE(renewed(kOne, item("1"))) << "stale is not lost";
}

// --- renew and heartbeat ---

using Renew = Rules;

TEST_F(Renew, CountsTheTtlFromNow) {
  const Lease lease = taken(kOne, "1", 600);
  pass(kMinute);
  const Result<Grants> grants = renewed(kOne, lease.id);
  ASSERT_TRUE(grants);
  EXPECT_EQ(on("1")[0].expires, later_by(board_.now, 600'000));
  EXPECT_EQ(on("1")[0].id, lease.id);
  EXPECT_EQ(on("1")[0].fence, lease.fence) << "the same grant goes on";
  EXPECT_EQ(ops(), (Ops{Op::renew}));
}

TEST_F(Renew, TakesALeaseByItsResourceToo) {
  taken(kOne, "1");
  EXPECT_TRUE(renewed(kOne, item("1")));
}

TEST_F(Renew, NeverShortens) {
  const Lease lease = taken(kOne, "1", 600);
  ASSERT_TRUE(renewed(kOne, lease.id, 10));
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 600'000);
  pass(595'000);
  ASSERT_TRUE(renewed(kOne, lease.id)) << "with the ttl it has now";
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 10'000);
}

TEST_F(Renew, NeverRevives) {
  const Lease lease = taken(kOne, "1", 600);
  pass(600'000);
  const Result<Grants> refused = renewed(kOne, lease.id);
  ASSERT_EQ(kind(refused), ErrorKind::lease_lost);
  EXPECT_TRUE(contains(refused.error().message, "item:1 is lost: expired 0 s ago"))
      << refused.error().message;
  EXPECT_EQ(refused.error().hint, "take it again before you go on: dibs claim acquire item:1");
}

TEST_F(Renew, IsNotForADeadProcess) {
  const Lease lease = taken(kOne, "1");
  board_.gone[lease.id] = "process 42 is gone";
  EXPECT_EQ(kind(renewed(kOne, lease.id)), ErrorKind::lease_lost);
}

TEST_F(Renew, IsForTheHolderAlone) {
  const Lease lease = taken(kOne, "1");
  EXPECT_EQ(kind(renewed(kTwo, lease.id)), ErrorKind::held);
  EXPECT_EQ(kind(renewed(kOneElsewhere, lease.id)), ErrorKind::held);
  EXPECT_EQ(kind(renewed(kOne, LeaseId{"L99"})), ErrorKind::not_found);
  EXPECT_EQ(kind(renewed(kOne, item("9"))), ErrorKind::not_found);
}

TEST_F(Renew, DoesNotTurnALimitedLeaseIntoAnIndefiniteOneNorBack) {
  taken(kOne, "1", 600);
  EXPECT_EQ(kind(renewed(kOne, item("1"), 0)), ErrorKind::refused);
  ASSERT_TRUE(take(with(request(kOne, {"2"}, 0), Takeover::ended_only, "r")));
  EXPECT_EQ(kind(renewed(kOne, item("2"), 600)), ErrorKind::refused);
  EXPECT_TRUE(renewed(kOne, item("2")));
  EXPECT_TRUE(renewed(kOne, item("2"), 0));
}

TEST_F(Renew, AmongReadersChangesOnesOwnLeaseAlone) {
  const Lease other = taken_shared(kOne, "1", 600);
  taken_shared(kTwo, "1", 600);
  pass(kMinute);
  ASSERT_TRUE(renewed(kTwo, item("1")));
  EXPECT_EQ(on("1")[0], other);
  EXPECT_EQ(ms_until(*on("1")[1].expires, board_.now), 600'000);
}

TEST_F(Renew, AfterARebootCountsOnTheNewBootClock) {
  const Lease lease = taken(kOne, "1", 600);
  reboot();
  ASSERT_TRUE(renewed(kOne, lease.id));
  EXPECT_EQ(on("1")[0].expires->boot, BootId{"boot-2"});
  board_.now.unix_ms += 86'400'000;
  EXPECT_EQ(kind(take(request(kTwo, {"1"}))), ErrorKind::held);
}

using Heartbeat = Rules;

TEST_F(Heartbeat, ExtendsEveryLeaseOfTheSessionAndNoOther) {
  taken(kOne, "1", 600);
  taken_shared(kOne, "2", 600);
  const Lease other = taken_shared(kTwo, "2", 600);
  const Lease elsewhere = taken(kOneElsewhere, "3", 600);
  pass(kMinute);
  const Decision<HeartbeatReply> beat = heartbeat(board_, kOne);
  apply(beat.changes);
  EXPECT_EQ(beat.reply.extended.size(), 2U);
  EXPECT_TRUE(beat.reply.lost.empty());
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 600'000);
  EXPECT_EQ(on("2")[1], other);
  EXPECT_EQ(on("3")[0], elsewhere);
  EXPECT_EQ(ops(), (Ops{Op::heartbeat, Op::heartbeat}));
}

TEST_F(Heartbeat, RevivesNothingAndSaysWhatIsLost) {
  taken(kOne, "1", 60);
  const Lease kept = taken(kOne, "2", 600);
  const Lease dead = taken(kOne, "3", 600);
  board_.gone[dead.id] = "process 42 is gone";
  pass(kMinute);
  const Decision<HeartbeatReply> beat = heartbeat(board_, kOne);
  ASSERT_EQ(beat.reply.lost.size(), 2U);
  ASSERT_EQ(beat.reply.extended.size(), 1U);
  EXPECT_EQ(beat.reply.extended[0].lease.id, kept.id);
  EXPECT_EQ(beat.changes.writes.size(), 1U);
}

TEST_F(Heartbeat, GoesOnWhereOneChangeWasFull) {
  constexpr std::size_t kMany = 2 * kTransactionWritesMax + 1;
  for (std::size_t i = 0; i < kMany; ++i) taken(kOne, std::to_string(i), 600);
  std::size_t extended = 0;
  std::optional<Key> after;
  int changes = 0;
  do {
    const Decision<HeartbeatReply> beat = heartbeat(board_, kOne, after);
    EXPECT_LE(beat.changes.writes.size(), kTransactionWritesMax);
    extended += beat.reply.extended.size();
    after = beat.reply.goes_on_after;
    ++changes;
  } while (after);
  EXPECT_EQ(extended, kMany);
  EXPECT_EQ(changes, 3);
}

TEST_F(Heartbeat, WritesNothingWhenThereIsNothingToExtend) {
  taken(kTwo, "1");
  EXPECT_TRUE(heartbeat(board_, kOne).changes.writes.empty());
}

// --- release ---

using Release = Rules;

TEST_F(Release, FreesTheItem) {
  const Lease lease = taken(kOne, "1");
  const Result<Decision<Grants>> decision = release(board_, kOne, lease.id);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.gives_back) << "must work on a full disk";
  apply(decision->changes);
  EXPECT_FALSE(board_.seats.contains(item("1").key()));
  EXPECT_EQ(ops(), (Ops{Op::release}));
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(Release, LeavesOtherReadersIn) {
  taken_shared(kOne, "1");
  const Lease other = taken_shared(kTwo, "1");
  ASSERT_TRUE(applied(release(board_, kOne, item("1"))));
  EXPECT_EQ(on("1"), (std::vector<Lease>{other}));
}

TEST_F(Release, IsForTheHolderAlone) {
  const Lease lease = taken(kOne, "1");
  EXPECT_EQ(kind(applied(release(board_, kTwo, lease.id))), ErrorKind::held);
  EXPECT_EQ(kind(applied(release(board_, kOneElsewhere, lease.id))), ErrorKind::held);
  EXPECT_EQ(on("1").size(), 1U);
}

TEST_F(Release, OfALapsedLeaseSaysThatItWasLost) {
  const Lease lease = taken(kOne, "1", 600);
  pass(600'000);
  EXPECT_EQ(kind(applied(release(board_, kOne, lease.id))), ErrorKind::lease_lost);
}

TEST_F(Release, DoesNotFreeALaterGrant) {
  const Lease old = taken(kOne, "1", 600);
  pass(600'000);
  taken(kOne, "1");
  EXPECT_EQ(kind(applied(release(board_, kOne, old.id))), ErrorKind::not_found);
  EXPECT_EQ(on("1").size(), 1U);
}

// --- transfer ---

class TransferRule : public Rules {
 protected:
  Result<Grants> given(const Claimant& who, const LeaseRef& ref, const Claimant& to) {
    Result<Grants> grants =
        applied(transfer(board_, {.who = who, .lease = ref, .to = to, .new_id = {"L-new"}}));
    if (grants) stamp(*grants, Fence{seq_});
    return grants;
  }
};

TEST_F(TransferRule, IsANewGrantToTheOther) {
  const Lease old = taken(kOne, "1", 600);
  pass(kMinute);
  const Result<Grants> grants = given(kOne, old.id, kTwo);
  ASSERT_TRUE(grants);
  const Lease& lease = grants->front().lease;
  EXPECT_EQ(lease.id, LeaseId{"L-new"});
  EXPECT_GT(lease.fence, old.fence) << "the old holder's fence must no longer pass";
  EXPECT_EQ(lease.session, kTwo.session);
  EXPECT_EQ(lease.agent, kTwo.agent);
  EXPECT_EQ(on("1"), (std::vector<Lease>{lease}));
  ASSERT_EQ(ops(), (Ops{Op::transfer}));
  EXPECT_EQ(events_[0].lease, old.id);
  EXPECT_EQ(events_[0].to_lease, lease.id);
  EXPECT_EQ(events_[0].to_agent, kTwo.agent);
}

TEST_F(TransferRule, EndsTheRightOfTheOneWhoGaveIt) {
  const Lease old = taken(kOne, "1");
  ASSERT_TRUE(given(kOne, old.id, kTwo));
  EXPECT_EQ(kind(renewed(kOne, old.id)), ErrorKind::not_found);
  EXPECT_EQ(kind(renewed(kOne, item("1"))), ErrorKind::held);
  EXPECT_TRUE(renewed(kTwo, item("1")));
}

TEST_F(TransferRule, DoesNotTieTheNewHolderToTheOldOnesProcess) {
  Claimant tied = kOne;
  tied.process = ProcessTie{.host = "h", .boot = {"boot-1"}, .pid = 42, .start_ticks = 7};
  taken(tied, "1");
  EXPECT_TRUE(on("1")[0].process);
  ASSERT_TRUE(given(tied, item("1"), kTwo));
  EXPECT_FALSE(on("1")[0].process);
}

TEST_F(TransferRule, GivesASessionNoSecondLeaseOnWhatItShares) {
  const Lease mine = taken_shared(kOne, "1");
  const Lease theirs = taken_shared(kTwo, "1", 60);
  const Result<Grants> refused = given(kOne, mine.id, kTwo);
  ASSERT_EQ(kind(refused), ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().hint, "dibs claim release " + mine.id.text));
  pass(kMinute);
  ASSERT_TRUE(given(kOne, mine.id, kTwo)) << "its own has lapsed";
  ASSERT_EQ(on("1").size(), 1U);
  EXPECT_EQ(on("1")[0].session, kTwo.session);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::transfer}));
  EXPECT_EQ(events_[0].lease, theirs.id);
  EXPECT_TRUE(applied(upgrade(board_, kTwo, item("1"), policy_)))
      << "nothing of its own in the way";
}

TEST_F(TransferRule, IsForTheHolderOfALiveLease) {
  const Lease lease = taken(kOne, "1", 600);
  EXPECT_EQ(kind(given(kTwo, lease.id, kTwo)), ErrorKind::held);
  pass(600'000);
  EXPECT_EQ(kind(given(kOne, lease.id, kTwo)), ErrorKind::lease_lost);
}

// --- force-evict ---

using ForceEvict = Rules;

TEST_F(ForceEvict, EndsAnyLeaseAndSaysWhoAndWhy) {
  const Lease lease = taken(kOne, "1");
  const Result<Decision<Grants>> decision = force_evict(board_, kTwo.agent, lease.id, "it hangs");
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.gives_back);
  apply(decision->changes);
  EXPECT_TRUE(on("1").empty());
  ASSERT_EQ(ops(), (Ops{Op::force_evict}));
  EXPECT_EQ(events_[0].agent, kOne.agent);
  EXPECT_EQ(events_[0].by, kTwo.agent);
  EXPECT_EQ(events_[0].reason, "it hangs");
  EXPECT_GT(taken(kTwo, "1").fence, lease.fence);
}

TEST_F(ForceEvict, ByResourceEndsAllReadersByLeaseOne) {
  const Lease one = taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  ASSERT_TRUE(applied(force_evict(board_, kThree.agent, one.id, "r")));
  EXPECT_EQ(on("1").size(), 1U);
  taken_shared(kOne, "1");
  ASSERT_EQ(applied(force_evict(board_, kThree.agent, item("1"), "r"))->size(), 2U);
  EXPECT_TRUE(on("1").empty());
}

TEST_F(ForceEvict, OfNothingIsNotFound) {
  EXPECT_EQ(kind(applied(force_evict(board_, kOne.agent, item("1"), "r"))), ErrorKind::not_found);
}

// --- upgrade and downgrade ---

using Upgrade = Rules;

TEST_F(Upgrade, MakesTheOnlyReaderAWriterWithANewFence) {
  const Lease reader = taken_shared(kOne, "1", 600);
  pass(kMinute);
  Result<Grants> grants = applied(upgrade(board_, kOne, reader.id, policy_));
  ASSERT_TRUE(grants);
  EXPECT_EQ(on("1")[0].mode, Mode::exclusive);
  EXPECT_EQ(on("1")[0].id, reader.id);
  EXPECT_GT(on("1")[0].fence, reader.fence);
  EXPECT_EQ(ms_until(*on("1")[0].expires, board_.now), 600'000);
  EXPECT_EQ(ops(), (Ops{Op::upgrade}));
  EXPECT_EQ(kind(take(shared(kTwo, {"1"}))), ErrorKind::held);
}

TEST_F(Upgrade, IsRefusedWhileAnotherReads) {
  taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  EXPECT_EQ(kind(applied(upgrade(board_, kOne, item("1"), policy_))), ErrorKind::held);
}

TEST_F(Upgrade, EndsReadersWhoseTimeIsOver) {
  taken_shared(kTwo, "1", 60);
  const Lease mine = taken_shared(kOne, "1", 600);
  pass(kMinute);
  ASSERT_TRUE(applied(upgrade(board_, kOne, mine.id, policy_)));
  EXPECT_EQ(on("1").size(), 1U);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::upgrade}));
}

TEST_F(Upgrade, OfAWriterAnswersTheSameAndWritesNothing) {
  const Lease lease = taken(kOne, "1");
  const Result<Decision<Grants>> decision = upgrade(board_, kOne, lease.id, policy_);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.writes.empty());
  EXPECT_TRUE(decision->reply[0].already_held);
}

using Downgrade = Rules;

TEST_F(Downgrade, LetsReadersIn) {
  const Lease lease = taken(kOne, "1");
  ASSERT_TRUE(applied(downgrade(board_, kOne, lease.id)));
  EXPECT_EQ(on("1")[0].mode, Mode::shared);
  EXPECT_EQ(ops(), (Ops{Op::downgrade}));
  EXPECT_TRUE(take(shared(kTwo, {"1"})));
}

TEST_F(Downgrade, OfAReaderAnswersTheSameAndWritesNothing) {
  const Lease lease = taken_shared(kOne, "1");
  const Result<Decision<Grants>> decision = downgrade(board_, kOne, lease.id);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->changes.writes.empty());
  EXPECT_TRUE(decision->reply[0].already_held);
}

TEST_F(Downgrade, IsForTheHolderAlone) {
  taken(kOne, "1");
  EXPECT_EQ(kind(applied(downgrade(board_, kTwo, item("1")))), ErrorKind::held);
  EXPECT_EQ(kind(applied(upgrade(board_, kTwo, item("1"), policy_))), ErrorKind::held);
}

// --- cleanup ---

using CleanupRule = Rules;

TEST_F(CleanupRule, EndsWhatIsLapsedDeadOrStaleAndSaysWhy) {
  taken(kOne, "lapsed", 60);
  const Lease dead = taken(kOne, "dead", 86'400);
  ASSERT_TRUE(take(with(request(kOne, {"stale"}, 0), Takeover::ended_only, "r")));
  taken(kTwo, "live", 86'400);
  board_.gone[dead.id] = "process 42 is gone";
  pass(policy_.stale_after_secs * 1000 + 1);
  const Decision<std::vector<Ended>> decision = cleanup(board_, policy_, 0);
  EXPECT_EQ(decision.reply.size(), 3U);
  EXPECT_TRUE(decision.changes.gives_back);
  for (const Ended& ended : decision.reply) EXPECT_FALSE(ended.standing.why.empty());
  apply(decision.changes);
  EXPECT_EQ(ops(), (Ops{Op::auto_evict, Op::auto_evict, Op::auto_evict}));
  EXPECT_EQ(on("live").size(), 1U);
  EXPECT_TRUE(on("lapsed").empty() && on("dead").empty() && on("stale").empty());
}

TEST_F(CleanupRule, LeavesWhatGaveASignOfLifeRecently) {
  taken(kOne, "1", 60);
  pass(kMinute);
  EXPECT_TRUE(ended_leases(board_, policy_, 61).empty());
  EXPECT_EQ(ended_leases(board_, policy_, 60).size(), 1U);
}

TEST_F(CleanupRule, OfOneResourceKeepsTheReadersThatAreLive) {
  taken_shared(kOne, "1", 60);
  taken_shared(kTwo, "1", 60);
  const Lease live = taken_shared(kThree, "1", 600);
  pass(kMinute);
  const Decision<std::vector<Ended>> decision = cleanup(board_, policy_, 0);
  EXPECT_EQ(decision.reply.size(), 2U);
  EXPECT_EQ(decision.changes.writes.size(), 1U);
  apply(decision.changes);
  EXPECT_EQ(on("1"), (std::vector<Lease>{live}));
}

TEST_F(CleanupRule, DoesAsMuchAtOnceAsOneEntryHoldsAndTheRestNextTime) {
  for (std::size_t i = 0; i < kTransactionWritesMax + 10; ++i) taken(kOne, std::to_string(i), 60);
  pass(kMinute);
  const Decision<std::vector<Ended>> first = cleanup(board_, policy_, 0);
  EXPECT_EQ(first.changes.writes.size(), kTransactionWritesMax);
  EXPECT_EQ(first.reply.size(), kTransactionWritesMax);
  apply(first.changes);
  const Decision<std::vector<Ended>> second = cleanup(board_, policy_, 0);
  EXPECT_EQ(second.reply.size(), 10U);
  apply(second.changes);
  EXPECT_TRUE(cleanup(board_, policy_, 0).reply.empty());
}

// --- what became of a lease that is gone ---

class Absence : public Rules {
 protected:
  // Remembers what the last change said, as history would.
  void note() {
    for (const Event& event : events_)
      past_.push_back({.seq = seq_, .unix_ms = board_.now.unix_ms, .event = event});
  }
  std::vector<PastEvent> past_;
};

TEST_F(Absence, AfterOnesOwnReleaseIsAReleaseAgain) {
  const Lease lease = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(release(board_, kOne, lease.id)));
  note();
  for (const LeaseRef& ref : {LeaseRef(lease.id), LeaseRef(item("1"))}) {
    const PastEvent* before = own_release(past_, kOne, ref);
    ASSERT_NE(before, nullptr);
    EXPECT_EQ(before->event.lease, lease.id);
  }
  EXPECT_EQ(own_release(past_, kTwo, lease.id), nullptr);
  EXPECT_EQ(own_release(past_, kTwo, item("1")), nullptr);
}

TEST_F(Absence, AfterALaterLeaseOfOnesOwnGoesByTheLast) {
  const Lease first = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(release(board_, kOne, first.id)));
  note();
  const Lease second = taken(kOne, "1", 600);
  note();
  pass(600'000);
  ASSERT_TRUE(take(request(kTwo, {"1"})));
  note();
  EXPECT_NE(own_release(past_, kOne, first.id), nullptr);
  EXPECT_EQ(own_release(past_, kOne, item("1")), nullptr) << "the last one was not released";
  EXPECT_EQ(explain_absence(past_, kOne, item("1")).kind, ErrorKind::lease_lost);
  EXPECT_EQ(explain_absence(past_, kOne, second.id).kind, ErrorKind::lease_lost);
}

TEST_F(Absence, IsExplainedByHowItEnded) {
  const Lease evicted = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(force_evict(board_, kTwo.agent, evicted.id, "it hangs")));
  note();
  const Error error = explain_absence(past_, kOne, evicted.id);
  EXPECT_EQ(error.kind, ErrorKind::lease_lost);
  EXPECT_TRUE(contains(error.message, "agent:two evicted it: it hangs")) << error.message;
  EXPECT_EQ(error.hint, "take it again before you go on: dibs claim acquire item:1");
}

TEST_F(Absence, IsExplainedByExpiryAndByTransfer) {
  const Lease lapsed = taken(kOne, "1", 60);
  note();
  pass(2 * kMinute);
  ASSERT_TRUE(take(request(kTwo, {"1"})));
  note();
  EXPECT_TRUE(contains(explain_absence(past_, kOne, lapsed.id).message, "expired 1 min ago"));
  const Lease given = taken(kOne, "2");
  note();
  ASSERT_TRUE(
      applied(transfer(board_, {.who = kOne, .lease = given.id, .to = kTwo, .new_id = {"L-new"}})));
  note();
  EXPECT_TRUE(contains(explain_absence(past_, kOne, given.id).message, "handed over to agent:two"));
}

TEST_F(Absence, OfWhatNeverWasIsNotFound) {
  EXPECT_EQ(explain_absence({}, kOne, LeaseId{"L1"}).kind, ErrorKind::not_found);
  EXPECT_EQ(explain_absence({}, kOne, item("1")).kind, ErrorKind::not_found);
  EXPECT_EQ(own_release({}, kOne, item("1")), nullptr);
}

TEST_F(Absence, OfAnothersLeaseIsNotOnesOwnLoss) {
  const Lease lease = taken(kOne, "1");
  note();
  ASSERT_TRUE(applied(release(board_, kOne, lease.id)));
  note();
  EXPECT_EQ(explain_absence(past_, kTwo, item("1")).kind, ErrorKind::not_found);
}

// --- standing ---

TEST(Standing, OfALiveLeaseSaysNothing) {
  Board board;
  board.now = {.unix_ms = 1000, .boot_ms = 1000, .boot = {"b"}};
  Lease lease;
  lease.ttl_secs = 1;
  lease.beat = board.now;
  lease.expires = later_by(board.now, 1000);
  const Standing standing = standing_of(lease, board, {});
  EXPECT_EQ(standing.condition, Condition::live);
  EXPECT_EQ(standing.why, "");
  EXPECT_TRUE(holder_may_act(lease, board));
}

TEST(Standing, TheHolderMayNotActAtTheVeryEnd) {
  Board board;
  board.now = {.unix_ms = 1000, .boot_ms = 1000, .boot = {"b"}};
  Lease lease;
  lease.ttl_secs = 1;
  lease.expires = board.now;
  EXPECT_FALSE(holder_may_act(lease, board));
  EXPECT_FALSE(standing_of(lease, board, {}).held());
}

TEST(Stamp, GivesTheFenceToNewGrantsAlone) {
  Grants grants(2);
  grants[0].lease.fence = {3};
  stamp(grants, {9});
  EXPECT_EQ(grants[0].lease.fence, Fence{3});
  EXPECT_EQ(grants[1].lease.fence, Fence{9});
}

}  // namespace
}  // namespace dibs
