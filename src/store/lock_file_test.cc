#include "store/lock_file.h"

#include <gtest/gtest.h>

#include <set>

#include "base/crc32c.h"
#include "base/text.h"
#include "model/lease.h"
#include "store/log_line.h"
#include "sys/local_time.h"

namespace dibs {
namespace {

const std::string kForeignFile =
    "task_id: 42\nlocked_by: eve@example.com\nlocked_at: 2026-02-13 14:30\nhostname: her-pc\n";

LockHolder ann() { return {.email = "ann@example.com", .host = "ann-pc"}; }

Record record_of(const std::string& key, const std::string& value = "{}", std::uint64_t seq = 7) {
  Nonce nonce;
  nonce.bytes[0] = 9;
  return {.key = {key}, .value = value, .version = {seq}, .fence = {seq}, .nonce = nonce};
}

Record leased(const std::string& lease, std::uint64_t seq) {
  Lease made{.id = {lease}, .agent = {"agent:a"}, .session = {"s"}};
  made.acquired_unix_ms = 1'767'441'600'000;
  made.beat.unix_ms = made.acquired_unix_ms;
  return record_of("item:42", to_json(Holding{.leases = {made}}), seq);
}

TEST(LockFile, LiesWhereOtherToolsLookOrWhereTheyDoNot) {
  EXPECT_EQ(lock_path({"item:109_1"}), "t109_1_lock.yaml");
  EXPECT_EQ(lock_path({"item:userauth-b5c6d7e8"}), "tuserauth-b5c6d7e8_lock.yaml");
  EXPECT_EQ(lock_path({"item:Upper"}), "dibs/item_3a_55pper.yaml");
  EXPECT_EQ(lock_path({"lock:build"}), "dibs/lock_3abuild.yaml");
  EXPECT_EQ(lock_path({"item:a/../b"}), "dibs/item_3aa_2f_2e_2e_2fb.yaml");
  std::set<std::string> paths;
  const std::vector<std::string> keys{"item:a", "item:A",  "item:a_lock.yaml", "item:", "lock:a",
                                      "a",      "item:_a", "item:item:a",      "item:t"};
  for (const std::string& key : keys) {
    EXPECT_TRUE(is_lock_path(lock_path({key}))) << key;
    paths.insert(lock_path({key}));
  }
  EXPECT_EQ(paths.size(), keys.size());
  for (const char* path :
       {"README.md", "dibs/seq/12", "sub/t1_lock.yaml", "dibs/sub/x.yaml", "dibs"})
    EXPECT_FALSE(is_lock_path(path)) << path;
}

TEST(LockFile, GivesBackTheRecord) {
  for (const char* key : {"item:42", "item:Up", "lock:it's", "guard:x"}) {
    const Record record = record_of(key, R"({"a":"it's \n \"x\""})");
    EXPECT_EQ(record_in(lock_path(record.key), lock_text(record, "", ann)), record) << key;
  }
}

TEST(LockFile, SaysWhoHoldsItAsOtherToolsDo) {
  const std::string text = lock_text(leased("L1", 7), "", ann);
  EXPECT_TRUE(text.starts_with("task_id: 42\nlocked_by: ann@example.com\nlocked_at: " +
                               local_minute(1'767'441'600'000) + "\nhostname: ann-pc\ndibs_schema"))
      << text;
}

TEST(LockFile, AsksForTheHolderOnlyWhenItIsAnother) {
  int asked = 0;
  const auto holder = [&] {
    ++asked;
    return ann();
  };
  const std::string first = lock_text(leased("L1", 7), "", holder);
  const std::string renewed = lock_text(leased("L1", 8), first, holder);
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(contains(renewed, "locked_by: ann@example.com"));
  (void)lock_text(leased("L2", 9), renewed, holder);
  EXPECT_EQ(asked, 2);
}

TEST(LockFile, KeepsFieldsThatItDoesNotKnow) {
  const std::string before = kForeignFile + "note: hers\nlist:\n  - 1\n";
  const std::string once = lock_text(leased("L1", 7), before, ann);
  const std::string twice = lock_text(leased("L1", 8), once, ann);
  for (const std::string& text : {once, twice}) {
    EXPECT_TRUE(contains(text, "\nnote: hers\nlist:\n  - 1\ndibs_schema: 1\n")) << text;
    EXPECT_FALSE(contains(text, "eve"));
  }
}

TEST(LockFile, AnotherToolsLockIsALeaseWithoutATimeLimit) {
  const Result<Record> record = record_in("t42_lock.yaml", kForeignFile);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->key.text, "item:42");
  const Result<Holding> holding = holding_of(*record);
  ASSERT_TRUE(holding);
  ASSERT_EQ(holding->leases.size(), 1U);
  const Lease& lease = holding->leases[0];
  EXPECT_EQ(lease.agent.text, "human:eve@example.com");
  EXPECT_TRUE(lease.indefinite());
  EXPECT_TRUE(is_ulid(lease.id.text));
  EXPECT_FALSE(parse_session_id(lease.session.text)) << "no session of ours can be called that";
  EXPECT_EQ(lease.beat.unix_ms, parse_local_time("2026-02-13 14:30"));
  EXPECT_EQ(record_in("t42_lock.yaml", kForeignFile), record) << "the same as long as the file is";
  const Result<Record> changed = record_in("t42_lock.yaml", kForeignFile + "# x\n");
  EXPECT_NE(changed->version, record->version);
  EXPECT_GT(record->version.value, kSeqMax);
}

TEST(LockFile, AnyAddressMakesAnAgent) {
  for (const std::string& email :
       std::vector<std::string>{"a b", "ünï@x", "\"q\"@x", std::string(300, 'a'), ":"}) {
    const std::string text = lock_field("locked_by", email).text;
    const Result<Record> record = record_in(
        "t1_lock.yaml", "task_id: 1\n" + text + "locked_at: 2026-02-13 14:30:05\nhostname: ''\n");
    ASSERT_TRUE(record) << email;
    EXPECT_TRUE(parse_agent_id(holding_of(*record)->leases[0].agent.text)) << email;
  }
}

TEST(LockFile, AChangedLineMakesItTheOthers) {
  std::string text = lock_text(leased("L1", 7), "", ann);
  text.replace(text.find("ann@"), 3, "eve");
  const Result<Record> record = record_in("t42_lock.yaml", text);
  ASSERT_TRUE(record);
  EXPECT_EQ(holding_of(*record)->leases[0].agent.text, "human:eve@example.com");
}

TEST(LockFile, HalfAFileIsNeverFreeAndNeverWrong) {
  const Record record = leased("L1", 7);
  const std::string text = lock_text(record, "", ann);
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    const Result<Record> read = record_in("t42_lock.yaml", text.substr(0, at));
    // Cut behind the shared fields, it is still a lock, of someone.
    if (!read) continue;
    EXPECT_EQ(holding_of(*read)->leases.size(), 1U) << at;
    EXPECT_NE(read->version, record.version) << at;
  }
}

TEST(LockFile, RefusesWhatIsNoWholeLock) {
  for (const std::string& text : std::vector<std::string>{
           "", "task_id: 42\n", "task_id: 42\nlocked_by: eve\n", "dibs_schema: 2\n" + kForeignFile,
           "dibs_schema: x\n" + kForeignFile,
           "task_id: 42\nlocked_by: ''\nlocked_at: 2026-02-13 14:30\nhostname: h\n",
           "task_id: 42\nlocked_by: e\nlocked_at: 2026-02-31 14:30\nhostname: h\n",
           "task_id: 42\nlocked_by: [e]\nlocked_at: 2026-02-13 14:30\nhostname: h\n"})
    EXPECT_FALSE(record_in("t42_lock.yaml", text)) << text;
  EXPECT_FALSE(record_in("dibs/item_3a_55p.yaml", kForeignFile))
      << "another tool has no lock there";
  const std::string other = lock_text(record_of("item:Up"), "", ann);
  EXPECT_FALSE(record_in("dibs/lock_3ax.yaml", other)) << "of another key";
}

// A file as dibs seals it, whatever it says.
std::string sealed(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string text;
  std::string sealed;
  for (const auto& [key, value] : fields) {
    text += lock_field(key, value).text;
    sealed += key + "=" + value + "\n";
  }
  return text + lock_field("dibs_seal", hex32(crc32c(0, sealed))).text;
}

TEST(LockFile, WithAnIntactSealAndWithoutAnythingThatARecordNeedsIsNone) {
  const std::vector<std::pair<std::string, std::string>> whole{{"dibs_schema", "1"},
                                                               {"dibs_key", "lock:x"},
                                                               {"dibs_seq", "7"},
                                                               {"dibs_nonce", std::string(32, 'a')},
                                                               {"dibs_record", "{}"}};
  EXPECT_TRUE(record_in("dibs/lock_3ax.yaml", sealed(whole)));
  for (std::size_t left_out = 1; left_out < whole.size(); ++left_out) {
    auto less = whole;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(left_out));
    EXPECT_FALSE(record_in("dibs/lock_3ax.yaml", sealed(less))) << whole[left_out].first;
  }
  for (const std::string& seq : {std::string("0"), std::to_string(kSeqMax + 1)}) {
    auto other = whole;
    other[2].second = seq;
    EXPECT_FALSE(record_in("dibs/lock_3ax.yaml", sealed(other))) << seq;
  }
}

