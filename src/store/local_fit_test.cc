// Which index fits which log, and what a store makes of one that does not, or of a log that is not
// any more what it has in memory.
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "store/local_files.h"
#include "store/local_fixture.h"
#include "store/log_line.h"
#include "store/segments.h"
#include "testing/hooked_files.h"

namespace dibs {
namespace {

const Contents kBoth{{"item:1", "1"}, {"item:2", "2"}};

class LogAndIndex : public testing::Test {
 protected:
  LogAndIndex() {
    const auto store = site_.open();
    for (const auto& [key, value] : kBoth)
      EXPECT_TRUE(is_committed(put(*store, site_.random, key, value)));
  }
  LogPosition end() { return replay_log(site_.disk, site_.directory)->end; }
  // One that says that nobody but a stranger holds anything.
  void put_strange_index(const LogPosition& position, std::uint64_t first_seq = 1) {
    Record stranger{.key = {"item:9"}, .value = "9", .version = {1}, .fence = {1}};
    site_.disk.put(kIndexPath, encode_index({.position = position, .segment_first_seq = first_seq},
                                            {{stranger.key, stranger}}, 0));
  }
  Contents seen() { return contents_of(*site_.open()).value_or(Contents{}); }
  std::vector<Finding> found(Finding::Level level) {
    std::vector<Finding> all = site_.open()->inspect();
    std::erase_if(all, [&](const Finding& finding) { return finding.level != level; });
    return all;
  }
  std::string first_line() { return site_.log().substr(0, site_.log().find('\n') + 1); }

