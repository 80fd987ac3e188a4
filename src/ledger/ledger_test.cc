// The read–decide–commit loop, on a store that answers as a test says, and what the ledger
// concludes about processes.
#include "ledger/ledger.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "base/text.h"
#include "rules/line.h"
#include "store/memory.h"
#include "testing/fake_clock.h"
#include "testing/fake_machine.h"
#include "testing/seeded_random.h"

namespace dibs {
namespace {

/// A memory store whose next answers can be changed.
class ScriptedStore final : public Store {
 public:
  explicit ScriptedStore(Clock& clock) : store_(clock) {}

  /// What happens to one commit before it reaches the store, and what is said about it.
  using Script = std::function<Result<Outcome>(const Transaction&)>;
  void next_commit(Script script) { scripts_.push_back(std::move(script)); }
  void fail_reads_after(int answered) { reads_left_ = answered; }

  Result<View> read(const Selection& selection) override {
    ++reads;
    if (reads_left_ == 0) return fail(ErrorKind::unreachable, "no answer");
    if (reads_left_ > 0) --reads_left_;
    Result<View> view = store_.read(selection);
    if (of_many_machines) view->now.boot = {};
    if (of_many_machines) view->one_machine = false;
    for (Record& record : view->records) {
      if (restated.contains(record.key)) record.nonce = restated.at(record.key);
    }
    return view;
  }
  Result<Outcome> commit(const Transaction& transaction) override {
    ++commits;
    if (scripts_.empty()) return store_.commit(transaction);
    const Script script = std::move(scripts_.front());
    scripts_.pop_front();
    return script(transaction);
  }
  Result<Cursor> wait(Cursor since, std::int64_t most_ms) override {
    return store_.wait(since, most_ms);
  }
  Result<History> history(const HistoryQuery& query) override {
    if (history_fails) return fail(ErrorKind::unreachable, "no answer");
    return store_.history(query);
  }
  Promises promises() const override { return store_.promises(); }
  Store& inner() { return store_; }

  int reads = 0;
  int commits = 0;
  bool history_fails = false;
  bool of_many_machines = false;
  // Records that a later change wrote again as they were: its nonce, and their own fence.
  std::map<Key, Nonce> restated;

 private:
  MemoryStore store_;
  std::deque<Script> scripts_;
  int reads_left_ = -1;
};

class LedgerTest : public testing::Test {
 protected:
  static Claimant who(const std::string& name) {
    return {.agent = {"agent:" + name}, .session = {"agent:" + name + "@wt:1"}};
  }
  AcquireRequest request(const Claimant& claimant, std::int64_t ttl_secs = 600) {
    return {.who = claimant,
            .resources = {{.kind = ResourceKind::item, .name = "1"}},
            .new_ids = {random_.lease_id(clock_.now().unix_ms)},
            .mode = Mode::exclusive,
            .ttl_secs = ttl_secs,
            .takeover = Takeover::ended_only,
            .reason = {},
            .policy = {}};
  }
  Result<Ledger::Settled<Grants>> take(const AcquireRequest& asked) {
    return ledger_.settle<Grants>(Selection::of({{"item:1"}}),
                                  [&](const Board& board) { return acquire(board, asked); });
  }
  Result<Ledger::Settled<Grants>> give_back(const Claimant& claimant) {
    return ledger_.settle<Grants>(Selection::of({{"item:1"}}), [&](const Board& board) {
      return release(board, claimant, Resource{.kind = ResourceKind::item, .name = "1"});
    });
  }
  Outcome commit_for_real(const Transaction& transaction) {
    return *store_.inner().commit(transaction);
  }

  FakeClock clock_;
  SeededRandom random_{1};
  FakeMachine machine_;
  ScriptedStore store_{clock_};
  // What happened in the store since entry `seq`.
  std::vector<Event> events_since(std::uint64_t seq) {
    std::vector<Event> events;
    const History history = *store_.inner().history({.since = {seq}});
    for (const PastEvent& past : history.events) events.push_back(past.event);
    return events;
  }

