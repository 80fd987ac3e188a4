// What every store promises, as one suite. A store's test names its kinds and is held to all of it:
//
//   #include "testing/store_contract.h"
//   INSTANTIATE_TEST_SUITE_P(Redis, StoreContract, testing::Values(kind), store_kind_name);
//
// Included by one test file of a layer: it defines tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "store/store.h"
#include "testing/property.h"
#include "testing/seeded_random.h"

namespace dibs {

/// One place where a store can be: a directory, a server, a piece of memory.
class StoreSite {
 public:
  virtual ~StoreSite() = default;
  // Another object on the same store, as another process would have it.
  [[nodiscard]] virtual std::unique_ptr<Store> open() = 0;
};

struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<StoreSite>()> make;
  int sequences = 12;  // how many any-sequence cases it gets: fewer where every step is a process
};

inline std::string store_kind_name(const testing::TestParamInfo<StoreKind>& info) {
  return info.param.name;
}

// NOLINTNEXTLINE(readability-identifier-naming): googletest looks for this name
inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

class StoreContract : public testing::TestWithParam<StoreKind> {
 protected:
  StoreContract() : site_(GetParam().make()), store_(site_->open()) {}

  [[nodiscard]] Transaction change(std::vector<Expectation> expectations, std::vector<Write> writes,
                                   std::vector<Event> events = {}) {
    return {.nonce = random_.nonce(),
            .expectations = std::move(expectations),
            .writes = std::move(writes),
            .events = std::move(events),
            .gives_back = false};
  }
  [[nodiscard]] static Outcome commit(Store& store, const Transaction& transaction) {
    const Result<Outcome> outcome = store.commit(transaction);
    if (!outcome) ADD_FAILURE() << outcome.error().message;
    return outcome.value_or(OutcomeUnknown{"error"});
  }
  // Commits what must succeed, and says with which fence.
  Fence put(const std::string& key, const std::optional<std::string>& value,
            std::vector<Event> events = {}) {
    const Outcome outcome =
        commit(*store_, change({}, {{.key = {key}, .value = value}}, std::move(events)));
    const auto* committed = std::get_if<Committed>(&outcome);
    if (committed == nullptr) ADD_FAILURE() << "not committed";
    return committed == nullptr ? Fence{} : committed->fence;
  }
  [[nodiscard]] static std::vector<Record> select(Store& store, const Selection& selection) {
    const Result<View> view = store.read(selection);
    if (!view) ADD_FAILURE() << view.error().message;
    return view ? view->records : std::vector<Record>{};
  }
  [[nodiscard]] static std::optional<Record> get(Store& store, const std::string& key) {
    const std::vector<Record> records = select(store, Selection::of({{key}}));
    return records.empty() ? std::nullopt : std::optional(records.front());
  }
  [[nodiscard]] std::optional<Record> get(const std::string& key) { return get(*store_, key); }
  [[nodiscard]] std::vector<std::string> keys(const Selection& selection) {
    std::vector<std::string> names;
    for (const Record& record : select(*store_, selection)) names.push_back(record.key.text);
    return names;
  }
  [[nodiscard]] static Event event(const std::string& resource, const std::string& lease,
                                   Op op = Op::acquire) {
    Event made;
    made.op = op;
    made.resource = {resource};
    made.lease = {lease};
    made.agent = {"agent:a"};
    made.session = {"agent:a@wt:1"};
    return made;
  }
  [[nodiscard]] History history(const HistoryQuery& query) {
    Result<History> found = store_->history(query);
    if (!found) ADD_FAILURE() << found.error().message;
    return found.value_or(History{});
  }
  [[nodiscard]] std::vector<std::string> leases_in(const HistoryQuery& query) {
    std::vector<std::string> leases;
    for (const PastEvent& past : history(query).events) leases.push_back(past.event.lease.text);
    return leases;
  }
  [[nodiscard]] Cursor cursor() { return store_->read(Selection{})->cursor; }

  std::unique_ptr<StoreSite> site_;
  std::unique_ptr<Store> store_;
  SeededRandom random_{1};
};

using Texts = std::vector<std::string>;

TEST_P(StoreContract, BeginsWithNothing) {
  EXPECT_TRUE(select(*store_, Selection::everything()).empty());
  EXPECT_TRUE(history({}).events.empty());
  EXPECT_EQ(history({}).cursor, cursor());
}

