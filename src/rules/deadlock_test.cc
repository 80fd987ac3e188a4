#include "rules/deadlock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rules/claim_fixture.h"
#include "rules/line.h"

namespace dibs {
namespace {

/// Boards with leases and waits put there by hand, as no rule would have let them come about.
class Deadlocks : public Rules {
 protected:
  void waits(const Claimant& who, const std::string& name, Mode mode = Mode::exclusive,
             int priority = kWaitPriorityDefault) {
    Waiter waiter;
    waiter.id = {"W" + std::to_string(++waits_)};
    waiter.agent = who.agent;
    waiter.session = who.session;
    waiter.mode = mode;
    waiter.priority = priority;
    waiter.until = later_by(board_.now, 3'600'000);
    board_.seats[line_key(item(name).key())].line.waiters.push_back(waiter);
  }
  std::vector<std::string> victims() {
    std::vector<std::string> all;
    for (const Deadlock& deadlock : deadlocks_on(board_, policy_))
      all.push_back(deadlock.victim.text);
    return all;
  }

  int waits_ = 0;
};

using Sessions = std::vector<std::string>;

TEST_F(Deadlocks, ThereAreNoneWhereNobodyWaits) {
  taken(kOne, "1");
  EXPECT_TRUE(waits_on(board_, policy_).empty());
  EXPECT_TRUE(deadlocks_on(board_, policy_).empty());
}

TEST_F(Deadlocks, AChainOfWaitsIsNone) {
  taken(kOne, "1");
  taken(kTwo, "2");
  waits(kTwo, "1");
  waits(kThree, "2");
  EXPECT_EQ(waits_on(board_, policy_).size(), 2U);
  EXPECT_TRUE(deadlocks_on(board_, policy_).empty());
}

TEST_F(Deadlocks, ACircleIsOneAndIsToldInWords) {
  taken(kOne, "1");
  taken(kTwo, "2");
  waits(kOne, "2");
  waits(kTwo, "1");
  const std::vector<Deadlock> found = deadlocks_on(board_, policy_);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].ring.size(), 2U);
  EXPECT_EQ(in_words(found[0]),
            "agent:two@wt:00000001 waits for item:1, which agent:one@wt:00000001 holds; "
            "agent:one@wt:00000001 waits for item:2, which agent:two@wt:00000001 holds");
}

TEST_F(Deadlocks, AReaderBehindAWriterWaitsForTheWriter) {
  // Two reads 1; one wants to write it; three, who holds 2, wants to read it too and is behind one.
  taken_shared(kTwo, "1");
  taken(kThree, "2");
  waits(kOne, "1");
  waits(kThree, "1", Mode::shared);
  EXPECT_TRUE(deadlocks_on(board_, policy_).empty());
  waits(kTwo, "2");
  const std::vector<Deadlock> found = deadlocks_on(board_, policy_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].ring.size(), 3U);
}

TEST_F(Deadlocks, WhatHasEndedBlocksNobody) {
  taken(kOne, "1", 60);
  taken(kTwo, "2", 6000);
  waits(kOne, "2");
  waits(kTwo, "1");
  EXPECT_EQ(deadlocks_on(board_, policy_).size(), 1U);
  pass(kMinute);
  EXPECT_TRUE(deadlocks_on(board_, policy_).empty());
}

TEST_F(Deadlocks, WhoHasHeldTheLeastGivesWay) {
  taken(kOne, "1", 6000);
  pass(2 * kMinute);
  taken(kTwo, "2", 6000);
  pass(2 * kMinute);
  waits(kOne, "2", Mode::exclusive, 4);
  waits(kTwo, "1", Mode::exclusive, 0);
  EXPECT_EQ(victims(), (Sessions{kTwo.session.text})) << "however urgent";
}

TEST_F(Deadlocks, ThenTheLessUrgentThenWhoStartedLast) {
  taken(kOne, "1");
  pass(10);
  taken(kTwo, "2");
  waits(kOne, "2", Mode::exclusive, 3);
  waits(kTwo, "1");
  EXPECT_EQ(victims(), (Sessions{kOne.session.text}));
  board_.seats[line_key(item("2").key())].line.waiters[0].priority = kWaitPriorityDefault;
  EXPECT_EQ(victims(), (Sessions{kTwo.session.text}));
}

TEST_F(Deadlocks, CirclesApartAreOneEach) {
  for (const char* group : {"a", "b"}) {
    const Claimant one = someone(std::string("agent:one-") + group);
    const Claimant two = someone(std::string("agent:two-") + group);
    taken(one, std::string("1") + group);
    taken(two, std::string("2") + group);
    waits(one, std::string("2") + group);
    waits(two, std::string("1") + group);
  }
  EXPECT_EQ(deadlocks_on(board_, policy_).size(), 2U);
}

// --- random programs that take one thing after the other and hold on to all of them ---

/// Whether anyone can go on, worked out in another way than by looking for circles: whoever is
/// blocked by nobody, or only by such as can go on, can go on.
std::set<SessionId> stuck(const std::vector<Wait>& all) {
  std::set<SessionId> waiting;
  for (const Wait& wait : all) waiting.insert(wait.session);
  for (bool changed = true; changed;) {
    changed = false;
    for (const SessionId& session : std::set<SessionId>(waiting)) {
      const bool blocked = std::ranges::any_of(all, [&](const Wait& wait) {
        return wait.session == session && waiting.contains(wait.blocker);
      });
      if (!blocked) changed = waiting.erase(session) > 0;
    }
  }
  return waiting;
}