  LocalSite site_;
};

TEST_F(LogAndIndex, AnIndexThatEndsNowhereInTheLogIsNotUsed) {
  LogPosition short_of_a_line = end();
  short_of_a_line.offset = 5;
  LogPosition within_a_line = end();
  within_a_line.offset -= 1;
  LogPosition behind_the_end = end();
  behind_the_end.offset += 1;
  LogPosition other_checksum = end();
  other_checksum.crc ^= 1;
  for (const LogPosition& position :
       {short_of_a_line, within_a_line, behind_the_end, other_checksum}) {
    put_strange_index(position);
    EXPECT_EQ(seen(), kBoth) << position.offset;
  }
  put_strange_index(end(), /*first_seq=*/7);
  EXPECT_EQ(seen(), kBoth) << "of another segment";
}

TEST_F(LogAndIndex, AnIndexOfNothingFitsAnEmptyLog) {
  site_.disk.put(kLogPath, "");
  site_.disk.put(kIndexPath, encode_index({.position = {}, .segment_first_seq = 1}, {}, 0));
  EXPECT_EQ(contents_of(*site_.open()), Contents{});
  EXPECT_TRUE(is_committed(put(*site_.open(), site_.random, "item:3", "3")));
}

// Whoever was stopped after it had read the index may find any later log.
TEST_F(LogAndIndex, AnIndexThatEndsWithAnEarlierSegmentDoesNotFitAnEmptyLog) {
  const LogPosition first_end = end();
  ASSERT_TRUE(site_.disk.rename(kLogPath, site_.path(segment_name(1))));
  site_.disk.put(kLogPath, "");
  ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:3", "3")));
  Contents all = kBoth;
  all["item:3"] = "3";
  ASSERT_EQ(seen(), all);
  ASSERT_TRUE(site_.disk.rename(kLogPath, site_.path(segment_name(3))));
  site_.disk.put(kLogPath, "");
  put_strange_index(first_end);
  EXPECT_EQ(seen(), all);
}

TEST_F(LogAndIndex, AnIndexThatSaysSomethingElseThanTheLogIsRebuiltByARepair) {
  put_strange_index(end());
  const Result<RepairReport> report = site_.open()->repair();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->index_rebuilt);
  EXPECT_EQ(seen(), kBoth);
}

TEST_F(LogAndIndex, AnIndexThatKnowsMoreThanTheLogIsReported) {
  LogPosition later = end();
  later.seq += 3;
  put_strange_index(later);
  EXPECT_EQ(found(Finding::Level::warning).size(), 1U);
}

TEST_F(LogAndIndex, ADirectoryThatIsAFileIsNotSetUp) {
  site_.directory = kLogPath;
  EXPECT_EQ(contents_of(*site_.open()).error().kind, ErrorKind::not_set_up);
}

TEST_F(LogAndIndex, AnEntryThatWasTakenBackAfterItWasReadIsForgotten) {
  const auto store = site_.open();
  ASSERT_EQ(contents_of(*store), kBoth);
  site_.disk.put(kLogPath, first_line());
  EXPECT_EQ(contents_of(*store), (Contents{{"item:1", "1"}}));
}

TEST_F(LogAndIndex, AnEntryInPlaceOfOneThatWasTakenBackCounts) {
  const std::string before = site_.log();
  const auto store = site_.open();
  ASSERT_EQ(contents_of(*store), kBoth);
  site_.disk.put(kLogPath, first_line());
  ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:7", "7")));
  ASSERT_EQ(site_.log().size(), before.size());
  ASSERT_TRUE(is_committed(put(*store, site_.random, "item:3", "3")));
  EXPECT_EQ(seen(), (Contents{{"item:1", "1"}, {"item:3", "3"}, {"item:7", "7"}}));
}

TEST_F(LogAndIndex, DamageThatShowsAfterALostRaceStopsTheNextLook) {
  const auto store = site_.open();
  Transaction late = writing(site_.random, "item:1", "mine");
  late.expectations = {{.key = {"item:1"}, .version = std::nullopt}};
  ASSERT_TRUE(std::holds_alternative<LostRace>(*store->commit(late)));
  std::string damaged = site_.log();
  damaged[10] = static_cast<char>(damaged[10] ^ 1);
  site_.disk.put(kLogPath, damaged);
  EXPECT_EQ(contents_of(*site_.open()).error().kind, ErrorKind::unreachable);
  site_.disk.put(kLogPath, damaged + "more\n");
  EXPECT_EQ(contents_of(*store).error().kind, ErrorKind::unreachable);
}

// Nobody who uses dibs does that, but an editor might.
TEST_F(LogAndIndex, WhoeverWritesWithoutTheLockStopsOthersAndFreesNothing) {
  for (int nth = 1; nth <= 30; ++nth) {
    LocalSite site;
    ASSERT_TRUE(is_committed(put(*site.open(), site.random, "item:1", "1")));
    site.disk.put(kLogPath, site.log() + "unfinished");
    int call = 0;
    HookedFiles files(site.disk);
    files.before_each([&](const std::string& path) {
      if (path == kLogPath && ++call == nth) site.disk.put(kLogPath, site.log() + "scribble\n");
      return Done{};
    });
    LocalStore store(files, site.clock, site.random, site.directory, [](const std::string&) {});
    (void)put(store, site.random, "item:2", "2");
    const Result<Contents> seen = contents_of(*site.open());
    EXPECT_TRUE(!seen || seen->contains("item:1")) << nth;
  }
}

TEST_F(LogAndIndex, AnEntryThatIsIntactAndSaysNothingStopsEveryone) {
  std::string line = R"({"schema_version":1,"seq":3,"writes":[{"key":"item:1","value":3}])";
  close_with_crc(line, end().crc);
  site_.disk.put(kLogPath, site_.log() + line + "\n");
  const auto store = site_.open();
  EXPECT_EQ(store->read(Selection::of({{"item:1"}})).error().kind, ErrorKind::unreachable);
  EXPECT_EQ(store->read(Selection::with_text("item:1")).error().kind, ErrorKind::unreachable);
  Transaction transaction = writing(site_.random, "item:1", "mine");
  transaction.expectations = {{.key = {"item:1"}, .version = std::nullopt}};
  EXPECT_FALSE(site_.open()->commit(transaction));
  EXPECT_EQ(found(Finding::Level::problem).size(), 1U);
  const Result<RepairReport> report = site_.open()->salvage();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->damaged_entries, 1U);
  EXPECT_EQ(seen(), kBoth);
}

