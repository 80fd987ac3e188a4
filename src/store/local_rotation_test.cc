// A log that is closed and followed by a new one, beside others, on failing disks and through power
// losses.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "store/local_files.h"
#include "store/local_fixture.h"
#include "store/log_line.h"
#include "testing/hooked_files.h"

namespace dibs {
namespace {

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

TEST(Rotation, OnADiskThatFailsAgainAndAgainAcknowledgesNothingThatIsNotThere) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    LocalSite site({.segment_bytes = 300, .tail_bytes = 1}, seed);
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
    leave_unflushed_line(site, "item:2");
    HookedFiles files(site.disk);
    files.before_each([&](const std::string& path) -> Done {
      return site.random.chance(8) ? fail(ErrorKind::internal, path + " fails") : Done{};
    });
    LocalStore store(
        files, site.clock, site.random, site.directory, [](const std::string&) {}, site.limits);
    const bool acknowledged = is_committed(put(store, site.random, "item:3", "3"));
    const Result<Contents> seen = contents_of(*site.open());
    ASSERT_TRUE(seen) << seen.error().message << ", seed " << seed;
    EXPECT_TRUE(seen->contains("item:1")) << seed;
    EXPECT_TRUE(!acknowledged || seen->contains("item:3")) << seed;
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

}  // namespace
}  // namespace dibs