  Ledger ledger_{store_, clock_, random_, machine_};
};

const auto kLose = [](const Transaction&) -> Result<Outcome> { return LostRace{}; };

TEST_F(LedgerTest, CommitsWhatTheRuleDecidedAndTellsTheFence) {
  const auto settled = take(request(who("a")));
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->fence, Fence{1});
  ASSERT_EQ(events_since(0).size(), 1U);
  EXPECT_EQ(events_since(0)[0].op, Op::acquire);
}

TEST_F(LedgerTest, WritesNothingWhenThereIsNothingToWrite) {
  ASSERT_TRUE(take(request(who("a"))));
  const auto again = take(request(who("a")));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->fence);
  EXPECT_TRUE(again->reply.front().already_held);
  EXPECT_EQ(store_.inner().read(Selection{})->cursor, Cursor{1}) << "confirmed, and not written";
  EXPECT_TRUE(events_since(1).empty());
}

TEST_F(LedgerTest, ConfirmsThatWhatItRepeatsIsStillSo) {
  ASSERT_TRUE(take(request(who("a"))));
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    EXPECT_TRUE(transaction.writes.empty());
    Ledger other(store_.inner(), clock_, random_, machine_);
    EXPECT_TRUE(other.settle<Grants>(Selection::of({{"item:1"}}), [&](const Board& board) {
      return force_evict(board, {"human:b"}, Resource{.kind = ResourceKind::item, .name = "1"},
                         "r");
    }));
    return commit_for_real(transaction);
  });
  const auto again = take(request(who("a")));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->reply.front().already_held) << "it had been taken away in between";
  EXPECT_EQ(again->fence, Fence{3});
}

TEST_F(LedgerTest, RefsThatMovedAreTheCallersToPrepareAgain) {
  ASSERT_TRUE(take(request(who("a"))));
  store_.reads = store_.commits = 0;
  store_.next_commit(
      [](const Transaction&) -> Result<Outcome> { return RefsMoved{"main is elsewhere"}; });
  const Landing landing{.target = "main",
                        .commit = "new",
                        .work = "work",
                        .refs = {{.name = "refs/heads/main", .from = "old", .to = "new"}}};
  const auto settled = ledger_.settle<Grants>(Selection::of({{"item:1"}}), [&](const Board& board) {
    const Resource item{.kind = ResourceKind::item, .name = "1"};
    return land(board, who("a"), item, landing);
  });
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().kind, ErrorKind::contended);
  EXPECT_TRUE(contains(settled.error().message, "main is elsewhere"));
  EXPECT_EQ(store_.commits, 1) << "the same commit would be turned down again";
  EXPECT_EQ(ledger_.look(Selection::of({{"item:1"}}))->seat({"item:1"}).holding.leases.size(), 1U);
}

TEST_F(LedgerTest, ReadsAndDecidesAgainAfterALostRace) {
  store_.next_commit(kLose);
  ASSERT_TRUE(take(request(who("a"))));
  EXPECT_EQ(store_.reads, 2);
  EXPECT_EQ(clock_.slept_ms(), 0) << "the first time at once";
}

TEST_F(LedgerTest, RefusesWhenTheOtherWonTheRace) {
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    const Claimant other = who("b");
    Ledger theirs(store_.inner(), clock_, random_, machine_);
    const AcquireRequest asked = request(other);
    EXPECT_TRUE(theirs.settle<Grants>(Selection::of({{"item:1"}}),
                                      [&](const Board& board) { return acquire(board, asked); }));
    return commit_for_real(transaction);
  });
  const auto refused = take(request(who("a")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::held);
  EXPECT_TRUE(contains(refused.error().message, "agent:b"));
}

TEST_F(LedgerTest, PausesLongerAndLongerAndGivesUpAsContended) {
  for (int i = 0; i < 100; ++i) store_.next_commit(kLose);
  const auto refused = take(request(who("a")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::contended);
  EXPECT_EQ(store_.commits, 16);
  EXPECT_GT(clock_.slept_ms(), 0);
  EXPECT_LE(clock_.slept_ms(), 14 * 500);
  EXPECT_TRUE(events_since(0).empty());
}

TEST_F(LedgerTest, FindsOutThatAnUnknownCommitHappened) {
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    (void)commit_for_real(transaction);
    return OutcomeUnknown{"the line went dead"};
  });
  const auto settled = take(request(who("a")));
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->fence, Fence{1});
  EXPECT_EQ(store_.commits, 1);
  EXPECT_EQ(events_since(0).size(), 1U);
}

