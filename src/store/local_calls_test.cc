// The local store where any one call fails, reading and looking included: whatever it then says is
// true, and once the disk is well again nothing is missing.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "store/local_files.h"
#include "store/log_line.h"
#include "store/segments.h"
#include "testing/fake_refs.h"
#include "testing/hooked_files.h"
#include "testing/local_site.h"
#include "testing/nth_failure.h"

namespace dibs {
namespace {

const Contents kHeld{{"item:1", "1"}, {"item:2", "2"}};

/// How the disk may look when a command finds it. In each, kHeld is held.
struct Situation {
  std::string name;
  std::function<void(LocalSite&)> prepare;
};

void hold_both(LocalSite& site) {
  const auto store = site.open();
  for (const auto& [key, value] : kHeld)
    ASSERT_TRUE(is_committed(put(*store, site.random, key, value)));
}

void hold_both_in_segments(LocalSite& site) {
  site.limits = kTinyLimits;
  hold_both(site);
  while (log_files(site.disk, site.directory)->size() < 3)
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:3", "3")));
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:3", std::nullopt)));
}

void end_log_with(LocalSite& site, const std::string& more) {
  hold_both(site);
  site.disk.put(site.path("claims.jsonl"), site.log() + more);
}

std::vector<Situation> situations() {
  return {
      {"in use", hold_both},
      {"with an index",
       [](LocalSite& site) {
         site.limits.tail_bytes = 1;
         hold_both(site);
       }},
      {"in segments", hold_both_in_segments},
      {"without the index of several segments",
       [](LocalSite& site) {
         hold_both_in_segments(site);
         ASSERT_TRUE(site.disk.remove(site.path("claims.index.json")));
       }},
      {"with a damaged entry in its index",
       [](LocalSite& site) {
         site.limits.tail_bytes = 1;
         hold_both(site);
         std::string index = site.disk.contents(site.path("claims.index.json")).value();
         index[index.find("item:1")] = 'I';
         site.disk.put(site.path("claims.index.json"), index);
       }},
      {"closed, and the next log not made",
       [](LocalSite& site) {
         site.limits.tail_bytes = 1;
         hold_both(site);
         ASSERT_TRUE(site.disk.rename(site.path("claims.jsonl"), site.path(segment_name(1))));
       }},
      {"closed, and the next log empty",
       [](LocalSite& site) {
         site.limits.tail_bytes = 1;
         hold_both(site);
         ASSERT_TRUE(site.disk.rename(site.path("claims.jsonl"), site.path(segment_name(1))));
         site.disk.put(site.path("claims.jsonl"), "");
       }},
      {"with an unfinished entry",
       [](LocalSite& site) {
         end_log_with(site, R"({"schema_version":1,"seq":3,"resource":"item:1")");
       }},
      {"with an unfinished entry, and no index of several segments",
       [](LocalSite& site) {
         hold_both_in_segments(site);
         ASSERT_TRUE(site.disk.remove(site.path("claims.index.json")));
         site.disk.put(site.path("claims.jsonl"), site.log() + R"({"schema_version":1,"se)");
       }},
      {"about to be closed",
       [](LocalSite& site) {
         site.limits = kTinyLimits;
         hold_both(site);
         while (site.log().size() < kTinyLimits.segment_bytes) {
           if (site.log().size() > 1000) site.limits.tail_bytes = 1'000'000;
           ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:9", std::nullopt)));
         }
         site.limits = kTinyLimits;
       }},
      {"without its last newline",
       [](LocalSite& site) {
         hold_both(site);
         ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:9", std::nullopt)));
         site.disk.put(site.path("claims.jsonl"), site.log().substr(0, site.log().size() - 1));
       }},
      {"without its reserve",
       [](LocalSite& site) {
         hold_both(site);
         ASSERT_TRUE(site.disk.remove(site.path("reserve")));
       }},
      {"with what a killed writer left",
       [](LocalSite& site) {
         hold_both(site);
         site.disk.put(site.path("claims.index.json.1.tmp"), "half");
         site.disk.put(site.path("claims.jsonl.bak"), "somebody's");
         site.disk.put(site.path("claims-old.txt"), "somebody's");
       }},
  };
}

/// A store on a disk of its own, of which a call may fail.
struct Trial {
  Trial(const Situation& situation, const HookedFiles::Hook& hook) {
    situation.prepare(site);
    files.before_each(hook);
  }
  std::unique_ptr<LocalStore> open(std::unique_ptr<LocalRefs> refs = nullptr) {
    return std::make_unique<LocalStore>(
        files, site.clock, site.random, site.directory, [](const std::string&) {}, site.limits,
        std::move(refs));
  }
  // To somebody whose disk does not fail.
  Contents seen_by_others() {
    const Result<Contents> seen = contents_of(*site.open());
    EXPECT_TRUE(seen) << seen.error().message;
    return seen.value_or(Contents{});
  }