TEST_P(StoreContract, GivesBackWhatWasCommittedWithFenceAndNonce) {
  const Transaction transaction =
      change({{.key = {"item:1"}}}, {{.key = {"item:1"}, .value = "{\"a\":1}"}});
  const Outcome outcome = commit(*store_, transaction);
  ASSERT_TRUE(std::holds_alternative<Committed>(outcome));
  const auto record = get("item:1");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->value, "{\"a\":1}");
  EXPECT_EQ(record->nonce, transaction.nonce);
  EXPECT_EQ(record->fence, std::get<Committed>(outcome).fence);
  EXPECT_GT(record->fence, Fence{});
}

TEST_P(StoreContract, CommitsSeveralKeysUnderOneFence) {
  const Outcome outcome = commit(
      *store_, change({}, {{.key = {"item:1"}, .value = "1"}, {.key = {"item:2"}, .value = "2"}}));
  ASSERT_TRUE(std::holds_alternative<Committed>(outcome));
  EXPECT_EQ(get("item:1")->fence, std::get<Committed>(outcome).fence);
  EXPECT_EQ(get("item:2")->fence, std::get<Committed>(outcome).fence);
}

TEST_P(StoreContract, DoesNothingAtAllWhenOneExpectationFails) {
  put("item:2", "2");
  const Cursor before = cursor();
  const Outcome outcome =
      commit(*store_, change({{.key = {"item:1"}}, {.key = {"item:2"}}},
                             {{.key = {"item:1"}, .value = "1"}, {.key = {"item:2"}, .value = "3"}},
                             {event("item:1", "L1")}));
  EXPECT_TRUE(std::holds_alternative<LostRace>(outcome));
  EXPECT_FALSE(get("item:1"));
  EXPECT_EQ(get("item:2")->value, "2");
  EXPECT_TRUE(history({}).events.empty());
  EXPECT_EQ(cursor(), before);
}

TEST_P(StoreContract, LetsOneOfTwoWhoExpectAbsenceWin) {
  const auto claim = [&] {
    return change({{.key = {"item:1"}}}, {{.key = {"item:1"}, .value = "1"}});
  };
  EXPECT_TRUE(std::holds_alternative<Committed>(commit(*store_, claim())));
  EXPECT_TRUE(std::holds_alternative<LostRace>(commit(*site_->open(), claim())));
}

TEST_P(StoreContract, ComparesTheExactVersion) {
  put("item:1", "1");
  const Version first = get("item:1")->version;
  put("item:1", "2");
  const Version second = get("item:1")->version;
  const auto replace = [&](std::optional<Version> expected) {
    return commit(*store_, change({{.key = {"item:1"}, .version = expected}},
                                  {{.key = {"item:1"}, .value = "3"}}));
  };
  EXPECT_TRUE(std::holds_alternative<LostRace>(replace(first)));
  EXPECT_TRUE(std::holds_alternative<LostRace>(replace(Version{second.value + 1})));
  EXPECT_TRUE(std::holds_alternative<LostRace>(replace(std::nullopt)));
  EXPECT_TRUE(std::holds_alternative<Committed>(replace(second)));
}

TEST_P(StoreContract, HoldsExpectationsOnKeysThatAreNotWritten) {
  put("guard:x", "1");
  const Version old = get("guard:x")->version;
  put("guard:x", "2");
  const Outcome outcome = commit(
      *store_, change({{.key = {"guard:x"}, .version = old}}, {{.key = {"item:1"}, .value = "1"}}));
  EXPECT_TRUE(std::holds_alternative<LostRace>(outcome));
  EXPECT_FALSE(get("item:1"));
}

TEST_P(StoreContract, ATransactionWithoutWritesConfirmsAndChangesNothing) {
  const Fence fence = put("item:1", "1");
  const Cursor before = cursor();
  const Version version = get("item:1")->version;
  const Outcome outcome =
      commit(*store_, change({{.key = {"item:1"}, .version = version}, {.key = {"item:2"}}}, {}));
  ASSERT_TRUE(std::holds_alternative<Committed>(outcome));
  EXPECT_GE(std::get<Committed>(outcome).fence, fence);
  EXPECT_TRUE(std::holds_alternative<LostRace>(commit(*store_, change({{.key = {"item:1"}}}, {}))));
  EXPECT_EQ(cursor(), before);
  EXPECT_EQ(get("item:1")->version, version);
}

TEST_P(StoreContract, ARemovedRecordIsAbsentInEveryWay) {
  put("item:1", "\"needle\"");
  put("item:1", std::nullopt);
  EXPECT_FALSE(get("item:1"));
  EXPECT_TRUE(keys(Selection::everything()).empty());
  EXPECT_TRUE(keys(Selection::with_text("needle")).empty());
  EXPECT_TRUE(std::holds_alternative<Committed>(
      commit(*store_, change({{.key = {"item:1"}}}, {{.key = {"item:1"}, .value = "2"}}))));
}