TEST(LockFile, OfAnotherToolIsOneOnlyWhereThatPutsThem) {
  for (const char* path : {"t42.yaml", "t_lock.yaml", "tUP_lock.yaml", "x42_lock.yaml"})
    EXPECT_FALSE(record_in(path, kForeignFile)) << path;
  EXPECT_FALSE(is_lock_path("t42.yaml"));
}

TEST(LockFile, LiesApartWhenItsNameIsTooLongOrNotPlain) {
  EXPECT_TRUE(lock_path({"item:" + std::string(201, 'a')}).starts_with("dibs/"));
  EXPECT_TRUE(lock_path({"item:a~b"}).starts_with("dibs/"));
}

TEST(LockFile, SaysWhichProcessHoldsItWhereOneDoes) {
  Lease lease{.id = {"L1"}, .agent = {"agent:a"}, .session = {"s"}};
  lease.process =
      ProcessTie{.host = "h", .boot = {"b"}, .pid_namespace = 1, .pid = 4711, .start_ticks = 99};
  const Record record = record_of("item:42", to_json(Holding{.leases = {lease}}));
  EXPECT_TRUE(contains(lock_text(record, "", ann),
                       "pid: 4711\npid_starttime: 99\npid_starttime_kind: proc\n"));
}

TEST(LockFile, OfNobodyNamesDibsAsItsHolder) {
  const auto nobody = [] { return LockHolder{}; };
  const Record empty = record_of("item:42", R"({"leases":[]})");
  EXPECT_TRUE(contains(lock_text(empty, "", nobody), "locked_by: dibs\n"));
}