  LocalSite site;
  HookedFiles files{site.disk};
};

void at_every_call(const std::vector<Situation>& all, const std::function<void(Trial&)>& act) {
  for (const Situation& situation : all) {
    SCOPED_TRACE(situation.name);
    NthFailure failure;
    failure.at_every_call([&] {
      Trial trial(situation, [&](const std::string& path) { return failure.next(path); });
      act(trial);
    });
  }
}

Transaction taking_a_third(LocalSite& site) {
  Transaction transaction = writing(site.random, "item:3", "3");
  transaction.expectations = {{.key = {"item:3"}, .version = std::nullopt},
                              {.key = {"item:1"}, .version = Version{1}},
                              {.key = {"item:2"}, .version = Version{2}}};
  return transaction;
}

// Whether others see what was said to have happened, and nothing of what was not.
void expect_true(const Result<Outcome>& outcome, Contents before, const std::string& key,
                 const std::optional<std::string>& value, const Contents& seen) {
  Contents after = before;
  after.erase(key);
  if (value) after[key] = *value;
  if (!outcome) {
    EXPECT_EQ(seen, before) << outcome.error().message;
  } else if (is_committed(outcome)) {
    EXPECT_EQ(seen, after);
  } else {
    ASSERT_TRUE(std::holds_alternative<OutcomeUnknown>(*outcome));
    EXPECT_TRUE(seen == before || seen == after);
  }
}

TEST(AnyCallThatFails, MakesNothingLookFree) {
  at_every_call(situations(), [](Trial& trial) {
    const auto store = trial.open();
    for (int look = 0; look < 2; ++look) {
      if (const Result<Contents> seen = contents_of(*store)) {
        EXPECT_EQ(*seen, kHeld);
      }
      const Result<View> view = store->read(Selection::of({{"item:1"}, {"item:2"}}));
      if (view) {
        EXPECT_EQ(view->records.size(), 2U);
      }
    }
  });
}

TEST(AnyCallThatFails, MakesNothingLookFreeAfterALostRace) {
  at_every_call(situations(), [](Trial& trial) {
    const auto store = trial.open();
    Transaction late = writing(trial.site.random, "item:1", "mine");
    late.expectations = {{.key = {"item:1"}, .version = std::nullopt}};
    EXPECT_FALSE(is_committed(store->commit(late)));
    if (const Result<Contents> seen = contents_of(*store)) {
      EXPECT_EQ(*seen, kHeld);
    }
  });
}

TEST(AnyCallThatFails, MakesNoClaimThatIsNotThere) {
  at_every_call(situations(), [](Trial& trial) {
    const auto store = trial.open();
    const Result<Outcome> outcome = store->commit(taking_a_third(trial.site));
    expect_true(outcome, kHeld, "item:3", "3", trial.seen_by_others());
    EXPECT_TRUE(is_committed(put(*trial.site.open(), trial.site.random, "item:4", "4")));
  });
}

TEST(AnyCallThatFails, ConfirmsNothingThatIsNotThere) {
  at_every_call(situations(), [](Trial& trial) {
    Transaction confirming = taking_a_third(trial.site);
    confirming.writes.clear();
    confirming.events.clear();
    EXPECT_FALSE(trial.open()->commit(confirming) && trial.seen_by_others() != kHeld);
  });
}

TEST(AnyCallThatFails, EndsNoLeaseThatIsStillThereOnAFullDisk) {
  at_every_call(situations(), [](Trial& trial) {
    trial.site.disk.set_capacity(trial.site.disk.used_bytes());
    const Result<Outcome> outcome = put(*trial.open(), trial.site.random, "item:1", std::nullopt);
    trial.site.disk.set_capacity(std::nullopt);
    expect_true(outcome, kHeld, "item:1", std::nullopt, trial.seen_by_others());
  });
}

TEST(AnyCallThatFails, LeavesNothingOutOfHistory) {
  at_every_call(situations(), [](Trial& trial) {
    const Result<History> history = trial.open()->history({.resource = Key{"item:1"}});
    if (history) {
      EXPECT_EQ(history->events.size(), 1U);
    }
  });
}

TEST(AnyCallThatFails, EndsAWaitWithAnErrorOrTheTruth) {
  at_every_call(situations(), [](Trial& trial) {
    const Result<Cursor> cursor = trial.open()->wait(Cursor{}, 0);
    if (cursor) {
      EXPECT_GE(*cursor, Cursor{2});
    }
  });
}

TEST(AnyCallThatFails, InARepairOrAnInspectionCostsNothing) {
  at_every_call(situations(), [](Trial& trial) {
    EXPECT_FALSE(trial.open()->inspect().empty());
    (void)trial.open()->repair();
    EXPECT_EQ(trial.seen_by_others(), kHeld);
    EXPECT_TRUE(trial.site.open()->repair());
  });
}

TEST(AnyCallThatFails, InASalvageLeavesALogThatStopsNeverAFreeOne) {
  at_every_call(situations(), [](Trial& trial) {
    (void)trial.open()->salvage();
    if (const Result<Contents> seen = contents_of(*trial.site.open())) {
      EXPECT_EQ(*seen, kHeld);
    }
    EXPECT_TRUE(trial.site.open()->salvage());
    EXPECT_EQ(trial.seen_by_others(), kHeld);
  });
}

TEST(AnyCallThatFails, InSettingUpIsAnErrorAndTheNextTrySucceeds) {
  NthFailure failure;
  failure.at_every_call([&] {
    FakeClock clock;
    FakeDisk disk(clock);
    disk.make_durable_directory("/repo/.git");
    HookedFiles files(disk);
    files.before_each([&](const std::string& path) { return failure.next(path); });
    (void)LocalStore::create(files, "/repo/.git/dibs", kPrivateDirectory);
    EXPECT_TRUE(LocalStore::create(disk, "/repo/.git/dibs", kPrivateDirectory));
  });
}

// The flush of a line, and then the flush of the cut that takes it back.
TEST(TwoCallsThatFail, MakeNoClaimThatIsNotThere) {
  constexpr std::uint64_t kCallsMost = 60;
  for (const Situation& situation : situations()) {
    SCOPED_TRACE(situation.name);
    for (std::uint64_t nth = 1; nth <= kCallsMost; ++nth) {
      std::uint64_t call = 0;
      Trial trial(situation, [&](const std::string& path) {
        ++call;
        return call == nth || call == nth + 2 ? fail(ErrorKind::internal, path) : Done{};
      });
      const Result<Outcome> outcome = trial.open()->commit(taking_a_third(trial.site));
      expect_true(outcome, kHeld, "item:3", "3", trial.seen_by_others());
    }
  }
}

/// Refs of which a call may fail.
class HookedRefs final : public LocalRefs {
 public:
  HookedRefs(FakeRefs& refs, NthFailure& failure) : refs_(refs), failure_(failure) {}

