// What tests of the local store on a fake disk share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "store/local_files.h"
#include "store/log_line.h"
#include "store/segments.h"
#include "testing/local_site.h"

namespace dibs {

inline const std::string kLogPath = "/repo/.git/dibs/claims.jsonl";
inline const std::string kIndexPath = "/repo/.git/dibs/claims.index.json";

inline std::string key_of(std::uint64_t number) { return "item:" + std::to_string(number); }

// The log has no gap, and what the store shows is what the log says.
inline void expect_log_and_store_agree(LocalSite& site, LocalStore& store) {
  const Result<Replay> replay = replay_log(site.disk, site.directory);
  ASSERT_TRUE(replay) << replay.error().message;
  Contents replayed;
  for (const auto& [key, record] : replay->records) replayed[key.text] = record.value;
  EXPECT_EQ(contents_of(store).value_or(Contents{}), replayed);
}

// A line that a process wrote in full and did not live to flush.
inline std::string leave_unflushed_line(LocalSite& site, const std::string& key) {
  const LogPosition end = replay_log(site.disk, site.directory)->end;
  const std::string line =
      encode_line(end, {.writes = {{.key = {key}, .value = '"' + std::string(2000, 'x') + '"'}}});
  const auto open = [&](std::string_view name) {
    return *site.disk.open(site.path(std::string(name)), Open::append, kPrivateFile);
  };
  EXPECT_TRUE(open(kClaimsLock)->truncate(1) && open(kLogName)->append(line));
  return line;
}

}  // namespace dibs
