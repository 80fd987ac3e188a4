// The local store on a disk that fails, fills up and loses power at every call.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/text.h"
#include "store/local_files.h"
#include "store/local_fixture.h"
#include "store/log_line.h"
#include "testing/hooked_files.h"
#include "testing/property.h"

namespace dibs {
namespace {

/// Commits until the power goes, and remembers what it was told.
class Worker {
 public:
  explicit Worker(LocalSite& site) : site_(site) {}

  void work(std::uint64_t steps) {
    const auto store = site_.open();
    for (std::uint64_t i = 0; i < steps && !site_.disk.power_is_out(); ++i) {
      const std::string key = key_of(site_.random.below(5));
      std::optional<std::string> value = std::to_string(++count_);
      if (site_.random.chance(25)) value = std::nullopt;
      const Result<Outcome> outcome = put(*store, site_.random, key, value);
      if (is_committed(outcome)) {
        apply(acknowledged_, key, value);
      } else {
        unanswered_ = {key, value};
        unanswered_happened_ = acknowledged_;
        apply(unanswered_happened_, key, value);
        return;
      }
    }
    unanswered_happened_ = acknowledged_;
  }
  // Either all that was acknowledged, or that and the one change nobody was told about.
  void check(const Contents& seen) {
    EXPECT_TRUE(seen == acknowledged_ || seen == unanswered_happened_);
    acknowledged_ = seen;
  }

 private:
  static void apply(Contents& contents, const std::string& key,
                    const std::optional<std::string>& value) {
    if (value) {
      contents[key] = *value;
    } else {
      contents.erase(key);
    }
  }

  LocalSite& site_;
  std::uint64_t count_ = 0;
  Contents acknowledged_;
  Contents unanswered_happened_;
  std::pair<std::string, std::optional<std::string>> unanswered_;
};

TEST(PowerLoss, AtAnyPointLosesNothingAcknowledgedAndNeedsNoRepair) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    LocalSite site(kTinyLimits, seed);
    Worker worker(site);
    for (int round = 0; round < 4; ++round) {
      site.disk.lose_power_at(1 + site.random.below(60));
      worker.work(40);
      site.disk.crash();
      const auto store = site.open();
      // A reader first, then a writer: either may be the first after the crash.
      if (site.random.chance(50)) (void)put(*store, site.random, "lock:first", std::nullopt);
      const Result<Contents> seen = contents_of(*store);
      ASSERT_TRUE(seen) << seen.error().message;
      worker.check(*seen);
      expect_log_and_store_agree(site, *store);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(PowerLoss, AtEveryChangeOfOneCommitKeepsItWholeOrNot) {
  for (std::uint64_t nth = 1; nth <= 12; ++nth) {
    LocalSite site({.segment_bytes = 300, .tail_bytes = 1}, nth);
    const auto before = site.open();
    ASSERT_TRUE(is_committed(put(*before, site.random, "item:1", "\"old\"")));
    site.disk.lose_power_at(nth);
    Transaction both = writing(site.random, "item:1", "\"new\"");
    both.writes.push_back({.key = {"item:2"}, .value = "\"new\""});
    const bool acknowledged = is_committed(before->commit(both));
    site.disk.crash();
    const Contents seen = contents_of(*site.open()).value();
    const Contents none{{"item:1", "\"old\""}};
    const Contents all{{"item:1", "\"new\""}, {"item:2", "\"new\""}};
    EXPECT_TRUE(seen == all || (seen == none && !acknowledged)) << nth;
  }
}

TEST(PowerLoss, AfterCreationKeepsTheStoreAndEverythingInIt) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    LocalSite site({}, seed);
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
    site.disk.crash();
    EXPECT_EQ(contents_of(*site.open()).value_or(Contents{}), (Contents{{"item:1", "1"}})) << seed;
  }
}

TEST(PowerLoss, DuringCreationIsMendedByCreatingAgain) {
  for (std::uint64_t nth = 1; nth <= 20; ++nth) {
    FakeClock clock;
    FakeDisk disk(clock, nth);
    SeededRandom random(nth);
    disk.make_durable_directory("/repo/.git");
    disk.lose_power_at(nth);
    (void)LocalStore::create(disk, "/repo/.git/dibs", kPrivateDirectory);
    disk.crash();
    ASSERT_TRUE(LocalStore::create(disk, "/repo/.git/dibs", kPrivateDirectory)) << nth;
    LocalStore store(disk, clock, random, "/repo/.git/dibs", [](const std::string&) {});
    EXPECT_TRUE(is_committed(put(store, random, "item:1", "1"))) << nth;
  }
}

TEST(FailingDisk, SaysErrorOrUnknownButNeverFalselyCommitted) {
  for (std::uint64_t nth = 1; nth <= 14; ++nth) {
    for (const std::uint64_t times : {1U, 2U}) {
      SCOPED_TRACE(std::to_string(nth) + " and " + std::to_string(times));
      LocalSite site({.segment_bytes = 300, .tail_bytes = 1}, nth);
      const auto store = site.open();
      ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", "1")));
      site.disk.fail_from(nth, times);
      const Result<Outcome> outcome = put(*store, site.random, "item:2", "2");
      site.disk.fail_from(1'000'000, 1);
      const Result<Contents> seen = contents_of(*site.open());
      ASSERT_TRUE(seen) << seen.error().message;
      EXPECT_TRUE(seen->contains("item:1"));
      if (!outcome) {
        EXPECT_FALSE(seen->contains("item:2")) << "an error means that nothing happened";
      }
      if (!is_committed(outcome)) continue;
      EXPECT_TRUE(seen->contains("item:2"));
      site.disk.crash();
      EXPECT_EQ(contents_of(*site.open()).value_or(Contents{}), *seen) << "durable";
    }
  }
}

constexpr std::uint64_t kFlushOfALine = 3;  // after the mark that it is under way, and itself

TEST(FailingDisk, AFailedFlushIsTakenBackAndTheNextCommitIsDurable) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LocalSite site({}, seed);
    const auto store = site.open();
    ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", "1")));
    site.disk.fail_at(kFlushOfALine);
    EXPECT_FALSE(put(*store, site.random, "item:2", '"' + std::string(2000, '2') + '"'));
    ASSERT_TRUE(
        is_committed(put(*store, site.random, "item:3", '"' + std::string(2000, '3') + '"')));
    site.disk.crash();
    const Contents seen = contents_of(*site.open()).value_or(Contents{});
    EXPECT_TRUE(seen.contains("item:1") && seen.contains("item:3") && !seen.contains("item:2"))
        << seed;
  }
}

