// Every byte of a small log and of a small index damaged or cut: the answer is right, or it is a
// hard stop that names the line. Nothing that was acknowledged is lost without a word.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/text.h"
#include "store/local_fixture.h"
#include "store/log_line.h"
#include "store/segments.h"

namespace dibs {
namespace {

// Each is one way a byte can go wrong; some leave a byte as it is.
std::vector<char> damages_of(char byte) {
  const auto bits = static_cast<unsigned char>(byte);
  std::vector<char> all;
  for (const unsigned flip : {0x01U, 0x80U}) all.push_back(static_cast<char>(bits ^ flip));
  for (const char c : {'\0', '\n', '"'}) all.push_back(c);
  std::erase(all, byte);
  return all;
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

class Damage : public testing::Test {
 protected:
  // Four entries: two records, one of them changed, and one that was removed.
  void write_entries() {
    const auto store = site_.open();
    ASSERT_TRUE(is_committed(put(*store, site_.random, "item:1", R"({"holder":"a"})")));
    ASSERT_TRUE(is_committed(put(*store, site_.random, "item:2", R"({"holder":"b"})")));
    ASSERT_TRUE(is_committed(put(*store, site_.random, "item:2", std::nullopt)));
    ASSERT_TRUE(is_committed(put(*store, site_.random, "item:1", R"({"holder":"c"})")));
    log_ = site_.log();
    acknowledged_ = *contents_of(*store);
  }
  // What a writer makes of the log as it is now.
  void expect_kept_or_stopped(const std::string& damaged, std::size_t line) {
    site_.disk.put(kLogPath, damaged);
    const auto store = site_.open();
    const Result<Outcome> outcome = put(*store, site_.random, "item:new", "1");
    if (!outcome) {
      EXPECT_EQ(outcome.error().kind, ErrorKind::unreachable) << outcome.error().message;
      EXPECT_TRUE(contains(outcome.error().message, fmt::format("line {} ", line)))
          << outcome.error().message << ", damaged was line " << line;
      EXPECT_TRUE(contains(outcome.error().hint, "dibs recover --salvage"));
      EXPECT_EQ(site_.log(), damaged) << "a hard stop changes nothing";
      return;
    }
    Contents expected = acknowledged_;
    expected["item:new"] = "1";
    EXPECT_EQ(contents_of(*store).value_or(Contents{}), expected);
    EXPECT_EQ(contents_of(*site_.open()).value_or(Contents{}), expected);
  }

  LocalSite site_;
  std::string log_;
  Contents acknowledged_;
};

TEST_F(Damage, InAnyByteOfTheLogStopsOrLosesNothing) {
  write_entries();
  for (std::size_t at = 0; at < log_.size(); ++at) {
    for (const char damage : damages_of(log_[at])) {
      std::string damaged = log_;
      damaged[at] = damage;
      SCOPED_TRACE(fmt::format("byte {} of {} is {:#x}", at, log_.size(),
                               static_cast<unsigned>(static_cast<unsigned char>(damage))));
      expect_kept_or_stopped(damaged, line_of(log_, at));
      if (HasFailure()) return;
    }
  }
}

TEST_F(Damage, ReadersToldOfDamageAreNeverToldThatAThingIsFree) {
  write_entries();
  // All but the last line: what a reader may not know yet is only what a writer has not finished.
  const std::size_t last = log_.rfind('\n', log_.size() - 2) + 1;
  for (std::size_t at = 0; at < last; ++at) {
    std::string damaged = log_;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    site_.disk.put(kLogPath, damaged);
    const Result<Contents> seen = contents_of(*site_.open());
    ASSERT_FALSE(seen) << "byte " << at;
    EXPECT_EQ(seen.error().kind, ErrorKind::unreachable);
  }
}

TEST_F(Damage, ACutAnywhereLosesOnlyTheLinesItRemoved) {
  write_entries();
  std::vector<Contents> after_line{{}};
  for (std::size_t line = 1; line <= 4; ++line) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < line; ++i) end = log_.find('\n', end) + 1;
    site_.disk.put(kLogPath, log_.substr(0, end));
    after_line.push_back(contents_of(*site_.open()).value());
  }
  for (std::size_t size = 0; size < log_.size(); ++size) {
    const std::string cut = log_.substr(0, size);
    site_.disk.put(kLogPath, cut);
    site_.notices.clear();
    const auto store = site_.open();
    ASSERT_TRUE(is_committed(put(*store, site_.random, "item:new", "1"))) << size;
    // A line that lacks its newline alone is whole.
    const auto lines =
        static_cast<std::size_t>(std::ranges::count(cut, '\n')) + (log_[size] == '\n' ? 1 : 0);
    Contents expected = after_line[lines];
    expected["item:new"] = "1";
    EXPECT_EQ(*contents_of(*store), expected) << "cut at " << size;
    const bool mid_line = !cut.empty() && cut.back() != '\n';
    EXPECT_EQ(site_.notices.size(), mid_line ? 1U : 0U) << "mending is reported, cut at " << size;
  }
}

TEST_F(Damage, ACutBelowWhatTheIndexKnowsIsAHardStop) {
  write_entries();
  site_.limits.tail_bytes = 1;
  const auto store = site_.open();
  ASSERT_TRUE(is_committed(put(*store, site_.random, "item:3", "3")));
  ASSERT_TRUE(site_.disk.contents(kIndexPath));
  const std::string whole = site_.log();
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t size = 0; size < whole.size() - 1; ++size) {
    site_.disk.put(kLogPath, whole.substr(0, size));
    const Result<Outcome> outcome = put(*site_.open(), site_.random, "item:new", "1");
    ASSERT_FALSE(outcome) << "cut at " << size << ", last line at " << last;
    EXPECT_EQ(outcome.error().kind, ErrorKind::unreachable);
    EXPECT_EQ(site_.log(), whole.substr(0, size));
    EXPECT_FALSE(contents_of(*site_.open()));
  }
}