TEST_P(StoreContract, FencesGrowThroughRemovalAndReopening) {
  Fence last;
  for (int i = 0; i < 8; ++i) {
    const Fence granted = put("item:1", "1");
    EXPECT_GT(granted, last);
    last = granted;
    if (i % 2 == 0) last = put("item:1", std::nullopt);
    EXPECT_GE(last, granted);
    if (i % 3 == 0) store_ = site_->open();
  }
}

TEST_P(StoreContract, AVersionNeverComesBack) {
  put("item:1", "\"same\"");
  const Version before = get("item:1")->version;
  put("item:1", std::nullopt);
  put("item:1", "\"same\"");
  EXPECT_NE(get("item:1")->version, before);
  const Outcome outcome = commit(*store_, change({{.key = {"item:1"}, .version = before}},
                                                 {{.key = {"item:1"}, .value = std::nullopt}}));
  EXPECT_TRUE(std::holds_alternative<LostRace>(outcome));
}

TEST_P(StoreContract, ReadsByKeyLeavingOutWhatIsNotThere) {
  for (const char* key : {"item:1", "item:10", "item:2", "lock:a"}) put(key, "1");
  EXPECT_EQ(keys(Selection::of({{"lock:a"}, {"item:1"}, {"item:3"}})), (Texts{"item:1", "lock:a"}));
  EXPECT_TRUE(keys(Selection::of({{"item:"}, {"tem:1"}, {""}})).empty());
}

TEST_P(StoreContract, ReadsByWhatTheCurrentValueMentions) {
  put("item:1", R"({"session":"agent:a@wt:1"})");
  put("item:2", R"({"session":"agent:b@wt:2"})");
  put("item:3", R"({"session":"agent:a@wt:1"})");
  put("item:3", R"({"session":"agent:c@wt:1"})");
  EXPECT_EQ(keys(Selection::with_text("agent:a@wt:1")), (Texts{"item:1"}));
  EXPECT_EQ(keys(Selection::with_text("@wt:1")), (Texts{"item:1", "item:3"}));
  EXPECT_EQ(keys(Selection::everything()), (Texts{"item:1", "item:2", "item:3"}));
  EXPECT_EQ(keys({.keys = {{"item:2"}}, .mentioning = "agent:c"}), (Texts{"item:2", "item:3"}));
  // The name of a record is not its value.
  EXPECT_TRUE(keys(Selection::with_text("item:2")).empty());
}

TEST_P(StoreContract, KeepsEveryValueAndKeyAsItIs) {
  const std::map<std::string, std::string> all{
      {R"(item:"quoted" \ back)", R"({"leases":[],"from_a_newer_dibs":{"x":[1,null,true,-2.5]}})"},
      {"item:ünï/✓..", R"({"text":"ü ✓ \" \\ \n \t \u0001 /"})"},
      {"lock:" + std::string(200, 'k'), '"' + std::string(60'000, 'v') + '"'},
      {R"(item:"key":"item:1")", "[]"},
      {"item:1", R"(["\"key\":\"item:2\"",{"key":"item:3","value":null}])"},
      {"item:2", "{}"}};
  for (const auto& [key, value] : all) put(key, value);
  store_ = site_->open();
  for (const auto& [key, value] : all) {
    ASSERT_TRUE(get(key)) << key;
    EXPECT_EQ(get(key)->value, value);
  }
  EXPECT_FALSE(get("item:3"));
  EXPECT_EQ(keys(Selection::everything()).size(), all.size());
}

TEST_P(StoreContract, KeepsEventsWhole) {
  Event whole = event("item:1", "L1", Op::transfer);
  whole.worktree = {"wt:00000001"};
  whole.expires_unix_ms = 1'767'441'600'250;
  whole.by = AgentId{"human:b"};
  whole.to_lease = LeaseId{"L2"};
  whole.to_agent = AgentId{"agent:c"};
  whole.reason = "a \"reason\" with ü";
  const Fence fence = put("item:1", "1", {whole});
  const History found = history({});
  ASSERT_EQ(found.events.size(), 1U);
  EXPECT_EQ(found.events[0].event, whole);
  EXPECT_EQ(found.events[0].seq, found.cursor.seq);
  EXPECT_GT(fence, Fence{});
}