// The same where the record was looked up before the entry came.
TEST_F(LogAndIndex, AnEntryThatSaysNothingDoesNotLeaveAnOlderAnswerStanding) {
  const auto store = site_.open();
  ASSERT_TRUE(store->read(Selection::of({{"item:1"}})));
  std::string line = R"({"schema_version":1,"seq":3,"writes":[{"key":"item:1","value":3}])";
  close_with_crc(line, end().crc);
  site_.disk.put(kLogPath, site_.log() + line + "\n");
  EXPECT_FALSE(store->read(Selection::of({{"item:1"}})));
}

TEST_F(LogAndIndex, AKeyThatIsOnlyMentionedIsNotWhatAnEntryWrites) {
  Event event;
  event.resource = {"item:5"};
  event.reason = "x";
  Transaction transaction{.nonce = site_.random.nonce()};
  transaction.writes = {
      {.key = {"item:5"}, .value = R"({"key":"item:1","why":"not a write of item:1"})"}};
  transaction.events = {event};
  ASSERT_TRUE(is_committed(site_.open()->commit(transaction)));
  const Result<View> view = site_.open()->read(Selection::of({{"item:1"}}));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->records.at(0).value, "1");
}

TEST_F(LogAndIndex, ASegmentThatLacksItsEndStopsARebuildAndIsNamed) {
  site_.limits = kTinyLimits;
  while (log_files(site_.disk, site_.directory)->size() < 3)
    ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:3", "3")));
  const std::string name = log_files(site_.disk, site_.directory)->front();
  const std::string whole = site_.disk.contents(site_.path(name)).value();
  site_.disk.put(site_.path(name), whole.substr(0, whole.size() - 5));
  ASSERT_TRUE(site_.disk.remove(kIndexPath));
  const Result<Contents> seen = contents_of(*site_.open());
  ASSERT_FALSE(seen);
  EXPECT_TRUE(contains(seen.error().message, name)) << seen.error().message;
}

TEST_F(LogAndIndex, EntriesOfANewerDibsAreReportedAndNotSalvagedAway) {
  std::string log = site_.log();
  std::uint32_t crc = end().crc;
  for (const char* seq : {"3", "4"}) {
    std::string line = std::string(R"({"schema_version":2,"seq":)") + seq;
    close_with_crc(line, crc);
    crc = stated_crc(line).value_or(0);
    log += line + "\n";
  }
  site_.disk.put(kLogPath, log);
  EXPECT_TRUE(contains(found(Finding::Level::problem).at(0).what, "newer dibs"));
  const Result<RepairReport> report = site_.open()->salvage();
  ASSERT_FALSE(report);
  EXPECT_TRUE(contains(report.error().message, "line 3")) << "the first of them";
  EXPECT_EQ(site_.log(), log);
}

TEST_F(LogAndIndex, AnInspectionBesideARotationSeesNoProblem) {
  HookedFiles files(site_.disk);
  files.before_each([&](const std::string& path) {
    if (path == kLogPath && site_.disk.contents(kLogPath)) {
      EXPECT_TRUE(site_.disk.rename(kLogPath, site_.path(segment_name(1))));
    }
    return Done{};
  });
  LocalStore store(files, site_.clock, site_.random, site_.directory, [](const std::string&) {});
  for (const Finding& finding : store.inspect()) EXPECT_NE(finding.level, Finding::Level::problem);
}

TEST_F(LogAndIndex, HistoryThatKeepsMovingAwayIsSaidToBeContended) {
  std::uint64_t number = 100;
  HookedFiles files(site_.disk);
  files.before_each([&](const std::string& path) {
    if (path == kLogPath) site_.disk.put(site_.path(segment_name(++number)), "");
    return Done{};
  });
  const Result<std::vector<PastEvent>> events = read_history(files, site_.directory, {});
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().kind, ErrorKind::contended);
}

TEST_F(LogAndIndex, HistoryHasEntriesWhoseFieldsAreInAnotherOrder) {
  std::string line = R"({"seq":3,"schema_version":1,"writes":[],"events":[{"op":"acquire",)"
                     R"("resource":"item:8","lease_id":"L8"}],"time":"2026-01-03T12:00:00.000Z",)"
                     R"("nonce":")" +
                     Nonce{}.hex() + "\"";
  close_with_crc(line, end().crc);
  site_.disk.put(kLogPath, site_.log() + line + "\n");
  EXPECT_EQ(site_.open()->history({.resource = Key{"item:8"}})->events.size(), 1U);
}