/// Sessions that each want some things, one after the other, and then let go of all.
class Programs : public Rules {
 protected:
  static constexpr int kSessions = 20;
  static constexpr int kResources = 10;
  static constexpr int kStepsMax = 20'000;

  struct Program {
    Claimant who;
    std::vector<std::pair<std::string, Mode>> wants;
    std::size_t at = 0;
    std::optional<WaitId> waits;
    int gave_way = 0;
  };

  std::uint64_t below(std::uint64_t most) {
    chance_ = chance_ * 6364136223846793005U + 1442695040888963407U;
    return (chance_ >> 33U) % most;
  }

  void begin(std::uint64_t seed) {
    chance_ = seed * 2 + 1;
    board_ = {};
    board_.now = {.unix_ms = 1'767'441'600'000, .boot_ms = 1000, .boot = {"boot-1"}};
    programs_.clear();
    for (int i = 0; i < kSessions; ++i) {
      Program program{.who = someone("agent:" + std::to_string(i))};
      std::set<std::string> names;
      const std::uint64_t count = 1 + below(4);
      while (names.size() < count) names.insert(std::to_string(below(kResources)));
      for (const std::string& name : names)
        program.wants.emplace_back(name, below(4) == 0 ? Mode::shared : Mode::exclusive);
      for (std::size_t k = program.wants.size(); k > 1; --k)
        std::swap(program.wants[k - 1], program.wants[below(k)]);
      programs_.push_back(std::move(program));
    }
  }

  void let_go(Program& program) {
    for (std::size_t i = 0; i < program.wants.size(); ++i)
      (void)applied(release(board_, program.who, item(program.wants[i].first)));
  }
  void give_way(Program& program) {
    if (program.waits) {
      const Resource resource = item(program.wants[program.at].first);
      apply(leave(board_, *program.waits, {resource}, "gave way").changes);
      program.waits.reset();
    }
    let_go(program);
    program.at = 0;
    ++program.gave_way;
    ++victims_;
  }

  void step(Program& program) {
    const auto& [name, mode] = program.wants[program.at];
    AcquireRequest asked = request(program.who, {name}, 86'400);
    asked.mode = mode;
    asked.place.id = program.waits;
    const Result<Grants> grants = take(asked);
    if (grants) {
      program.waits.reset();
      ++program.at;
      if (program.at == program.wants.size()) let_go(program);
      return;
    }
    if (grants.error().kind == ErrorKind::deadlock_victim) return give_way(program);
    ASSERT_EQ(grants.error().kind, ErrorKind::held);
    if (program.waits) return;
    WaitRequest wait{.who = program.who,
                     .resources = {item(name)},
                     .id = {"W" + std::to_string(++waits_)},
                     .mode = mode,
                     .priority = static_cast<int>(below(5)),
                     .sign_of_life_ms = 86'400'000,
                     .policy = policy_};
    const Result<Joined> joined = applied(join(board_, wait));
    ASSERT_TRUE(joined);
    for (const Deadlock& deadlock : joined->deadlocks) check_ring(deadlock);
    if (joined->must_give_way) return give_way(program);
    program.waits = wait.id;
  }

  // Every wait in it is a real one: somebody holds it, or is before it in line.
  void check_ring(const Deadlock& deadlock) {
    ASSERT_GE(deadlock.ring.size(), 2U);
    for (std::size_t i = 0; i < deadlock.ring.size(); ++i)
      EXPECT_EQ(deadlock.ring[i].blocker, deadlock.ring[(i + 1) % deadlock.ring.size()].session);
    ++circles_;
  }

  bool all_done() const {
    return std::ranges::all_of(
        programs_, [](const Program& program) { return program.at == program.wants.size(); });
  }

  void run(std::uint64_t seed) {
    begin(seed);
    for (int steps = 0; steps < kStepsMax && !all_done(); ++steps) {
      pass(static_cast<std::int64_t>(below(20'000)));
      Program& program = programs_[below(programs_.size())];
      const std::uint64_t before = seq_;
      if (program.at < program.wants.size()) step(program);
      if (seq_ == before) continue;
      // After every change: nobody is stuck, by whichever way that is worked out.
      const std::vector<Wait> all = waits_on(board_, policy_);
      ASSERT_EQ(stuck(all).empty(), deadlocks_on(board_, policy_).empty()) << "seed " << seed;
      ASSERT_TRUE(stuck(all).empty()) << "seed " << seed << ": a circle went unseen";
    }
    ASSERT_TRUE(all_done()) << "seed " << seed << " does not end";
    for (const auto& [key, seat] : board_.seats) {
      ASSERT_TRUE(seat.holding.leases.empty()) << "seed " << seed << ": " << key.text;
      ASSERT_TRUE(seat.line.waiters.empty()) << "seed " << seed << ": " << key.text;
    }
  }

  std::vector<Program> programs_;
  std::uint64_t chance_ = 1;
  int waits_ = 0;
  int victims_ = 0;
  int circles_ = 0;
};

TEST_F(Programs, AllEndEveryCircleIsFoundAndNoneIsFalse) {
  // Always the same ones; with --gtest_shuffle --gtest_repeat=1000, ten thousand.
  constexpr std::uint64_t kRuns = 10;
  const auto first =
      static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed()) * kRuns;
  for (std::uint64_t seed = first; seed < first + kRuns && !HasFatalFailure(); ++seed) run(seed);
  EXPECT_GT(circles_, 10) << "else it shows nothing";
  EXPECT_GE(victims_, 10);
}

}  // namespace
}  // namespace dibs
