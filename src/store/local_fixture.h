// What tests of the local store on a fake disk share.
#pragma once

#include <gtest/gtest.h>

#include <string>

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

}  // namespace dibs