// While the log is written anew, which is what follows.
TEST(FailingDisk, AFlushThatFailedIsNoSuccessWhateverHappensNext) {
  using Event = std::function<Done(LocalSite&)>;
  const std::vector<Event> events{
      [](LocalSite&) { return Done(fail(ErrorKind::internal, "it fails")); },
      [](LocalSite& site) {
        site.disk.put(site.path("claims.jsonl"), "");
        return Done{};
      },
      [](LocalSite& site) { return site.disk.remove(site.path("claims.jsonl")); },
  };
  for (const Event& event : events) {
    for (std::uint64_t nth = 1; nth <= 40; ++nth) {
      LocalSite site;
      ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
      HookedFiles files(site.disk);
      std::uint64_t calls = 0;
      files.before_each([&](const std::string&) { return ++calls == nth ? event(site) : Done{}; });
      LocalStore store(
          files, site.clock, site.random, site.directory, [](const std::string&) {}, site.limits);
      site.disk.fail_at(kFlushOfALine);
      EXPECT_FALSE(is_committed(put(store, site.random, "item:2", "2"))) << nth;
    }
  }
}

TEST(FailingDisk, WhatCannotBeTakenBackIsUnknownAndThenNothingIsAssumed) {
  LocalSite site;
  const auto store = site.open();
  ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", "1")));
  site.disk.fail_from(kFlushOfALine, 100);  // and all that would take it back
  const Result<Outcome> outcome = put(*store, site.random, "item:2", "2");
  site.disk.fail_from(1, 0);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<OutcomeUnknown>(*outcome));
  EXPECT_EQ(contents_of(*store).error().kind, ErrorKind::unreachable);
  const Result<Outcome> next = put(*store, site.random, "item:3", "3");
  ASSERT_FALSE(next) << "what is in memory may not be what is on the disk";
  EXPECT_EQ(next.error().kind, ErrorKind::unreachable);
}

TEST(FullDisk, RefusesAClaimWithNothingHalfDone) {
  LocalSite site;
  const auto store = site.open();
  ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", "1")));
  const std::string log = site.log();
  for (const std::uint64_t room : {0U, 1U, 100U}) {
    site.disk.set_capacity(site.disk.used_bytes() + room);
    EXPECT_FALSE(put(*store, site.random, "item:2", '"' + std::string(200, 'x') + '"'));
    EXPECT_EQ(site.log(), log);
  }
  EXPECT_EQ(*contents_of(*store), (Contents{{"item:1", "1"}})) << "reading goes on";
  site.disk.set_capacity(std::nullopt);
  EXPECT_TRUE(is_committed(put(*store, site.random, "item:2", "2")));
}

TEST(FailingDisk, WhatWasTakenBackDoesNotComeBackWithThePower) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    LocalSite site({}, seed);
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "held")));
    site.disk.fail_at(kFlushOfALine);
    EXPECT_FALSE(put(*site.open(), site.random, "item:2", "held"));
    site.disk.crash();
    const auto next = site.open();
    ASSERT_TRUE(is_committed(put(*next, site.random, "item:3", "held")));
    EXPECT_EQ(contents_of(*next), (Contents{{"item:1", "held"}, {"item:3", "held"}})) << seed;
  }
}