TEST_P(StoreContract, TellsHistoryOldestFirstSinceACursor) {
  put("item:1", "1", {event("item:1", "L1")});
  const Cursor middle = cursor();
  put("item:2", "1", {event("item:2", "L2")});
  put("item:1", std::nullopt, {event("item:1", "L1", Op::release)});
  EXPECT_EQ(leases_in({}), (Texts{"L1", "L2", "L1"}));
  EXPECT_EQ(leases_in({.since = middle}), (Texts{"L2", "L1"}));
  EXPECT_EQ(leases_in({.resource = Key{"item:1"}}), (Texts{"L1", "L1"}));
  EXPECT_EQ(leases_in({.since = middle, .resource = Key{"item:1"}}), (Texts{"L1"}));
  EXPECT_EQ(leases_in({.newest = 2}), (Texts{"L2", "L1"}));
  EXPECT_EQ(leases_in({.ops = {Op::release, Op::land}}), (Texts{"L1"}));
  EXPECT_EQ(leases_in({.newest = 1, .ops = {Op::acquire}}), (Texts{"L2"}));
  EXPECT_EQ(leases_in({.last_entries = cursor().seq - middle.seq}), (Texts{"L2", "L1"}));
  EXPECT_TRUE(leases_in({.last_entries = 0}).empty());
  EXPECT_EQ(leases_in({.last_entries = 100}).size(), 3U);
  EXPECT_TRUE(leases_in({.since = history({}).cursor}).empty());
  EXPECT_EQ(history({}).cursor, cursor());
}

TEST_P(StoreContract, FindsEveryEventThatMentionsAText) {
  put("item:1", "1", {event("item:1", "L1")});
  put("item:2", "1", {event("item:2", "L2"), event("item:2", "L3", Op::auto_evict)});
  const Texts found = leases_in({.mentioning = "L3"});
  EXPECT_EQ(std::ranges::count(found, "L3"), 1);
  EXPECT_EQ(std::ranges::count(found, "L1"), 0) << "from a change that does not mention it";
  EXPECT_TRUE(leases_in({.mentioning = "L9"}).empty());
}

TEST_P(StoreContract, FindsACommitByItsNonceAlsoWhenItRemovedTheRecord) {
  put("item:1", "1", {event("item:1", "L1")});
  Transaction removal = change({}, {{.key = {"item:1"}, .value = std::nullopt}});
  removal.events = {event("item:1", "L1", Op::release)};
  const Outcome outcome = commit(*store_, removal);
  put("item:2", "1", {event("item:2", "L2")});
  const std::vector<PastEvent> found = history({.mentioning = removal.nonce.hex()}).events;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().event.op, Op::release);
  EXPECT_EQ(Fence{found.front().seq}, std::get<Committed>(outcome).fence);
}

TEST_P(StoreContract, FollowsHistoryWithoutGapOrRepeat) {
  Cursor at;
  Texts seen;
  for (int i = 0; i < 20; ++i) {
    put("item:1", "1", {event("item:1", "L" + std::to_string(i))});
    if (i % 3 != 0) continue;
    const History more = history({.since = at});
    for (const PastEvent& past : more.events) seen.push_back(past.event.lease.text);
    at = more.cursor;
  }
  for (const PastEvent& past : history({.since = at}).events) seen.push_back(past.event.lease.text);
  Texts all;
  for (int i = 0; i < 20; ++i) all.push_back("L" + std::to_string(i));
  EXPECT_EQ(seen, all);
}

TEST_P(StoreContract, ShowsOtherObjectsEveryCommitAtOnce) {
  const auto other = site_->open();
  EXPECT_FALSE(get(*other, "item:1"));
  for (const char* value : {"1", "2", "3"}) {
    put("item:1", value);
    EXPECT_EQ(get(*other, "item:1")->value, value);
  }
  put("item:1", std::nullopt);
  EXPECT_FALSE(get(*other, "item:1"));
  EXPECT_EQ(other->read(Selection{})->cursor, cursor());
}

