// What a writer leaves that dies before its line is on disk, and what a power loss makes of that.
#include <gtest/gtest.h>

#include <string>

#include "store/local_files.h"
#include "store/local_fixture.h"
#include "store/log_line.h"
#include "testing/hooked_files.h"

namespace dibs {
namespace {

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

}  // namespace
}  // namespace dibs
