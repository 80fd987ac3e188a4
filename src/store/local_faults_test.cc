// The local store on a disk that fails, fills up and loses power at every call.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/text.h"
#include "store/local_files.h"
#include "store/log_line.h"
#include "store/segments.h"
#include "testing/hooked_files.h"
#include "testing/local_site.h"
#include "testing/property.h"

namespace dibs {
namespace {

std::string key_of(std::uint64_t number) { return "item:" + std::to_string(number); }

// The log has no gap, and what the store shows is what the log says.
void expect_log_and_store_agree(LocalSite& site, LocalStore& store) {
  const Result<Replay> replay = replay_log(site.disk, site.directory);
  ASSERT_TRUE(replay) << replay.error().message;
  Contents replayed;
  for (const auto& [key, record] : replay->records) replayed[key.text] = record.value;
  EXPECT_EQ(contents_of(store).value_or(Contents{}), replayed);
}

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

// A line that a process wrote in full and did not live to flush.
std::string leave_unflushed_line(LocalSite& site, const std::string& key) {
  const LogPosition end = replay_log(site.disk, site.directory)->end;
  const std::string line =
      encode_line(end, {.writes = {{.key = {key}, .value = '"' + std::string(2000, 'x') + '"'}}});
  const auto open = [&](std::string_view name) {
    return *site.disk.open(site.path(std::string(name)), Open::append, kPrivateFile);
  };
  EXPECT_TRUE(open(kClaimsLock)->truncate(1) && open(kLogName)->append(line));
  return line;
}

Transaction confirming(LocalSite& site, LocalStore& store, const std::string& key) {
  Transaction transaction{.nonce = site.random.nonce()};
  const Record record = store.read(Selection::of({{key}}))->records.at(0);
  transaction.expectations = {{.key = {key}, .version = record.version}};
  return transaction;
}

TEST(Confirmation, MakesDurableWhatADeadWriterDidNotFlush) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LocalSite site({}, seed);
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
    leave_unflushed_line(site, "item:2");
    const auto store = site.open();
    ASSERT_TRUE(is_committed(store->commit(confirming(site, *store, "item:2"))));
    site.disk.crash();
    EXPECT_TRUE(contents_of(*site.open())->contains("item:2")) << seed;
  }
}

TEST(PowerLoss, AfterAnIndexWasMadeOfWhatADeadWriterDidNotFlushIsNoHardStop) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LocalSite site({}, seed);
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
    leave_unflushed_line(site, "item:2");
    site.disk.put(site.path("claims.index.json"), "damaged");
    ASSERT_TRUE(site.open()->repair());
    ASSERT_TRUE(ClaimsIndex::open(site.disk, site.path("claims.index.json")));
    site.disk.crash();
    EXPECT_TRUE(contents_of(*site.open())) << "the index knows nothing the log has lost, " << seed;
  }
}

// A process that is killed at its nth call, in the middle of a change.
void die_while_putting(LocalSite& site, std::uint64_t nth, const std::string& key) {
  HookedFiles files(site.disk);
  files.before_each([&](const std::string& path) -> Done {
    return nth > 0 && --nth > 0 ? Done{} : fail(ErrorKind::internal, path + ": it is dead");
  });
  LocalStore store(
      files, site.clock, site.random, site.directory, [](const std::string&) {}, site.limits);
  (void)put(store, site.random, key, '"' + std::string(900, 'x') + '"');
}

// As a power loss leaves a line that nobody had flushed.
void leave_half_a_line(LocalSite& site) {
  const std::string log = site.log();
  const LogPosition end = replay_log(site.disk, site.directory)->end;
  std::string line = encode_line(
      end, {.writes = {{.key = {"item:2"}, .value = '"' + std::string(900, 'y') + '"'}}});
  const std::size_t sector = 512 - log.size() % 512;  // where the first whole one begins
  line.replace(sector, 512, 512, '\0');
  site.disk.put(site.path("claims.jsonl"), log + line);
}