// A store on a git remote writes again what a change only expects.
TEST_F(LedgerTest, TellsTheFenceOfAnUnknownCommitAndNotOfWhatItOnlyExpected) {
  ASSERT_TRUE(take(request(who("a"))));
  AcquireRequest both = request(who("a"));
  both.resources.push_back({.kind = ResourceKind::item, .name = "2"});
  both.new_ids.push_back(random_.lease_id(clock_.now().unix_ms));
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    (void)commit_for_real(transaction);
    store_.restated[{"item:1"}] = transaction.nonce;
    return OutcomeUnknown{"the line went dead"};
  });
  const auto settled =
      ledger_.settle<Grants>(Selection::of({{"item:1"}, {"item:2"}}),
                             [&](const Board& board) { return acquire(board, both); });
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->fence, Fence{2});
}

TEST_F(LedgerTest, TriesAgainWhenAnUnknownCommitDidNotHappen) {
  store_.next_commit(
      [](const Transaction&) -> Result<Outcome> { return OutcomeUnknown{"the line went dead"}; });
  const auto settled = take(request(who("a")));
  ASSERT_TRUE(settled);
  EXPECT_EQ(store_.commits, 2);
}

TEST_F(LedgerTest, NeverCallsAnUnknownOutcomeSuccessWhenItCannotLook) {
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    (void)commit_for_real(transaction);
    return OutcomeUnknown{"the line went dead"};
  });
  store_.fail_reads_after(1);
  const auto settled = take(request(who("a")));
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().kind, ErrorKind::unreachable);
  EXPECT_TRUE(contains(settled.error().message, "not known")) << settled.error().message;
}

TEST_F(LedgerTest, NeverTakesAnothersWriteForItsOwnUnknownOne) {
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    Transaction theirs = transaction;
    theirs.nonce = random_.nonce();
    (void)commit_for_real(theirs);
    return OutcomeUnknown{"the line went dead"};
  });
  const auto settled = take(request(who("a")));
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().kind, ErrorKind::unreachable);
}

TEST_F(LedgerTest, FindsOutThatAnUnknownReleaseHappened) {
  ASSERT_TRUE(take(request(who("a"))));
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    (void)commit_for_real(transaction);
    return OutcomeUnknown{"the line went dead"};
  });
  const auto settled = give_back(who("a"));
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->fence, Fence{2});
}

TEST_F(LedgerTest, NeverTakesAnothersRemovalForItsOwnRelease) {
  ASSERT_TRUE(take(request(who("a"))));
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    Transaction theirs = transaction;
    theirs.nonce = random_.nonce();
    (void)commit_for_real(theirs);
    return OutcomeUnknown{"the line went dead"};
  });
  const auto settled = give_back(who("a"));
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().kind, ErrorKind::unreachable);
}

TEST_F(LedgerTest, NeverCallsAnUnknownReleaseDoneWhenItCannotLookItUp) {
  ASSERT_TRUE(take(request(who("a"))));
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    (void)commit_for_real(transaction);
    return OutcomeUnknown{"the line went dead"};
  });
  store_.history_fails = true;
  EXPECT_EQ(give_back(who("a")).error().kind, ErrorKind::unreachable);
}

TEST_F(LedgerTest, GivesUpSoonOnAStoreThatNeverSaysWhatHappened) {
  for (int i = 0; i < 3; ++i) {
    store_.next_commit(
        [](const Transaction&) -> Result<Outcome> { return OutcomeUnknown{"the line went dead"}; });
  }
  const auto settled = take(request(who("a")));
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().kind, ErrorKind::unreachable);
  EXPECT_EQ(store_.commits, 3);
}