TEST(FailingDisk, ThatKeepsHalfALineIsNotWrittenToAgain) {
  for (std::uint64_t nth = 1; nth <= 6; ++nth) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      LocalSite site({}, seed);
      ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "held")));
      site.disk.fail_from(nth, 2);  // the line, and then cutting it off again
      (void)put(*site.open(), site.random, "item:1", std::nullopt);
      site.disk.fail_from(1, 0);
      const auto next = site.open();
      EXPECT_TRUE(is_committed(put(*next, site.random, "item:2", "held"))) << nth << " " << seed;
      expect_log_and_store_agree(site, *next);
    }
  }
}

TEST(FullDisk, StillReleasesFromTheReserve) {
  LocalSite site;
  const auto store = site.open();
  for (std::uint64_t i = 0; i < 8; ++i)
    ASSERT_TRUE(is_committed(put(*store, site.random, key_of(i), "1")));
  site.disk.set_capacity(site.disk.used_bytes());
  EXPECT_FALSE(put(*site.open(), site.random, "item:99", "1"));
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(is_committed(put(*site.open(), site.random, key_of(i), std::nullopt))) << i;
  }
  EXPECT_TRUE(contents_of(*site.open())->empty());
  site.disk.crash();
  EXPECT_TRUE(contents_of(*site.open())->empty()) << "and durably";
}

TEST(FullDisk, HasItsReserveAgainAfterARepair) {
  LocalSite site;
  const auto store = site.open();
  ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", "1")));
  site.disk.set_capacity(site.disk.used_bytes());
  ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", std::nullopt)));
  ASSERT_FALSE(site.disk.contents(site.path("reserve")));
  site.disk.set_capacity(std::nullopt);
  ASSERT_TRUE(store->repair());
  EXPECT_EQ(site.disk.contents(site.path("reserve"))->size(), kReserveBytes);
}

TEST(Repair, FindsNothingToDoInAHealthyStore) {
  LocalSite site(kTinyLimits);
  for (std::uint64_t i = 0; i < 20; ++i)
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, key_of(i), "1")));
  const Result<RepairReport> report = site.open()->repair();
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->log_repaired);
  EXPECT_FALSE(report->index_rebuilt);
  EXPECT_EQ(report->temporary_files_removed, 0U);
  for (const Finding& finding : site.open()->inspect())
    EXPECT_EQ(finding.level, Finding::Level::ok) << finding.what;
}

TEST(Repair, CutsATornEndRebuildsTheIndexAndSweepsLeftovers) {
  LocalSite site;
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
  site.disk.put(site.path("claims.jsonl"), site.log() + R"({"schema_version":1,"se)");
  site.disk.put(site.path("claims.index.json"), "nothing of the kind");
  site.disk.put(site.path("claims.index.json.1.tmp"), "half");
  bool warned = false;
  for (const Finding& finding : site.open()->inspect())
    warned = warned || finding.level == Finding::Level::warning;
  EXPECT_TRUE(warned);
  const Result<RepairReport> report = site.open()->repair();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->log_repaired);
  EXPECT_TRUE(report->index_rebuilt);
  EXPECT_EQ(report->temporary_files_removed, 1U);
  EXPECT_TRUE(ClaimsIndex::open(site.disk, site.path("claims.index.json")));
  EXPECT_EQ(*contents_of(*site.open()), (Contents{{"item:1", "1"}}));
}

TEST(LocalStore, IsNotSetUpWhereThereIsNoDirectory) {
  LocalSite site;
  site.directory = "/repo/.git/elsewhere";
  EXPECT_EQ(contents_of(*site.open()).error().kind, ErrorKind::not_set_up);
}

TEST(LocalStore, RefusesAnEntryThatIsTooLongAndWritesNothing) {
  LocalSite site;
  const auto store = site.open();
  const Result<Outcome> outcome =
      put(*store, site.random, "item:1", '"' + std::string(kLogLineMax, 'x') + '"');
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::refused);
  EXPECT_EQ(site.log(), "");
}

TEST(LocalStore, KeepsItsLockAfterALostRaceSoThatTheNextCommitCannotLose) {
  LocalSite site;
  const auto store = site.open();
  Transaction lost = writing(site.random, "item:1", "1");
  lost.expectations = {{.key = {"item:1"}, .version = Version{7}}};
  ASSERT_TRUE(std::holds_alternative<LostRace>(*store->commit(lost)));
  {
    const Result<View> view = store->read(Selection{});
    ASSERT_TRUE(view);
    EXPECT_EQ(*site.disk.lock(site.path("locks/claims.lock"), Patience::at_once, kPrivateFile),
              nullptr);
    ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", "1")));
  }
  EXPECT_NE(*site.disk.lock(site.path("locks/claims.lock"), Patience::at_once, kPrivateFile),
            nullptr);
}

}  // namespace
}  // namespace dibs