// What a power loss leaves of a line, or of one that was cut off, is known for that only at the end
// of the log: nobody may write behind it before it is flushed.
TEST(PowerLoss, AfterAnyTwoWritersDiedIsNoHardStop) {
  constexpr std::uint64_t kFirst = 10;  // before that they only read
  constexpr std::uint64_t kLast = 24;
  for (const bool after_another : {false, true}) {
    std::uint64_t seed = 0;
    for (std::uint64_t one = kFirst; one <= kLast; ++one) {
      for (std::uint64_t other = kFirst; other <= kLast; ++other) {
        for (int times = 0; times < 4; ++times) {
          LocalSite site({}, ++seed);
          ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
          if (after_another) leave_half_a_line(site);
          die_while_putting(site, one, "item:3");
          die_while_putting(site, other, "item:4");
          site.disk.crash();
          const Result<Contents> seen = contents_of(*site.open());
          ASSERT_TRUE(seen) << seen.error().message << ", " << one << " " << other;
          EXPECT_TRUE(seen->contains("item:1"));
        }
      }
    }
  }
}

TEST(Confirmation, IsNotGivenAfterAFlushThatFailed) {
  LocalSite site;
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
  leave_unflushed_line(site, "item:2");
  const auto store = site.open();
  const Transaction transaction = confirming(site, *store, "item:2");
  site.disk.fail_from(1, 100);
  EXPECT_FALSE(is_committed(store->commit(transaction)));
  site.disk.fail_from(1, 0);
  EXPECT_FALSE(is_committed(store->commit(transaction))) << "the second flush would lie";
}

// What the system failed to write it takes for written, also when the next process flushes.
TEST(FailingDisk, ThatDidNotWriteADeadWritersLineLosesNothingThatCameAfterIt) {
  for (const bool confirms : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(seed);
      LocalSite site({}, seed);
      ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
      leave_unflushed_line(site, "item:2");
      const auto first = site.open();
      Transaction confirmation = confirming(site, *first, "item:2");
      site.disk.fail_at(1);  // the flush of what the dead writer left
      ASSERT_FALSE(confirms ? first->commit(confirmation)
                            : put(*first, site.random, "item:3", "3"));
      ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:4", "4")));
      ASSERT_TRUE(is_committed(put(*first, site.random, "item:5", "5"))) << "it goes on";
      const Result<Contents> seen = contents_of(*site.open());
      site.disk.crash();
      EXPECT_EQ(contents_of(*site.open()).value_or(Contents{}), seen.value_or(Contents{}));
      EXPECT_TRUE(seen && seen->contains("item:2") && seen->contains("item:4"));
    }
  }
}

// As who replaces the log leaves it, when it is killed before the last flush.
void put_unsettled_copy_of_log(LocalSite& site) {
  const std::string aside = site.path("claims.jsonl.aside.tmp");
  const auto copy = site.disk.open(aside, Open::create_append, kPrivateFile | kNameMayBeLost);
  ASSERT_TRUE((*copy)->append(site.log()) && (*copy)->sync());
  ASSERT_TRUE(site.disk.rename(aside, site.path("claims.jsonl")));
}

TEST(FailingDisk, WhoDiesBeforeTheNewLogsNameIsOnDiskLosesNothingOfTheNext) {
  for (const bool confirms : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(seed);
      LocalSite site({}, seed);
      ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
      if (confirms) leave_unflushed_line(site, "item:3");
      put_unsettled_copy_of_log(site);
      const auto store = site.open();
      ASSERT_TRUE(is_committed(confirms ? store->commit(confirming(site, *store, "item:3"))
                                        : put(*store, site.random, "item:3", "3")));
      EXPECT_EQ((*site.disk.status(site.path("claims.jsonl")))->mode, kPrivateFile);
      site.disk.crash();
      EXPECT_TRUE(contents_of(*site.open())->contains("item:3"));
    }
  }
}

TEST(FailingDisk, WhoDiesBeforeTheNewLogsNameIsNotBuiltOnIfItCannotBeFlushed) {
  LocalSite site;
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
  put_unsettled_copy_of_log(site);
  const auto store = site.open();
  const Transaction confirmation = confirming(site, *store, "item:1");
  site.disk.fail_at(1);  // the directory's flush
  EXPECT_FALSE(is_committed(store->commit(confirmation)));
  EXPECT_TRUE(is_committed(store->commit(confirmation)));
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

TEST(Rotation, KeepsAllOfHistoryReadableAcrossSegments) {
  LocalSite site(kTinyLimits);
  for (std::uint64_t i = 1; i <= 40; ++i) {
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, key_of(i % 3), std::to_string(i))));
  }
  const auto names = *log_files(site.disk, site.directory);
  ASSERT_GE(names.size(), 4U);
  const auto store = site.open();
  const History all = *store->history({});
  ASSERT_EQ(all.events.size(), 40U);
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(all.events[i].seq, i + 1) << "no gap";
  EXPECT_EQ(store->history({.since = {37}})->events.size(), 3U);
  EXPECT_EQ(store->history({.newest = 5})->events.front().seq, 36U);
  expect_log_and_store_agree(site, *store);
}