TEST_F(LedgerTest, PassesOnThatTheStoreCannotBeReached) {
  store_.fail_reads_after(0);
  EXPECT_EQ(take(request(who("a"))).error().kind, ErrorKind::unreachable);
  EXPECT_EQ(ledger_.look(Selection::everything()).error().kind, ErrorKind::unreachable);
}

TEST_F(LedgerTest, RefusesToGuessAboutARecordItCannotRead) {
  (void)commit_for_real({.nonce = random_.nonce(),
                         .expectations = {},
                         .writes = {{.key = {"item:1"}, .value = R"({"leases":[{"mode":"odd"}]})"}},
                         .events = {}});
  const auto refused = take(request(who("a")));
  ASSERT_FALSE(refused) << "unreadable is not free";
  EXPECT_EQ(refused.error().hint, "run: dibs doctor");
}

TEST_F(LedgerTest, RefusesToGuessAboutALineItCannotRead) {
  const Key line = line_key({"item:1"});
  (void)commit_for_real({.nonce = random_.nonce(),
                         .expectations = {},
                         .writes = {{.key = line, .value = R"({"waiters":"many"})"}},
                         .events = {}});
  EXPECT_EQ(ledger_.look(Selection::of({line})).error().hint, "run: dibs doctor");
}

TEST_F(LedgerTest, ConfirmsWhatIsThereWithoutAChange) {
  ASSERT_TRUE(take(request(who("a"))));
  store_.next_commit([&](const Transaction& transaction) -> Result<Outcome> {
    EXPECT_TRUE(transaction.writes.empty());
    return commit_for_real(transaction);
  });
  EXPECT_TRUE(ledger_.confirm({"item:1"}));
  store_.next_commit([](const Transaction&) -> Result<Outcome> {
    return fail(ErrorKind::unreachable, "the disk refused to flush");
  });
  EXPECT_EQ(ledger_.confirm({"item:1"}).error().kind, ErrorKind::unreachable);
}

TEST_F(LedgerTest, PassesNothingOnThatIsTooLargeForAStore) {
  const auto settle = [&](std::size_t writes, std::size_t bytes) {
    return ledger_.settle<int>({}, [&](const Board&) -> Result<Decision<int>> {
      Decision<int> decision;
      for (std::size_t i = 0; i < writes; ++i)
        decision.changes.writes.push_back(
            {.key = {"item:" + std::to_string(i)}, .value = std::string(bytes, '1')});
      return decision;
    });
  };
  EXPECT_EQ(settle(kTransactionWritesMax + 1, 1).error().kind, ErrorKind::refused);
  EXPECT_EQ(settle(1, kRecordBytesMax + 1).error().kind, ErrorKind::refused);
  EXPECT_EQ(store_.commits, 0);
  EXPECT_TRUE(settle(kTransactionWritesMax, 1));
  EXPECT_TRUE(settle(1, kRecordBytesMax));
}

// --- processes ---

class ProcessTies : public LedgerTest {
 protected:
  Claimant tied(const std::string& name, std::int64_t pid, std::uint64_t ticks) {
    machine_.start(pid, ticks);
    Claimant claimant = who(name);
    claimant.process = ProcessTie{.host = machine_.host_name(),
                                  .boot = clock_.now().boot,
                                  .pid_namespace = machine_.pid_namespace(),
                                  .pid = pid,
                                  .start_ticks = ticks};
    return claimant;
  }
  // Whether another gets in, and why.
  std::string reason_for_takeover() {
    const std::uint64_t before = store_.inner().read(Selection{})->cursor.seq;
    const auto taken = take(request(who("b")));
    return taken ? events_since(before).front().reason : "";
  }
};

TEST_F(ProcessTies, KeepALeaseWhileTheProcessRuns) {
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  EXPECT_EQ(reason_for_takeover(), "");
}

TEST_F(ProcessTies, EndALeaseWithTheProcess) {
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  machine_.end(42);
  EXPECT_EQ(reason_for_takeover(), "process 42 is gone");
}

