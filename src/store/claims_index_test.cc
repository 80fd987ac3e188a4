// Looking things up in an index without parsing it.
#include "store/claims_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "store/log_line.h"
#include "testing/fake_disk.h"
#include "testing/hooked_files.h"
#include "testing/nth_failure.h"
#include "testing/property.h"

namespace dibs {
namespace {

Record record(const std::string& key, const std::string& value, std::uint64_t version) {
  return {.key = {key},
          .value = value,
          .version = {version},
          .fence = {version},
          .nonce = {{static_cast<std::uint8_t>(version), 2, 3}}};
}

class IndexTest : public testing::Test {
 protected:
  IndexTest() { disk_.make_durable_directory("/d"); }

  std::unique_ptr<ClaimsIndex> index_of(const Records& records) {
    text_ =
        encode_index({.position = {.seq = 9, .crc = 0xabcd, .offset = 77}, .segment_first_seq = 3},
                     records, FakeClock::kStartUnixMs);
    disk_.put("/d/index", text_);
    return ClaimsIndex::open(disk_, "/d/index");
  }

  FakeClock clock_;
  FakeDisk disk_{clock_};
  std::string text_;
};

void add(Records& records, const std::string& key, const std::string& value) {
  records[{key}] = record(key, value, records.size() + 1);
}

TEST_F(IndexTest, FindsEveryRecordAndNothingElseWhateverTheirNumber) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 21U, 100U, 500U, 2000U}) {
    Records records;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string value = '"' + std::string(i % 97 == 5 ? 9000 : i % 50, 'v') + '"';
      add(records, "item:" + std::to_string(i * 7919 % 10'007), value);
    }
    const auto index = index_of(records);
    ASSERT_TRUE(index);
    for (const auto& [key, expected] : records) {
      const auto found = index->find(key);
      ASSERT_TRUE(found && found->has_value()) << key.text << " of " << count;
      ASSERT_EQ(**found, expected);
      for (const std::string& other :
           {key.text + "0x", key.text.substr(0, key.text.size() - 1) + "!"}) {
        const auto absent = index->find({other});
        ASSERT_TRUE(absent && !absent->has_value()) << other << " of " << count;
      }
    }
    for (const char* outside : {"", "a", "item:", "zzz"})
      ASSERT_FALSE(index->find({outside})->has_value()) << outside;
    ASSERT_EQ(index->mentioning("")->size(), count);
  }
}

TEST_F(IndexTest, FindsKeysOfAnyShapeAmongValuesOfAnyLength) {
  EXPECT_PROPERTY(60, 60, [&] {
    const auto name = rc::gen::container<std::string>(
        rc::gen::element('a', 'b', '"', '\\', '\n', '\x01', ' ', '{', '}', ',', ':', '\x7f'));
    const auto entries = *rc::gen::container<std::vector<std::tuple<std::string, int, int>>>(
        rc::gen::tuple(name, any_in(0, 40), any_in(0, 6)));
    Records records;
    for (const auto& [key, length, scale] : entries) {
      const std::string unicode = length % 5 == 0 ? "ü✓" : "";
      add(records, "lock:" + key + unicode,
          '"' +
              std::string(static_cast<std::size_t>(length) << static_cast<unsigned>(2 * scale),
                          'v') +
              '"');
    }
    const auto index = index_of(records);
    RC_ASSERT(index != nullptr);
    for (const auto& [key, expected] : records) {
      const auto found = index->find(key);
      RC_ASSERT((found && found->has_value()));
      RC_ASSERT(**found == expected);
    }
    const auto absent = index->find({"lock:" + *name + "?"});
    RC_ASSERT((absent && !absent->has_value()));
    RC_ASSERT(index->mentioning("")->size() == records.size());
  });
}

TEST_F(IndexTest, IsOneJsonDocumentForOtherReaders) {
  Records records;
  add(records, "item:\"1\"", R"({"leases":[]})");
  add(records, "item:2", "[2]");
  ASSERT_TRUE(index_of(records));
  const Result<Json> json = parse_json(text_);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["active"].size(), 2U);
  EXPECT_EQ((*json)["active"][0]["key"], "item:\"1\"");
  EXPECT_EQ((*json)["sequence"], 9);
}

TEST_F(IndexTest, KnowsHowFarInTheLogItGoes) {
  const auto index = index_of({});
  ASSERT_TRUE(index);
  EXPECT_EQ(index->header().position, (LogPosition{.seq = 9, .crc = 0xabcd, .offset = 77}));
  EXPECT_EQ(index->header().segment_first_seq, 3U);
}

TEST_F(IndexTest, SaysDamagedRatherThanAbsent) {
  Records records;
  for (int i = 0; i < 100; ++i) add(records, "item:" + std::to_string(1000 + i), "\"value\"");
  ASSERT_TRUE(index_of(records));
  const std::string whole = text_;
  std::size_t noticed = 0;
  // Every line in turn: each key is either found as it was, or the damage is noticed.
  for (std::size_t at = whole.find("item:1000"); at < whole.size() - 60; at += 67) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    disk_.put("/d/index", damaged);
    const auto index = ClaimsIndex::open(disk_, "/d/index");
    ASSERT_TRUE(index);
    for (const auto& [key, expected] : records) {
      const auto found = index->find(key);
      if (!found) {
        ++noticed;
      } else {
        ASSERT_TRUE(found->has_value() && **found == expected) << key.text << ", byte " << at;
      }
    }
    EXPECT_FALSE(index->mentioning(""));
  }
  EXPECT_GT(noticed, 0U);
}