TEST(Rotation, GoesOnWithTheSameFencesWhenTheIndexIsGone) {
  LocalSite site(kTinyLimits);
  for (std::uint64_t i = 1; i <= 20; ++i)
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, key_of(i), "1")));
  ASSERT_TRUE(site.disk.remove(site.path("claims.index.json")));
  const Result<Outcome> next = put(*site.open(), site.random, "item:new", "1");
  ASSERT_TRUE(is_committed(next));
  EXPECT_EQ(std::get<Committed>(*next).fence, Fence{21});
  EXPECT_EQ(contents_of(*site.open())->size(), 21U);
}

TEST(Rotation, IsFollowedByStoresThatHadTheOldSegmentOpen) {
  LocalSite site(kTinyLimits);
  const auto reader = site.open();
  const auto writer = site.open();
  for (std::uint64_t i = 1; i <= 60; ++i) {
    ASSERT_TRUE(is_committed(put(*writer, site.random, "item:1", std::to_string(i))));
    if (i % 7 != 0) continue;
    EXPECT_EQ(contents_of(*reader)->at("item:1"), std::to_string(i));
    ASSERT_TRUE(is_committed(put(*reader, site.random, "item:2", std::to_string(i))));
  }
}

// A disk on which something else happens once, when a file is first used: what another process may
// do in that moment.
HookedFiles interrupted(FakeDisk& disk, const std::string& at, std::function<void()> meanwhile) {
  HookedFiles files(disk);
  files.before_each([at, meanwhile = std::move(meanwhile)](const std::string& path) mutable {
    if (meanwhile && path.ends_with(at)) std::exchange(meanwhile, nullptr)();
    return Done{};
  });
  return files;
}

// Fills the segment, closes it, and stops before anything is in the new one.
void rotate_and_stop(LocalSite& site) {
  site.limits = {.segment_bytes = 2000, .tail_bytes = 1};
  const auto other = site.open();
  while (log_files(site.disk, site.directory)->size() == 1) {
    if (site.log().size() >= 2000) site.disk.set_capacity(site.disk.used_bytes() + 2000);
    const Result<Outcome> outcome =
        put(*other, site.random, "lock:filler",
            '"' + std::string(site.log().size() >= 2000 ? 9000 : 100, 'f') + '"');
    ASSERT_TRUE(is_committed(outcome) || site.log().empty());
  }
  site.disk.set_capacity(std::nullopt);
  ASSERT_EQ(site.log(), "");
}

TEST(Rotation, ASlowWriterOfAnOlderIndexHidesNothing) {
  LocalSite site({.segment_bytes = 1'000'000, .tail_bytes = 1});
  Contents expected;
  // It commits, gives the lock back, and is held up before it writes its index.
  HookedFiles files = interrupted(site.disk, "index.lock", [&] {
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:2", "2")));
    rotate_and_stop(site);
    expected = contents_of(*site.open()).value();
  });
  LocalStore slow(files, site.clock, site.random, site.directory, [](const std::string&) {},
                  {.segment_bytes = 1'000'000, .tail_bytes = 1});
  ASSERT_TRUE(is_committed(put(slow, site.random, "item:1", "1")));
  ASSERT_TRUE(expected.contains("item:2"));
  EXPECT_EQ(contents_of(*site.open()).value_or(Contents{}), expected);
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:3", "3")));
  expected["item:3"] = "3";
  EXPECT_EQ(contents_of(*site.open()).value_or(Contents{}), expected);
  EXPECT_TRUE(replay_log(site.disk, site.directory));
}