TEST_F(ProcessTies, EndALeaseWhoseProcessIsAZombie) {
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  machine_.leave_zombie(42);
  EXPECT_EQ(reason_for_takeover(), "process 42 is gone");
}

TEST_F(ProcessTies, AreNotFooledByAReusedPid) {
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  machine_.end(42);
  machine_.start(42, 2000);
  EXPECT_EQ(reason_for_takeover(), "process 42 is gone");
}

TEST_F(ProcessTies, OfAnotherNamespaceAreNotJudged) {
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  machine_.end(42);
  machine_.set_pid_namespace(7);
  EXPECT_EQ(reason_for_takeover(), "");
  clock_.advance_ms(600'000);
  EXPECT_NE(reason_for_takeover(), "") << "it still ends by its ttl";
}

TEST_F(ProcessTies, WithoutAKnownNamespaceAreNotJudged) {
  Claimant claimant = tied("a", 42, 1000);
  claimant.process->pid_namespace = 0;
  ASSERT_TRUE(take(request(claimant)));
  machine_.end(42);
  machine_.set_pid_namespace(0);
  EXPECT_EQ(reason_for_takeover(), "");
}

TEST_F(ProcessTies, ThatTheSystemHidesCountAsRunning) {
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  machine_.hide(42);
  EXPECT_EQ(reason_for_takeover(), "");
}

TEST_F(ProcessTies, EndWithTheBootEvenIfThePidRunsAgain) {
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  clock_.reboot();
  machine_.reboot(clock_.now().boot);
  machine_.start(42, 1000);
  EXPECT_TRUE(contains(reason_for_takeover(), "restarted"));
}

TEST_F(ProcessTies, ToNoneSurviveARebootUntilTheWallClockEndsThem) {
  ASSERT_TRUE(take(request(who("a"), 600)));
  clock_.reboot(300'000);
  EXPECT_EQ(reason_for_takeover(), "");
  clock_.advance_ms(300'000);
  EXPECT_TRUE(contains(reason_for_takeover(), "expired"));
}

TEST_F(ProcessTies, OfADeadHolderLetItDoNothingMore) {
  const Claimant holder = tied("a", 42, 1000);
  ASSERT_TRUE(take(request(holder)));
  machine_.end(42);
  EXPECT_EQ(give_back(holder).error().kind, ErrorKind::lease_lost);
}

TEST_F(ProcessTies, OnAStoreOfManyMachinesAreJudgedByTheirOwn) {
  store_.of_many_machines = true;
  ASSERT_TRUE(take(request(tied("a", 42, 1000))));
  machine_.end(42);
  machine_.reboot({"of another machine"});
  EXPECT_EQ(reason_for_takeover(), "");
  machine_.reboot({});
  EXPECT_EQ(reason_for_takeover(), "") << "it does not know which one it is";
  machine_.reboot(clock_.now().boot);
  EXPECT_EQ(reason_for_takeover(), "process 42 is gone");
}

TEST_F(ProcessTies, OfThoseWhoWaitEndTheirPlaces) {
  const Key line = line_key({"item:1"});
  const auto stands = [&](const Claimant& claimant, const std::string& id) {
    const WaitRequest wait{.who = claimant,
                           .resources = {{.kind = ResourceKind::item, .name = "1"}},
                           .id = {id},
                           .sign_of_life_ms = 600'000,
                           .policy = {}};
    EXPECT_TRUE(ledger_.settle<Joined>(Selection::of({{"item:1"}, line, waits_guard()}),
                                       [&](const Board& board) { return join(board, wait); }));
  };
  stands(tied("b", 42, 1000), "W1");
  stands(tied("c", 43, 1000), "W2");
  stands(who("d"), "W3");
  machine_.end(42);
  const Result<Board> board = ledger_.look(Selection::of({line}));
  ASSERT_TRUE(board);
  ASSERT_EQ(board->line({"item:1"}).waiters.size(), 3U);
  EXPECT_EQ(board->gone_waiters.size(), 1U);
  EXPECT_TRUE(board->gone_waiters.contains({"W1"}));
}

}  // namespace
}  // namespace dibs