TEST_F(LogAndIndex, AnInspectionWarnsOfAnUntrustedFileSystem) {
  HookedFiles files(site_.disk);
  files.are_on("nfs");
  LocalStore store(files, site_.clock, site_.random, site_.directory, [](const std::string&) {});
  const Finding first = store.inspect().at(0);
  EXPECT_EQ(first.level, Finding::Level::problem);
  EXPECT_TRUE(contains(first.what, "nfs"));
}

TEST_F(LogAndIndex, ASalvageTakesFromTheIndexWhatTheLogHasLost) {
  site_.limits.tail_bytes = 1;
  for (const char* value : {"10", "20"})
    ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:1", value)));
  ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:3", "3")));
  std::string damaged = site_.log();
  for (const char* lost : {R"("value":20)", R"("value":3)"}) damaged[damaged.find(lost)] = 'x';
  site_.disk.put(kLogPath, damaged);
  ASSERT_TRUE(site_.open()->salvage());
  EXPECT_EQ(seen(), (Contents{{"item:1", "20"}, {"item:2", "2"}, {"item:3", "3"}}));
}

TEST_F(LogAndIndex, ASalvageBelievesTheLogWhereTheIndexIsOlder) {
  site_.limits.tail_bytes = 1;
  ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:3", "3")));
  site_.limits.tail_bytes = 1'000'000;
  ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:3", std::nullopt)));
  ASSERT_TRUE(site_.open()->salvage());
  EXPECT_EQ(seen(), kBoth);
}

TEST_F(LogAndIndex, ASalvageKeepsHoweverManyThereAre) {
  Contents all = kBoth;
  for (int i = 100; i < 130; ++i) {
    all["item:" + std::to_string(i)] = std::to_string(i);
    ASSERT_TRUE(is_committed(
        put(*site_.open(), site_.random, "item:" + std::to_string(i), std::to_string(i))));
  }
  ASSERT_TRUE(site_.open()->salvage());
  EXPECT_EQ(seen(), all);
}

TEST_F(LogAndIndex, ALogThatCannotBeOpenedAtAllIsNeverAnEmptyOne) {
  HookedFiles files(site_.disk);
  files.before_each([](const std::string& path) {
    return path == kLogPath ? Done(fail(ErrorKind::internal, path)) : Done{};
  });
  LocalStore store(files, site_.clock, site_.random, site_.directory, [](const std::string&) {});
  EXPECT_EQ(contents_of(store).error().kind, ErrorKind::unreachable);
  files.before_each([opened = 0](const std::string& path) mutable {
    return path == kLogPath && ++opened > 1 ? Done(fail(ErrorKind::internal, path)) : Done{};
  });
  EXPECT_EQ(contents_of(store).error().kind, ErrorKind::unreachable);
}

TEST_F(LogAndIndex, ALongLogWithoutAnIndexIsReported) {
  site_.limits.tail_bytes = 1;
  EXPECT_EQ(found(Finding::Level::warning).size(), 1U);
}

TEST_F(LogAndIndex, NoIndexIsMadeOfAnEntryThatSaysNothing) {
  std::string line = R"({"schema_version":1,"seq":3,"writes":[{"key":"item:1","value":3}])";
  close_with_crc(line, end().crc);
  site_.disk.put(kLogPath, site_.log() + line + "\n");
  site_.limits.tail_bytes = 1;
  EXPECT_TRUE(is_committed(put(*site_.open(), site_.random, "item:8", "8")));
  EXPECT_FALSE(site_.disk.contents(kIndexPath));
}

TEST_F(LogAndIndex, AnEntryWhoseListsAreNoneSaysNothing) {
  const std::string begin =
      R"({"schema_version":1,"seq":1,"time":"2026-01-03T12:00:00Z","nonce":")" + Nonce{}.hex() +
      R"(",)";
  for (const char* lists : {R"("writes":7,"events":[]})", R"("writes":[],"events":7})"})
    EXPECT_FALSE(parse_line(begin + lists)) << lists;
  EXPECT_TRUE(parse_line(begin + R"("writes":[],"events":[]})"));
}

}  // namespace
}  // namespace dibs