TEST_F(Damage, InAnyByteOfTheIndexStillGivesTheRightAnswer) {
  site_.limits.tail_bytes = 1;
  write_entries();
  site_.limits.tail_bytes = 1'000'000;
  ASSERT_TRUE(is_committed(put(*site_.open(), site_.random, "item:3", "[3]")));
  acknowledged_["item:3"] = "[3]";
  const std::string log = site_.log();
  const std::string index = site_.disk.contents(kIndexPath).value();
  const auto expect_right = [&](const std::string& damaged) {
    site_.disk.put(kIndexPath, damaged);
    EXPECT_EQ(contents_of(*site_.open()).value_or(Contents{}), acknowledged_);
    site_.disk.put(kIndexPath, damaged);
    const auto store = site_.open();
    for (const auto& [key, value] : acknowledged_) {
      const Result<View> view = store->read(Selection::of({{key}}));
      ASSERT_TRUE(view && view->records.size() == 1);
      EXPECT_EQ(view->records[0].value, value);
    }
    ASSERT_TRUE(is_committed(put(*store, site_.random, "item:new", "1")));
    Contents more = acknowledged_;
    more["item:new"] = "1";
    EXPECT_EQ(contents_of(*site_.open()).value_or(Contents{}), more);
    site_.disk.put(kLogPath, log);
  };
  for (std::size_t at = 0; at < index.size(); ++at) {
    SCOPED_TRACE(fmt::format("byte {} of {}", at, index.size()));
    const std::vector<char> damages = damages_of(index[at]);
    std::string damaged = index;
    damaged[at] = damages[at % damages.size()];
    expect_right(damaged);
    expect_right(index.substr(0, at));
    if (HasFailure()) return;
  }
}

TEST_F(Damage, OfTheIndexIsMendedOnDisk) {
  site_.limits.tail_bytes = 1;
  write_entries();
  const std::string good = site_.disk.contents(kIndexPath).value();
  std::string damaged = good;
  damaged[good.find("item:1")] = 'x';
  site_.disk.put(kIndexPath, damaged);
  EXPECT_EQ(*contents_of(*site_.open()), acknowledged_);
  EXPECT_NE(site_.disk.contents(kIndexPath).value(), damaged) << "rebuilt by itself";
  const auto index = ClaimsIndex::open(site_.disk, kIndexPath);
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->find({"item:1"})->has_value());
}

TEST_F(Damage, InTheMiddleOfAClosedSegmentStopsARebuildAndNamesTheSegment) {
  site_.limits = kTinyLimits;
  const auto store = site_.open();
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(is_committed(put(*store, site_.random, "item:" + std::to_string(i), "1")));
  const auto names = *log_files(site_.disk, site_.directory);
  ASSERT_GE(names.size(), 3U);
  std::string segment = site_.disk.contents(site_.path(names[0])).value();
  segment[segment.size() / 2] ^= 1;
  site_.disk.put(site_.path(names[0]), segment);
  EXPECT_TRUE(contents_of(*site_.open())) << "the index still knows";
  ASSERT_TRUE(site_.disk.remove(kIndexPath));
  const Result<Contents> seen = contents_of(*site_.open());
  ASSERT_FALSE(seen);
  EXPECT_TRUE(contains(seen.error().message, names[0])) << seen.error().message;
}