TEST_F(IndexTest, IsNotUsedWhenItsLengthOrSchemaIsWrong) {
  Records records;
  add(records, "item:1", "1");
  ASSERT_TRUE(index_of(records));
  disk_.put("/d/index", text_ + "\n");
  EXPECT_FALSE(ClaimsIndex::open(disk_, "/d/index"));
  disk_.put("/d/index", text_.substr(0, text_.size() - 1));
  EXPECT_FALSE(ClaimsIndex::open(disk_, "/d/index"));
  disk_.put("/d/index", "");
  EXPECT_FALSE(ClaimsIndex::open(disk_, "/d/index"));
  EXPECT_FALSE(ClaimsIndex::open(disk_, "/d/none"));
}

// An index with intact checksums, whatever it says.
std::string sealed_index(std::string header, const std::string& lines) {
  header += ",\"bytes\":" + std::to_string(lines.size());
  close_with_crc(header, 0);
  header.pop_back();
  return header + ",\"active\":[\n" + lines + "]}\n";
}

std::string sealed_line(std::string line) {
  close_with_crc(line, 0);
  return line + "\n";
}

const std::string kHeader =
    R"({"schema_version":1,"sequence":9,"log_crc":"0000abcd","log_offset":77,"log_first_seq":3)";

TEST_F(IndexTest, IsNotUsedWhenItsHeaderLacksAnything) {
  const auto opens = [&](const std::string& text) {
    disk_.put("/d/index", text);
    return ClaimsIndex::open(disk_, "/d/index") != nullptr;
  };
  EXPECT_TRUE(opens(sealed_index(kHeader, "")));
  const Result<Json> whole = parse_json(kHeader + "}");
  for (const auto& [name, value] : whole->items()) {
    Json less = *whole;
    less.erase(name);
    std::string text = less.dump();
    text.pop_back();
    EXPECT_FALSE(opens(sealed_index(text, ""))) << name;
  }
  EXPECT_FALSE(opens(sealed_index(R"({"schema_version":2)", ""))) << "of a newer dibs";
  EXPECT_FALSE(opens(sealed_index(kHeader + R"(,"x":)", ""))) << "no JSON";
  std::string without_bytes = kHeader;
  close_with_crc(without_bytes, 0);
  without_bytes.pop_back();
  EXPECT_FALSE(opens(without_bytes + ",\"active\":[\n]}\n"));
}

TEST_F(IndexTest, ALineThatIsIntactAndNotOursIsDamageNeverAbsence) {
  const std::string nonce(32, 'a');
  for (const std::string& line : {
           std::string(R"({"kez":"item:1")"),
           std::string(R"({"key":"item:1")"),
           std::string(R"({"key":"item:1","version":1)"),
           std::string(R"({"key":"item:1","version":1,"nonce":"aa")"),
           R"({"key":"item:1","version":1,"nonce":")" + nonce + R"(","valve":1)",
           R"({"key":"item:1","version":x,"nonce":")" + nonce + R"(","value":1)",
           R"({"key":"item:1","version":1,"nonce":")" + std::string(32, 'g') + R"(","value":1)",
           std::string(R"({"key":"item\u00:1","version":1)"),
           R"({"key":"item\u003a1","version":1,"nonce":")" + nonce + R"(","value":1)",
       }) {
    disk_.put("/d/index", sealed_index(kHeader, sealed_line(line)));
    const auto index = ClaimsIndex::open(disk_, "/d/index");
    ASSERT_TRUE(index) << line;
    EXPECT_FALSE(index->find({"item:1"})) << line;
    EXPECT_FALSE(index->mentioning("")) << line;
  }
}

TEST_F(IndexTest, ManyLinesThatAreNotOursAreDamageNeverAbsence) {
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += sealed_line(R"({"kez":"item:)" + std::to_string(i) + "\"");
  disk_.put("/d/index", sealed_index(kHeader, lines));
  EXPECT_FALSE(ClaimsIndex::open(disk_, "/d/index")->find({"item:1"}));
}

TEST_F(IndexTest, ARecordThatIsLongerThanAnyMayBeIsDamage) {
  const std::string value = '"' + std::string(10 * kRecordBytesMax, 'v') + '"';
  const auto index = index_of(
      {{{"item:1"}, record("item:1", value, 1)}, {{"item:2"}, record("item:2", value, 2)}});
  EXPECT_FALSE(index->find({"item:1"}));
  EXPECT_FALSE(index->mentioning(""));
}

TEST_F(IndexTest, ALastLineWithoutAnEndIsDamageNeverAbsence) {
  const std::string value = '"' + std::string(20'000, 'v') + '"';
  ASSERT_TRUE(index_of({{{"item:1"}, record("item:1", value, 1)}}));
  text_[text_.rfind("\n]}")] = ' ';
  disk_.put("/d/index", text_);
  EXPECT_FALSE(ClaimsIndex::open(disk_, "/d/index")->find({"item:1"}));
}

TEST_F(IndexTest, AReadThatFailsIsNeverAbsence) {
  Records records;
  for (int i = 0; i < 300; ++i)
    add(records, "item:" + std::to_string(1000 + i), '"' + std::string(200, 'v') + '"');
  ASSERT_TRUE(index_of(records));
  HookedFiles files(disk_);
  NthFailure failure;
  files.before_each([&](const std::string& path) { return failure.next(path); });
  for (const char* key : {"item:1000", "item:1150", "item:1299"}) {
    failure.at_every_call([&] {
      const auto index = ClaimsIndex::open(files, "/d/index");
      if (!index) return;
      const auto found = index->find({key});
      EXPECT_TRUE(!found || found->has_value());
    });
  }
  failure.at_every_call([&] {
    const auto index = ClaimsIndex::open(files, "/d/index");
    const auto all = index ? index->mentioning("") : Result<std::vector<Record>>();
    EXPECT_TRUE(!index || !all || all->size() == records.size());
  });
}

}  // namespace
}  // namespace dibs