TEST_P(StoreContract, WaitReturnsAtOnceWhenThereIsNews) {
  put("item:1", "1");
  EXPECT_EQ(store_->wait(Cursor{}, 60'000), cursor());
}

TEST_P(StoreContract, WaitReturnsAtTheDeadlineWithoutNews) {
  put("item:1", "1");
  EXPECT_EQ(store_->wait(cursor(), 20), cursor());
}

TEST_P(StoreContract, WaitReturnsWhenAnotherCommits) {
  const Cursor before = cursor();
  std::thread writer([&] {
    const auto other = site_->open();
    EXPECT_TRUE(std::holds_alternative<Committed>(
        commit(*other, change({}, {{.key = {"item:1"}, .value = "1"}}))));
  });
  const Result<Cursor> woken = store_->wait(before, 60'000);
  writer.join();
  ASSERT_TRUE(woken);
  EXPECT_GT(*woken, before);
}

TEST_P(StoreContract, LosesNoIncrementOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 15;
  std::atomic<int> lost_races = 0;
  const auto increment = [&](Store& store, SeededRandom& random) {
    const Result<View> view = store.read(Selection::of({{"lock:counter"}}));
    ASSERT_TRUE(view) << view.error().message;
    const Record* record = view->find({"lock:counter"});
    const int value = record == nullptr ? 0 : std::stoi(record->value);
    const Expectation expected{
        .key = {"lock:counter"},
        .version = record == nullptr ? std::nullopt : std::optional(record->version)};
    const Outcome outcome =
        commit(store, {.nonce = random.nonce(),
                       .expectations = {expected},
                       .writes = {{.key = {"lock:counter"}, .value = std::to_string(value + 1)}},
                       .events = {}});
    ASSERT_FALSE(std::holds_alternative<OutcomeUnknown>(outcome));
    if (std::holds_alternative<LostRace>(outcome)) ++lost_races;
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const auto store = site_->open();
      SeededRandom random(static_cast<std::uint64_t>(thread) + 100);
      for (int i = 0; i < kEach; ++i) increment(*store, random);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(get("lock:counter")->value, std::to_string(kThreads * kEach - lost_races));
}

TEST_P(StoreContract, NeverShowsHalfOfACommit) {
  constexpr int kRounds = 25;
  const auto write_both = [](const std::string& value) {
    return std::vector<Write>{{.key = {"item:a"}, .value = value},
                              {.key = {"item:b"}, .value = value}};
  };
  ASSERT_TRUE(
      std::holds_alternative<Committed>(commit(*store_, change({}, write_both("\"start\"")))));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&, thread] {
      const auto store = site_->open();
      SeededRandom random(static_cast<std::uint64_t>(thread) + 200);
      for (int i = 0; i < kRounds; ++i) {
        const std::string value = std::to_string(thread * 1000 + i);
        (void)commit(*store, {.nonce = random.nonce(),
                              .expectations = {},
                              .writes = write_both(value),
                              .events = {}});
      }
    });
  }
  for (int i = 0; i < kRounds; ++i) {
    const auto both = select(*store_, Selection::of({{"item:a"}, {"item:b"}}));
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].value, both[1].value);
    EXPECT_EQ(both[0].nonce, both[1].nonce);
  }
  for (std::thread& thread : threads) thread.join();
}

// Any sequence of changes with true and false expectations over a few keys, as a plain map has it.
TEST_P(StoreContract, AgreesWithAPlainMapOnAnySequence) {
  enum Expect { nothing, the_truth, absence, the_past };
  using Step = std::tuple<int, int, int, int>;  // key, value (0: remove), expectation, reopen if 0
  EXPECT_PROPERTY(GetParam().sequences, 40, [&] {
    const auto site = GetParam().make();
    auto store = site->open();
    std::map<std::string, Record> model;
    std::map<std::string, Fence> fences;
    const auto steps = *rc::gen::container<std::vector<Step>>(
        rc::gen::tuple(any_in(0, 4), any_in(0, 5), any_in(0, 4), any_in(0, 8)));
    for (const auto& [number, value, expect, reopen] : steps) {
      if (reopen == 0) store = site->open();
      const std::string key = "item:" + std::to_string(number);
      const auto known = model.find(key);
      const std::optional<Version> truth =
          known == model.end() ? std::nullopt : std::optional(known->second.version);
      Transaction transaction = change({}, {{.key = {key}, .value = std::nullopt}});
      if (value > 0) transaction.writes[0].value = std::to_string(value);
      if (expect == the_truth) transaction.expectations = {{.key = {key}, .version = truth}};
      if (expect == absence) transaction.expectations = {{.key = {key}}};
      if (expect == the_past)
        transaction.expectations = {{.key = {key}, .version = Version{fences[key].value + 7}}};
      const bool should_win =
          expect == nothing || expect == the_truth || (expect == absence && !truth);
      const Outcome outcome = commit(*store, transaction);
      const auto* committed = std::get_if<Committed>(&outcome);
      RC_ASSERT((committed != nullptr) == should_win);
      if (committed == nullptr) continue;
      RC_ASSERT(committed->fence > fences[key]);
      fences[key] = committed->fence;
      model.erase(key);
      if (value > 0) {
        model[key] = *get(*store, key);
        RC_ASSERT(model[key].value == std::to_string(value));
        RC_ASSERT(model[key].fence == fences[key]);
      }
    }
    std::vector<Record> records;
    for (const auto& [key, record] : model) records.push_back(record);
    RC_ASSERT(select(*store, Selection::everything()) == records);
    RC_ASSERT(select(*site->open(), Selection::everything()) == records);
  });
}

}  // namespace dibs