// A line as a dibs of another version would write it: intact, with these members.
std::string foreign_line(const LogPosition& before, const std::string& members) {
  std::string line = "{" + members;
  close_with_crc(line, before.crc);
  return line + "\n";
}

class ForeignLines : public Damage {
 protected:
  [[nodiscard]] LogPosition end() { return replay_log(site_.disk, site_.directory)->end; }
};

TEST_F(ForeignLines, OfANewerSchemaAreRefusedAndNothingIsWritten) {
  write_entries();
  const std::string log =
      log_ + foreign_line(end(), R"("schema_version":2,"seq":5,"leases":"elsewhere")");
  site_.disk.put(kLogPath, log);
  const auto before = *site_.disk.list(site_.directory);
  const auto store = site_.open();
  for (const Result<Outcome>& outcome : {put(*store, site_.random, "item:1", "1"),
                                         put(*store, site_.random, "item:1", std::nullopt)}) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, ErrorKind::unreachable);
    EXPECT_TRUE(contains(outcome.error().message, "line 5 was written by a newer dibs"))
        << outcome.error().message;
  }
  EXPECT_FALSE(contents_of(*store));
  EXPECT_FALSE(store->repair());
  EXPECT_EQ(site_.log(), log);
  EXPECT_EQ(*site_.disk.list(site_.directory), before);
}

TEST_F(ForeignLines, MayHaveFieldsThatThisDibsDoesNotKnow) {
  write_entries();
  const std::string line = foreign_line(
      end(), R"("schema_version":1,"seq":5,"time":"2026-01-03T12:00:00.000Z","nonce":")" +
                 Nonce{}.hex() +
                 R"(","by":"a newer dibs","writes":[{"key":"item:9","shade":1,"value":{"x":1}}],)"
                 R"("events":[{"op":"levitate","resource":"item:9"},{"op":"acquire",)"
                 R"("resource":"item:9","lease_id":"L9","mood":"fine"}])");
  site_.disk.put(kLogPath, log_ + line);
  const auto store = site_.open();
  ASSERT_TRUE(is_committed(put(*store, site_.random, "item:new", "1")));
  EXPECT_EQ(contents_of(*store)->at("item:9"), R"({"x":1})");
  EXPECT_TRUE(contains(site_.log(), line)) << "kept as it was";
  EXPECT_EQ(store->history({.resource = Key{"item:9"}})->events.size(), 1U);
}

TEST_F(ForeignLines, MayHaveTheirFieldsInAnotherOrder) {
  write_entries();
  site_.disk.put(kLogPath,
                 log_ + foreign_line(end(), R"("seq":5,"schema_version":1,"events":[],)"
                                            R"("writes":[{"value":[9],"key":"item:9"}],)"
                                            R"("time":"2026-01-03T12:00:00.000Z","nonce":")" +
                                                Nonce{}.hex() + "\""));
  const auto store = site_.open();
  ASSERT_TRUE(is_committed(put(*store, site_.random, "item:new", "1")));
  EXPECT_EQ(contents_of(*store)->at("item:9"), "[9]");
  EXPECT_EQ(store->read(Selection::of({{"item:9"}}))->records.size(), 1U);
}

// Salvage: every entry but the damaged one is kept, and fences go on above all that was seen.
// Whoever searches for a key looks for it as we write it.
TEST(LogLines, WithAKeyThatIsNoJsonAreRefusedHoweverTheyAreRead) {
  const std::string begin = R"({"schema_version":1,"seq":1,"time":"2026-01-03T12:00:00Z",)"
                            R"("nonce":"00112233445566778899aabbccddeeff","writes":[{"key":"item:)";
  const std::string end = R"("}],"events":[])";
  const auto read = [&](const std::string& middle) {
    std::string line = begin + middle + end;
    close_with_crc(line, 0);
    return parse_writes(line);
  };
  EXPECT_TRUE(read(R"(1","value":"x)"));
  EXPECT_FALSE(
      read("\x11"
           R"(","value":"x)"));
  EXPECT_FALSE(
      read("\xff"
           R"(","value":"x)"));
}

