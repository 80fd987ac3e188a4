#include "rules/line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "rules/claim_fixture.h"

namespace dibs {
namespace {

const Claimant kFour = someone("agent:four");

/// A board on which people also wait.
class Waiting : public Rules {
 protected:
  static constexpr std::int64_t kSignMs = 300'000;

  WaitRequest waiting(const Claimant& who, const std::vector<std::string>& names,
                      const std::string& id) {
    WaitRequest made{.who = who, .id = {id}, .sign_of_life_ms = kSignMs, .policy = policy_};
    for (const std::string& name : names) made.resources.push_back(item(name));
    return made;
  }
  Result<Joined> join_line(const WaitRequest& wait) { return applied(join(board_, wait)); }
  void stands(const Claimant& who, const std::string& name, const std::string& id,
              int priority = kWaitPriorityDefault) {
    WaitRequest wait = waiting(who, {name}, id);
    wait.priority = priority;
    EXPECT_TRUE(join_line(wait));
  }
  void stands_shared(const Claimant& who, const std::string& name, const std::string& id) {
    WaitRequest wait = waiting(who, {name}, id);
    wait.mode = Mode::shared;
    EXPECT_TRUE(join_line(wait));
  }
  Result<Grants> take_as(const Claimant& who, const std::vector<std::string>& names,
                         const std::string& id, Mode mode = Mode::exclusive) {
    AcquireRequest asked = request(who, names);
    asked.mode = mode;
    asked.place.id = WaitId{id};
    return take(asked);
  }
  void freed(const Claimant& who, const std::string& name) {
    EXPECT_TRUE(applied(release(board_, who, item(name))));
  }
  std::vector<std::string> in_line(const std::string& name) {
    std::vector<std::string> ids;
    for (const Waiter& waiter : board_.line(item(name).key()).waiters)
      ids.push_back(waiter.id.text);
    return ids;
  }
  void gone(const std::string& id) { board_.gone_waiters[{id}] = "process 7 is gone"; }
};

using Ids = std::vector<std::string>;

TEST_F(Waiting, IsFirstComeFirstServed) {
  taken(kOne, "1");
  stands(kTwo, "1", "W2");
  stands(kThree, "1", "W3");
  EXPECT_EQ(in_line("1"), (Ids{"W2", "W3"}));
  EXPECT_EQ(kind(take_as(kTwo, {"1"}, "W2")), ErrorKind::held) << "it is not free yet";
  freed(kOne, "1");
  EXPECT_EQ(kind(take_as(kThree, {"1"}, "W3")), ErrorKind::held);
  ASSERT_TRUE(take_as(kTwo, {"1"}, "W2"));
  EXPECT_EQ(in_line("1"), (Ids{"W3"})) << "who has it waits no more";
  freed(kTwo, "1");
  ASSERT_TRUE(take_as(kThree, {"1"}, "W3"));
  EXPECT_FALSE(board_.seat(line_key(item("1").key())).version) << "an empty line is no record";
}

TEST_F(Waiting, IsWrittenDown) {
  taken(kOne, "1");
  stands(kTwo, "1", "W2");
  ASSERT_EQ(ops(), (Ops{Op::wait}));
  EXPECT_EQ(events_[0].session, kTwo.session);
  EXPECT_EQ(events_[0].resource, item("1").key());
  applied(
      Result<Decision<std::monostate>>(leave(board_, {"W2"}, {item("1")}, "its time was over")));
  ASSERT_EQ(ops(), (Ops{Op::leave}));
  EXPECT_EQ(events_[0].reason, "its time was over");
  EXPECT_TRUE(in_line("1").empty());
}

TEST_F(Waiting, TheMoreUrgentComeFirstAndAmongThemWhoCameFirst) {
  taken(kOne, "1");
  stands(kTwo, "1", "late", 4);
  stands(kThree, "1", "usual");
  stands(kFour, "1", "urgent", 0);
  stands(kOneElsewhere, "1", "urgent too", 0);
  EXPECT_EQ(in_line("1"), (Ids{"urgent", "urgent too", "usual", "late"}));
}

TEST_F(Waiting, NobodyFromOutsideTakesWhatOneInLineIsWaitingFor) {
  taken(kOne, "1");
  stands(kTwo, "1", "W2");
  freed(kOne, "1");
  const Result<Grants> refused = take(request(kThree, {"1"}));
  ASSERT_EQ(kind(refused), ErrorKind::held);
  EXPECT_EQ(refused.error().message, "item:1 is not held, but agent:two is next in line for it");
  EXPECT_EQ(refused.error().hint, "stand in line too: dibs claim acquire item:1 --wait 600");
  EXPECT_EQ(kind(take(shared(kThree, {"1"}))), ErrorKind::held);
  EXPECT_TRUE(take(with(request(kThree, {"1"}), Takeover::any, "it burns"))) << "but by force";
}

TEST_F(Waiting, ASessionIsNotKeptOutByItsOwnPlace) {
  taken(kOne, "1");
  stands(kTwo, "1", "W2");
  freed(kOne, "1");
  EXPECT_TRUE(take(request(kTwo, {"1"})));
}

TEST_F(Waiting, WhoeverDiesLeavesTheLine) {
  taken(kOne, "1");
  stands(kTwo, "1", "W2");
  stands(kThree, "1", "W3");
  freed(kOne, "1");
  gone("W2");
  ASSERT_TRUE(take_as(kThree, {"1"}, "W3"));
  EXPECT_TRUE(in_line("1").empty());
  ASSERT_EQ(ops(), (Ops{Op::leave, Op::acquire}));
  EXPECT_EQ(events_[0].reason, "process 7 is gone");
}

TEST_F(Waiting, OneFromOutsideNeedNotWaitForTheDead) {
  taken(kOne, "1");
  stands(kTwo, "1", "W2");
  freed(kOne, "1");
  gone("W2");
  EXPECT_TRUE(take(request(kThree, {"1"})));
}

TEST_F(Waiting, WhoGivesNoSignOfLifeHasLeft) {
  taken(kOne, "1", 6000);
  stands(kTwo, "1", "W2");
  pass(kSignMs - 1);
  stands(kThree, "1", "W3");
  EXPECT_EQ(in_line("1"), (Ids{"W2", "W3"}));
  stands(kTwo, "1", "W2");
  EXPECT_EQ(in_line("1"), (Ids{"W2", "W3"})) << "a sign of life keeps the place";
  pass(kSignMs - 1);
  stands(kFour, "1", "W4");
  EXPECT_EQ(in_line("1"), (Ids{"W2", "W3", "W4"}));
  pass(1);
  stands(kFour, "1", "W4");
  EXPECT_EQ(in_line("1"), (Ids{"W4"}));
  stands(kTwo, "1", "W2");
  EXPECT_EQ(in_line("1"), (Ids{"W4", "W2"})) << "whoever comes back is the last";
}

TEST_F(Waiting, OneThatDoesNotTakeItsTurnIsPassedOverByWhoSawThat) {
  taken(kOne, "1");
  stands(kTwo, "1", "W2");
  stands(kThree, "1", "W3");
  freed(kOne, "1");
  const Outlook seen = outlook(board_, {item("1")}, {"W3"}, policy_);
  EXPECT_EQ(seen.has_its_turn, WaitId{"W2"});
  AcquireRequest asked = request(kThree, {"1"});
  asked.place = {.id = WaitId{"W3"}, .passed_over = {{"W2"}}};
  ASSERT_TRUE(take(asked));
  EXPECT_TRUE(in_line("1").empty()) << "it has to come again";
  EXPECT_EQ(events_[0].reason, "it did not take its turn");
}

TEST_F(Waiting, ReadersDoNotWaitForReaders) {
  taken(kOne, "1");
  stands_shared(kTwo, "1", "R2");
  stands_shared(kThree, "1", "R3");
  freed(kOne, "1");
  ASSERT_TRUE(take_as(kThree, {"1"}, "R3", Mode::shared));
  ASSERT_TRUE(take_as(kTwo, {"1"}, "R2", Mode::shared));
}

TEST_F(Waiting, AWriterInLineKeepsNewReadersOut) {
  taken_shared(kOne, "1");
  stands(kTwo, "1", "W2");
  EXPECT_EQ(kind(take(shared(kThree, {"1"}))), ErrorKind::held) << "else it would wait for ever";
  freed(kOne, "1");
  EXPECT_TRUE(take_as(kTwo, {"1"}, "W2"));
}

TEST_F(Waiting, ForSeveralIsAllOrNothingAndInOneOrder) {
  taken(kOne, "1");
  taken(kOne, "2");
  ASSERT_TRUE(join_line(waiting(kTwo, {"1", "2"}, "W2")));
  ASSERT_TRUE(join_line(waiting(kThree, {"1", "2"}, "W3")));
  EXPECT_EQ(in_line("1"), (Ids{"W2", "W3"}));
  EXPECT_EQ(in_line("2"), (Ids{"W2", "W3"}));
  freed(kOne, "1");
  EXPECT_EQ(kind(take_as(kTwo, {"1", "2"}, "W2")), ErrorKind::held);
  EXPECT_FALSE(outlook(board_, {item("1")}, {"W3"}, policy_).has_its_turn)
      << "it cannot take this one alone";
  freed(kOne, "2");
  ASSERT_TRUE(take_as(kTwo, {"1", "2"}, "W2"));
  EXPECT_EQ(in_line("1"), (Ids{"W3"}));
  EXPECT_EQ(in_line("2"), (Ids{"W3"}));
}

TEST_F(Waiting, WhoLostOnePlaceOfSeveralBeginsAnewInAll) {
  taken(kOne, "1", 6000);
  taken(kOne, "2", 6000);
  ASSERT_TRUE(join_line(waiting(kTwo, {"1", "2"}, "W2")));
  ASSERT_TRUE(join_line(waiting(kThree, {"1", "2"}, "W3")));
  applied(Result<Decision<std::monostate>>(leave(board_, {"W2"}, {item("2")}, "passed over")));
  ASSERT_TRUE(join_line(waiting(kTwo, {"1", "2"}, "W2")));
  EXPECT_EQ(in_line("1"), (Ids{"W3", "W2"}));
  EXPECT_EQ(in_line("2"), (Ids{"W3", "W2"})) << "else each would wait for the other";
}

TEST_F(Waiting, ALineHasAnEnd) {
  taken(kOne, "1");
  for (std::size_t i = 0; i < kWaitersMax; ++i)
    stands(someone("agent:w" + std::to_string(i)), "1", "W" + std::to_string(i));
  const Result<Joined> refused = join_line(waiting(kTwo, {"1"}, "one too many"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::refused);
  EXPECT_TRUE(contains(refused.error().message, "128 wait in line for item:1 already"));
  stands(someone("agent:w5"), "1", "W5");
  EXPECT_EQ(in_line("1").size(), kWaitersMax) << "a sign of life needs no new place";
  EXPECT_LT(to_json(board_.line(item("1").key())).size(), kRecordBytesMax);
}

TEST_F(Waiting, SaysHowManyComeFirstAndWhenSomethingEndsByItself) {
  taken(kOne, "1", 60);
  stands(kTwo, "1", "W2");
  pass(1000);
  stands(kThree, "1", "W3");
  const Outlook seen = outlook(board_, {item("1")}, {"W3"}, policy_);
  EXPECT_EQ(seen.ahead, 1U);
  EXPECT_EQ(seen.lapse_ms, 59'000);
  EXPECT_FALSE(seen.has_its_turn) << "it is held";
}

// --- upgrades ---

TEST_F(Waiting, AnUpgradeWaitsForTheOtherReadersBeforeAllWhoHoldNothing) {
  const Lease mine = taken_shared(kOne, "1");
  taken_shared(kTwo, "1");
  stands(kThree, "1", "W3", 0);
  WaitRequest wait = waiting(kOne, {"1"}, "up");
  wait.upgrades = mine.id;
  ASSERT_TRUE(join_line(wait));
  EXPECT_EQ(in_line("1"), (Ids{"up", "W3"}));
  EXPECT_EQ(kind(applied(upgrade(board_, kOne, mine.id, policy_, {.id = WaitId{"up"}}))),
            ErrorKind::held);
  freed(kTwo, "1");
  ASSERT_TRUE(applied(upgrade(board_, kOne, mine.id, policy_, {.id = WaitId{"up"}})));
  EXPECT_EQ(in_line("1"), (Ids{"W3"}));
}

TEST_F(Waiting, OfTwoReadersWhoUpgradeOneGivesWayAtOnce) {
  const Lease one = taken_shared(kOne, "1");
  pass(kMinute);
  const Lease two = taken_shared(kTwo, "1");
  WaitRequest first = waiting(kOne, {"1"}, "up1");
  first.upgrades = one.id;
  ASSERT_TRUE(join_line(first));
  WaitRequest second = waiting(kTwo, {"1"}, "up2");
  second.upgrades = two.id;
  const Result<Joined> joined = join_line(second);
  ASSERT_TRUE(joined);
  EXPECT_TRUE(joined->must_give_way) << "it has held for less";
  EXPECT_EQ(in_line("1"), (Ids{"up1"}));
}

TEST_F(Waiting, AnUpgradeThatIsToldToGiveWayDoes) {
  const Lease two = taken_shared(kTwo, "1");
  pass(kMinute);
  const Lease one = taken_shared(kOne, "1");
  WaitRequest first = waiting(kOne, {"1"}, "up1");
  first.upgrades = one.id;
  ASSERT_TRUE(join_line(first));
  WaitRequest second = waiting(kTwo, {"1"}, "up2");
  second.upgrades = two.id;
  ASSERT_FALSE(join_line(second)->must_give_way);
  EXPECT_EQ(kind(applied(upgrade(board_, kOne, one.id, policy_, {.id = WaitId{"up1"}}))),
            ErrorKind::deadlock_victim);
}

// --- deadlocks ---

TEST_F(Waiting, AWaitThatWouldCloseACircleDoesNotBegin) {
  taken(kOne, "1");
  pass(kMinute);
  taken(kTwo, "2");
  stands(kOne, "2", "W1");
  const Result<Joined> joined = join_line(waiting(kTwo, {"1"}, "W2"));
  ASSERT_TRUE(joined);
  EXPECT_TRUE(joined->must_give_way);
  ASSERT_EQ(joined->deadlocks.size(), 1U);
  EXPECT_EQ(joined->deadlocks[0].victim, kTwo.session);
  EXPECT_TRUE(in_line("1").empty());
  EXPECT_EQ(on("2").size(), 1U) << "it keeps what it holds";
}

TEST_F(Waiting, WhoWaitsAlreadyMayBeTheOneToGiveWay) {
  taken(kTwo, "2");
  pass(kMinute);
  taken(kOne, "1");
  stands(kOne, "2", "W1");
  const Result<Joined> joined = join_line(waiting(kTwo, {"1"}, "W2"));
  ASSERT_TRUE(joined);
  EXPECT_FALSE(joined->must_give_way);
  EXPECT_EQ(in_line("1"), (Ids{"W2"}));
  const Result<Grants> told = take_as(kOne, {"2"}, "W1");
  ASSERT_EQ(kind(told), ErrorKind::deadlock_victim);
  EXPECT_TRUE(contains(told.error().message, "agent:two@wt:00000001 waits for item:1"))
      << told.error().message;
  EXPECT_TRUE(waits_on(board_, policy_).size() == 1U) << "who gives way waits no more";
}

TEST_F(Waiting, WhoWasToldOnceKeepsHearingWhyFirst) {
  taken(kTwo, "2");
  taken(kThree, "3");
  pass(kMinute);
  taken(kOne, "1");
  stands(kOne, "2", "W1");
  ASSERT_TRUE(join_line(waiting(kTwo, {"1"}, "W2")));
  ASSERT_EQ(kind(take_as(kOne, {"2"}, "W1")), ErrorKind::deadlock_victim);
  stands(kOne, "3", "W1-again");
  ASSERT_TRUE(join_line(waiting(kThree, {"1"}, "W3")));
  const Result<Grants> first = take_as(kOne, {"2"}, "W1");
  ASSERT_EQ(kind(first), ErrorKind::deadlock_victim);
  EXPECT_TRUE(contains(first.error().message, "waits for item:2")) << first.error().message;
  EXPECT_EQ(kind(take_as(kOne, {"3"}, "W1-again")), ErrorKind::deadlock_victim);
}

TEST_F(Waiting, AndLosesWhatItHoldsIfThatIsAskedFor) {
  taken(kTwo, "2");
  pass(kMinute);
  taken(kOne, "1");
  taken(kOne, "other");
  stands(kOne, "2", "W1");
  WaitRequest wait = waiting(kTwo, {"1"}, "W2");
  wait.resolve = Resolve::evict;
  const Result<Joined> joined = join_line(wait);
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->evicted.size(), 1U);
  EXPECT_EQ(joined->evicted[0].resource, item("1").key());
  EXPECT_TRUE(on("1").empty());
  EXPECT_EQ(on("other").size(), 1U) << "nobody in the circle waits for that";
  EXPECT_TRUE(take_as(kTwo, {"1"}, "W2"));
}

TEST_F(Waiting, AndWhoReadsBesideItKeepsItsLease) {
  taken(kTwo, "2");
  pass(kMinute);
  taken_shared(kOne, "1");
  taken_shared(kThree, "1");
  stands(kOne, "2", "W1");
  WaitRequest wait = waiting(kTwo, {"1"}, "W2");
  wait.resolve = Resolve::evict;
  const Result<Joined> joined = join_line(wait);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->evicted.size(), 1U);
  ASSERT_EQ(on("1").size(), 1U);
  EXPECT_EQ(on("1")[0].session, kThree.session);
}

// A circle that a hand-over closed is found by a sign of life of one who stands in line already.
TEST_F(Waiting, WhoGivesWayLosesThePlaceItHad) {
  taken(kOne, "1");
  pass(kMinute);
  taken(kThree, "2");
  stands(kTwo, "1", "W2");
  stands(kOne, "2", "W1");
  ASSERT_TRUE(applied(
      transfer(board_, {.who = kThree, .lease = item("2"), .to = kTwo, .new_id = {"L-new"}})));
  const Result<Joined> again = join_line(waiting(kTwo, {"1"}, "W2"));
  ASSERT_TRUE(again && again->must_give_way);
  EXPECT_EQ(ops(), (Ops{Op::leave}));
  EXPECT_TRUE(in_line("1").empty());
  EXPECT_TRUE(deadlocks_on(board_, policy_).empty());
}

// A wait that a lost remote left behind goes on standing there, beside a new one.
TEST_F(Waiting, WhoGivesWayDoesSoInItsOtherWaits) {
  taken(kThree, "1");
  taken(kThree, "2");
  ASSERT_TRUE(join_line(waiting(kOne, {"0", "2"}, "left")));
  stands(kOne, "1", "W1");
  stands(kTwo, "0", "W2");
  ASSERT_TRUE(applied(
      transfer(board_, {.who = kThree, .lease = item("2"), .to = kTwo, .new_id = {"L-new"}})));
  pass(kMinute);
  ASSERT_EQ(deadlocks_on(board_, policy_).size(), 1U);
  const Result<Joined> again = join_line(waiting(kOne, {"1"}, "W1"));
  ASSERT_TRUE(again && again->must_give_way);
  EXPECT_TRUE(deadlocks_on(board_, policy_).empty());
  EXPECT_TRUE(take_as(kTwo, {"0"}, "W2")) << "nobody comes before it any more";
}

TEST_F(Waiting, WhoHasPartOfItAlreadyLeavesAllLines) {
  taken(kOne, "1");
  taken(kTwo, "2");
  ASSERT_TRUE(join_line(waiting(kOne, {"1", "2"}, "W1")));
  freed(kTwo, "2");
  ASSERT_TRUE(take_as(kOne, {"1", "2"}, "W1"));
  EXPECT_TRUE(in_line("1").empty());
  EXPECT_TRUE(in_line("2").empty());
}

TEST_F(Waiting, WhoHasAllOfItAlreadyLeavesTheLine) {
  taken(kTwo, "1");
  stands(kOne, "1", "W1");
  ASSERT_TRUE(applied(
      transfer(board_, {.who = kTwo, .lease = item("1"), .to = kOne, .new_id = {"L-new"}})));
  const Result<Grants> grants = take_as(kOne, {"1"}, "W1");
  ASSERT_TRUE(grants && grants->front().already_held);
  EXPECT_TRUE(in_line("1").empty());
}

TEST_F(Waiting, WhoHasTheUpgradeAlreadyLeavesTheLine) {
  const Lease one = taken_shared(kOne, "1");
  const Lease two = taken_shared(kTwo, "1");
  WaitRequest wait = waiting(kOne, {"1"}, "up1");
  wait.upgrades = one.id;
  ASSERT_TRUE(join_line(wait));
  ASSERT_TRUE(applied(release(board_, kTwo, two.id)));
  ASSERT_TRUE(applied(upgrade(board_, kOne, one.id, policy_, {.id = WaitId{"up1"}})));
  ASSERT_TRUE(join_line(wait));
  ASSERT_TRUE(applied(upgrade(board_, kOne, one.id, policy_, {.id = WaitId{"up1"}})));
  EXPECT_TRUE(in_line("1").empty());
}

TEST_F(Waiting, WhoAsksForItMayLoseItsOwn) {
  taken(kOne, "1");
  pass(kMinute);
  taken(kTwo, "2");
  stands(kOne, "2", "W1");
  WaitRequest wait = waiting(kTwo, {"1"}, "W2");
  wait.resolve = Resolve::evict;
  const Result<Joined> joined = join_line(wait);
  ASSERT_TRUE(joined && joined->must_give_way);
  EXPECT_TRUE(on("2").empty());
  EXPECT_EQ(ops(), (Ops{Op::force_evict}));
  EXPECT_TRUE(take_as(kOne, {"2"}, "W1"));
}

TEST_F(Waiting, AllWhoBeginToWaitShareAGuard) {
  taken(kOne, "1");
  taken(kOne, "2");
  const Result<Decision<Joined>> one = join(board_, waiting(kTwo, {"1"}, "W2"));
  const Result<Decision<Joined>> other = join(board_, waiting(kThree, {"2"}, "W3"));
  ASSERT_TRUE(one && other);
  for (const auto& decision : {one, other}) {
    EXPECT_EQ(std::ranges::count(decision->changes.writes, waits_guard(), &Write::key), 1)
        << "or two could close a circle without either seeing it";
  }
}

}  // namespace
}  // namespace dibs