  Result<End> move(const std::vector<RefMove>& moves, const std::string& reason,
                   const FileLock* under) override {
    if (Done may = failure_.next("move"); !may) return fail(may.error());
    return refs_.move(moves, reason, under);
  }
  Result<std::string> commit_at(const std::string& ref) override {
    if (Done may = failure_.next("commit_at"); !may) return fail(may.error());
    return refs_.commit_at(ref);
  }
  Result<bool> contains(const std::string& ref, const std::string& commit) override {
    if (Done may = failure_.next("contains"); !may) return fail(may.error());
    return refs_.contains(ref, commit);
  }
  Done clear_lock(const RefMove& move) override {
    if (Done may = failure_.next("clear_lock"); !may) return may;
    return refs_.clear_lock(move);
  }

 private:
  FakeLocalRefs refs_;
  NthFailure& failure_;
};

// Lands item:1; git may die after so many refs have moved. The next command finds what was left.
void land_at_every_call(std::size_t dies_after, bool all_is_well_again) {
  NthFailure failure;
  failure.at_every_call([&] {
    Trial trial(situations().front(), [&](const std::string& path) { return failure.next(path); });
    FakeRefs refs{.refs = {{"refs/heads/main", "a"}, {"refs/heads/topic", "a/t"}}};
    refs.dies_after = dies_after;
    Transaction landing = writing(trial.site.random, "item:1", std::nullopt);
    landing.refs = {{.name = "refs/heads/main", .from = "a", .to = "a/m"},
                    {.name = "refs/heads/kept", .from = "", .to = ""},
                    {.name = "refs/heads/topic", .from = "a/t", .to = ""}};
    const Result<Outcome> outcome =
        trial.open(std::make_unique<HookedRefs>(refs, failure))->commit(landing);
    if (all_is_well_again) failure.is_over();
    (void)put(*trial.open(std::make_unique<HookedRefs>(refs, failure)), trial.site.random, "item:9",
              std::nullopt);
    failure.is_over();
    ASSERT_TRUE(is_committed(put(*trial.open(std::make_unique<FakeLocalRefs>(refs)),
                                 trial.site.random, "item:9", std::nullopt)));
    const bool landed = refs.refs["refs/heads/main"] == "a/m";
    EXPECT_EQ(trial.seen_by_others().contains("item:1"), !landed);
    EXPECT_EQ(refs.refs["refs/heads/topic"], landed ? "" : "a/t");
    EXPECT_FALSE(is_committed(outcome) && !landed);
  });
}

TEST(AnyCallThatFails, LeavesALandingThatIsWholeOrNot) {
  for (const std::size_t dies_after : {SIZE_MAX, std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    SCOPED_TRACE(dies_after);
    land_at_every_call(dies_after, /*all_is_well_again=*/true);
    land_at_every_call(dies_after, /*all_is_well_again=*/false);
  }
}

/// What a landing leaves that was killed after the refs had moved.
struct CutShort {
  CutShort() {
    hold_both(site);
    refs.refs = {{"refs/heads/main", "a"}, {"refs/heads/kept", "k"}};
    Transaction landing = writing(site.random, "item:1", std::nullopt);
    landing.events.clear();
    landing.refs = {{.name = "refs/heads/main", .from = "a", .to = "a/m"},
                    {.name = "refs/heads/new", .from = "", .to = "n"},
                    {.name = "refs/heads/gone", .from = "g", .to = "a/g"},
                    {.name = "refs/heads/kept", .from = "k", .to = "k"}};
    const std::string before = site.log();
    refs.refs["refs/heads/gone"] = "g";
    EXPECT_TRUE(
        is_committed(open(site.disk, std::make_unique<FakeLocalRefs>(refs))->commit(landing)));
    const PendingLanding pending{
        .refs = landing.refs, .line = site.log().substr(before.size()), .reason = "dibs"};
    site.disk.put(site.path("claims.jsonl"), before);
    site.disk.put(site.path(std::string(kLandingName)), to_json(pending));
    refs.refs.erase("refs/heads/gone");
  }
  std::unique_ptr<LocalStore> open(FileSystem& files, std::unique_ptr<LocalRefs> moved) {
    return std::make_unique<LocalStore>(
        files, site.clock, site.random, site.directory, [](const std::string&) {}, site.limits,
        std::move(moved));
  }
  // Whoever comes next finds the landing written down.
  void expect_finished() {
    EXPECT_TRUE(is_committed(put(*open(site.disk, std::make_unique<FakeLocalRefs>(refs)),
                                 site.random, "item:9", std::nullopt)));
    EXPECT_FALSE(contents_of(*site.open())->contains("item:1"));
  }

  LocalSite site;
  FakeRefs refs;
};

TEST(AnyCallThatFails, OfWhoeverFinishesALandingLeavesItToTheNext) {
  NthFailure failure;
  failure.at_every_call([&] {
    CutShort left;
    HookedFiles files(left.site.disk);
    files.before_each([&](const std::string& path) { return failure.next(path); });
    (void)put(*left.open(files, std::make_unique<HookedRefs>(left.refs, failure)), left.site.random,
              "item:9", std::nullopt);
    left.expect_finished();
  });
}

TEST(TwoCallsThatFail, OfWhoeverFinishesALandingLeaveItToTheNext) {
  for (std::uint64_t nth = 1; nth <= 30; ++nth) {
    CutShort left;
    std::uint64_t call = 0;
    HookedFiles files(left.site.disk);
    files.before_each([&](const std::string& path) {
      ++call;
      return call == nth || call == nth + 1 ? fail(ErrorKind::internal, path) : Done{};
    });
    (void)put(*left.open(files, std::make_unique<FakeLocalRefs>(left.refs)), left.site.random,
              "item:9", std::nullopt);
    left.expect_finished();
  }
}

TEST(WithoutAWayToMoveRefs, NothingLandsAndNothingThatLandedIsForgotten) {
  CutShort left;
  EXPECT_FALSE(put(*left.site.open(), left.site.random, "item:9", std::nullopt));
  left.expect_finished();
  Transaction landing = writing(left.site.random, "item:2", std::nullopt);
  landing.refs = {{.name = "refs/heads/main", .from = "a/m", .to = "a/m/more"}};
  EXPECT_FALSE(left.site.open()->commit(landing));
  EXPECT_TRUE(contents_of(*left.site.open())->contains("item:2"));
}

}  // namespace
}  // namespace dibs