// Its checksum is right, so somebody wrote it so. The quick reader looks at less than the thorough
// one, but where both understand a line they agree on what it writes.
void expect_readers_agree(std::string body) {
  close_with_crc(body, 0);
  const LineFault fault = check_line({.seq = 0, .crc = 0, .offset = 0}, body).fault;
  const Result<LogLine> thorough = parse_line(body);
  const Result<LogLine> quick = parse_writes(body);
  if (!thorough || !quick) return;
  EXPECT_NE(fault == LineFault::none && thorough->seq != 1, true) << body;
  ASSERT_EQ(quick->writes.size(), thorough->writes.size()) << body;
  for (std::size_t i = 0; i < quick->writes.size(); ++i)
    EXPECT_EQ(quick->writes[i].key, thorough->writes[i].key) << body;
}

TEST(LogLines, ThatAreIntactAndWrongAreUnderstoodInOneWayOrNotAtAll) {
  Event event;
  event.resource = {"item:1"};
  event.lease = {"L1"};
  std::string body = encode_line(
      {}, {.unix_ms = 1'767'441'600'250,
           .nonce = {{1, 2, 3}},
           .writes = {{.key = {"item:1"}, .value = R"({"x":[1]})"},
                      {.key = {"item:2"}, .value = std::nullopt, .version = Version{7}}},
           .events = {event}});
  body.resize(body.size() - 1 - kCrcSuffixLength);
  expect_readers_agree(body);
  for (std::size_t at = 0; at < body.size(); ++at) {
    for (const char other : {'"', 'x', '{', '}', ',', '0', '\\', '\x01'}) {
      std::string changed = body;
      changed[at] = other;
      expect_readers_agree(changed);
    }
    for (std::size_t length = 1; length <= std::min<std::size_t>(body.size() - at, 60); ++length) {
      std::string less = body;
      less.erase(at, length);
      expect_readers_agree(less);
    }
  }
}

TEST_F(Damage, IsSalvagedLosingTheDamagedEntryAlone) {
  const auto store = site_.open();
  for (const char* key : {"item:1", "item:2", "item:3", "item:4"})
    ASSERT_TRUE(is_committed(put(*store, site_.random, key, "1")));
  log_ = site_.log();
  const std::size_t begin = log_.find('\n') + 1;
  const std::size_t end = log_.find('\n', begin);
  for (std::size_t at = begin; at < end; ++at) {
    LocalSite site;
    std::string damaged = log_;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    site.disk.put(kLogPath, damaged);
    const auto mended = site.open();
    ASSERT_FALSE(contents_of(*mended));
    const Result<RepairReport> report = mended->salvage();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->log_repaired);
    EXPECT_LE(report->damaged_entries, 1U) << "byte " << at - begin;
    const Contents kept = contents_of(*mended).value_or(Contents{});
    for (const char* key : {"item:1", "item:3", "item:4"})
      EXPECT_TRUE(kept.contains(key)) << key << ", byte " << at - begin;
    const Result<Outcome> next = put(*mended, site.random, "item:1", "2");
    ASSERT_TRUE(is_committed(next));
    EXPECT_GT(std::get<Committed>(*next).fence, Fence{4});
    EXPECT_TRUE(contents_of(*site.open()));
    if (HasFailure()) return;
  }
}

TEST_F(Damage, SalvagedKeepsVersionsSoThatHoldersKeepTheirFences) {
  write_entries();
  const Record before = site_.open()->read(Selection::of({{"item:1"}}))->records.at(0);
  std::string damaged = log_;
  damaged[log_.find("item:2")] = 'I';
  site_.disk.put(kLogPath, damaged);
  const auto store = site_.open();
  ASSERT_TRUE(store->salvage());
  const Record after = store->read(Selection::of({{"item:1"}}))->records.at(0);
  EXPECT_EQ(after.value, before.value);
  EXPECT_EQ(after.fence, before.fence);
  const auto names = *site_.disk.list(site_.directory);
  const auto aside = std::ranges::find_if(
      names, [](const std::string& name) { return name.starts_with("damaged-"); });
  ASSERT_NE(aside, names.end());
  EXPECT_EQ(site_.disk.contents(site_.path(*aside + "/claims.jsonl")), damaged)
      << "nothing thrown away";
}

}  // namespace
}  // namespace dibs