TEST(Rotation, AReaderInTheMiddleOfItSeesEverythingAcknowledged) {
  LocalSite site({.segment_bytes = 1'000'000, .tail_bytes = 1});
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
  site.limits.tail_bytes = 1'000'000;
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:2", "2")));
  // It has read the index, and the log is closed before it opens that.
  HookedFiles files = interrupted(site.disk, "claims.jsonl", [&] { rotate_and_stop(site); });
  LocalStore reader(files, site.clock, site.random, site.directory, [](const std::string&) {});
  const Result<Contents> seen = contents_of(reader);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_TRUE(seen->contains("item:1") && seen->contains("item:2"));
}

TEST(Rotation, HidesNothingFromWhoeverReadsHistoryMeanwhile) {
  LocalSite site({.segment_bytes = 1'000'000, .tail_bytes = 1});
  ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
  // It knows the names of the files, and the log is closed before it reads that.
  HookedFiles files = interrupted(site.disk, "claims.jsonl", [&] { rotate_and_stop(site); });
  const Result<std::vector<PastEvent>> events =
      read_history(files, site.directory, {.resource = Key{"item:1"}});
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->size(), 1U);
}

TEST(Rotation, ByOneThatDiesBeforeTheNewNameIsOnDiskLosesNothingOfTheNext) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LocalSite site({.tail_bytes = 1}, seed);
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "held")));
    ASSERT_TRUE(site.disk.rename(site.path("claims.jsonl"), site.path(segment_name(1))));
    ASSERT_TRUE(site.disk.sync_directory(site.directory));
    ASSERT_TRUE(site.disk.open(site.path("claims.jsonl"), Open::create_append, kPrivateFile));
    site.limits = {};  // writing an index would flush the directory, too
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:2", "held")));
    site.disk.crash();
    EXPECT_TRUE(contents_of(*site.open())->contains("item:2")) << seed;
  }
}

TEST(Rotation, OnADiskThatFailsOnceLosesNothingWithThePower) {
  for (std::uint64_t failing = 1; failing <= 8; ++failing) {
    for (std::uint64_t dark = failing + 1; dark <= failing + 4; ++dark) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        LocalSite site({.segment_bytes = 300, .tail_bytes = 1}, seed);
        ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
        ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:2", "2")));
        site.disk.fail_at(failing);
        site.disk.lose_power_at(dark);
        (void)put(*site.open(), site.random, "item:3", "3");
        site.disk.crash();
        const Result<Contents> seen = contents_of(*site.open());
        ASSERT_TRUE(seen) << seen.error().message;
        EXPECT_TRUE(seen->contains("item:1") && seen->contains("item:2"))
            << failing << " " << dark << " " << seed;
      }
    }
  }
}

TEST(Rotation, CutShortLosesNothingWhenThePowerGoesWhileTheNextMakesTheLog) {
  for (std::uint64_t change = 1; change <= 4; ++change) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      SCOPED_TRACE(testing::Message() << change << ", " << seed);
      LocalSite site({}, seed);
      ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "held")));
      ASSERT_TRUE(site.disk.rename(site.path("claims.jsonl"), site.path(segment_name(1))));
      site.disk.lose_power_at(change);
      (void)put(*site.open(), site.random, "item:2", "held");
      site.disk.crash();
      const Result<Contents> left = contents_of(*site.open());
      ASSERT_TRUE(left) << left.error().message;
      EXPECT_TRUE(left->contains("item:1"));
    }
  }
}

TEST(Rotation, ThatCannotMakeANewLogIsAnErrorAndTheNextCommitMakesIt) {
  for (std::uint64_t nth = 1; nth <= 24; ++nth) {
    LocalSite site(kTinyLimits);
    const auto store = site.open();
    while (site.log().size() < kTinyLimits.segment_bytes)
      ASSERT_TRUE(is_committed(put(*store, site.random, "item:1", "held")));
    site.disk.fail_from(nth, 1000);
    const bool committed = is_committed(put(*store, site.random, "item:2", "held"));
    site.disk.fail_from(1, 0);
    const auto next = site.open();
    EXPECT_TRUE(is_committed(put(*next, site.random, "item:3", "held"))) << nth;
    EXPECT_TRUE(!committed || contents_of(*next)->contains("item:2")) << nth;
    expect_log_and_store_agree(site, *next);
  }
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