TEST(LockFile, AsksForTheHolderAnewWhereTheOldFileDoesNotTell) {
  int asked = 0;
  const auto holder = [&] {
    ++asked;
    return ann();
  };
  const std::string first = lock_text(leased("L1", 7), "", holder);
  (void)lock_text(record_of("item:42"), first, holder);
  EXPECT_EQ(asked, 2) << "there is no lease any more";
  Lease other{.id = {"L1"}, .agent = {"agent:b"}, .session = {"s"}};
  (void)lock_text(record_of("item:42", to_json(Holding{.leases = {other}})), first, holder);
  EXPECT_EQ(asked, 3) << "it is another's";
  const std::vector<std::pair<std::string, std::string>> own{
      {"dibs_key", "item:42"},
      {"dibs_seq", "7"},
      {"dibs_nonce", std::string(32, 'a')},
      {"dibs_record", leased("L1", 7).value}};
  (void)lock_text(leased("L1", 8), sealed(own), holder);
  EXPECT_EQ(asked, 4) << "it names nobody";
  auto with_name = own;
  with_name.insert(with_name.begin(), {"locked_by", "ann@example.com"});
  (void)lock_text(leased("L1", 8), sealed(with_name), holder);
  EXPECT_EQ(asked, 5) << "it names no machine";
}

}  // namespace
}  // namespace dibs
