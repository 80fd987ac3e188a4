#include "base/time.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "testing/property.h"

namespace dibs {
namespace {

constexpr std::int64_t kLastMs = 253'402'300'799'999;

TEST(Rfc3339, ComesBackFromItsText) {
  EXPECT_PROPERTY(500, 100, [] {
    const auto ms = *any_in<std::int64_t>(0, kLastMs + 1);
    RC_ASSERT(parse_rfc3339(rfc3339(ms)) == ms);
  });
}

TEST(Rfc3339, WritesKnownMoments) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(951'782'399'999), "2000-02-28T23:59:59.999Z");
  EXPECT_EQ(rfc3339(951'782'400'000), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(rfc3339(1'767'441'600'250), "2026-01-03T12:00:00.250Z");
  EXPECT_EQ(rfc3339(kLastMs), "9999-12-31T23:59:59.999Z");
}

TEST(Rfc3339, StaysInWhatTheFormCanHold) {
  EXPECT_EQ(rfc3339(-1), rfc3339(0));
  EXPECT_EQ(rfc3339(INT64_MAX), rfc3339(kLastMs));
  EXPECT_EQ(parse_rfc3339("0000-01-01T00:00:00Z"), 0);
}

TEST(Rfc3339, ReadsWholeSecondsToo) {
  EXPECT_EQ(parse_rfc3339("2026-01-03T12:00:00Z"), 1'767'441'600'000);
}

TEST(Rfc3339, RefusesEverythingElse) {
  for (const char* bad :
       {"", "2026-01-03", "2026-01-03 12:00:00.000Z", "2026-01-03T12:00:00.000",
        "2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-00-01T00:00:00.000Z",
        "2026-01-32T00:00:00.000Z", "2026-01-03T24:00:00.000Z", "2026-01-03T12:60:00.000Z",
        "2026-01-03T12:00:60.000Z", "2026-01-03T12:00:00.000z", "2026-01-03T12:00:00X",
        "2026-01-03T12:00:0aZ", "+026-01-03T12:00:00.000Z", "2026-01-03T12:00:00+00:00"})
    EXPECT_FALSE(parse_rfc3339(bad)) << bad;
}

TEST(Instant, GoesByTheBootClockWithinOneBoot) {
  const Instant now{.unix_ms = 1000, .boot_ms = 500, .boot = {"a"}};
  Instant deadline = later_by(now, 300);
  EXPECT_EQ(ms_until(deadline, now), 300);
  deadline.unix_ms -= 1'000'000;
  EXPECT_EQ(ms_until(deadline, now), 300) << "a changed wall clock changes nothing";
  EXPECT_FALSE(has_passed(deadline, now));
  EXPECT_TRUE(has_passed(now, now)) << "at the moment itself it has passed";
}

TEST(Instant, GoesByTheWallClockAcrossBootsAndOnServers) {
  const Instant deadline{.unix_ms = 2000, .boot_ms = 900'000, .boot = {"a"}};
  EXPECT_EQ(ms_until(deadline, {.unix_ms = 1500, .boot_ms = 3, .boot = {"b"}}), 500);
  const Instant server{.unix_ms = 2000, .boot_ms = 0, .boot = {}};
  EXPECT_EQ(ms_until(server, {.unix_ms = 1990, .boot_ms = 7, .boot = {}}), 10);
}

TEST(DurationText, SaysWhatAPersonWantsToKnow) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(999), "0 s");
  EXPECT_EQ(duration_text(45'000), "45 s");
  EXPECT_EQ(duration_text(60'000), "1 min");
  EXPECT_EQ(duration_text(598'000), "9 min 58 s");
  EXPECT_EQ(duration_text(12'000'000), "3 h 20 min");
  EXPECT_EQ(duration_text(187'200'000), "2 d 4 h");
  EXPECT_EQ(duration_text(-45'000), "45 s");
}

TEST(ErrorKind, HasTheExitCodesOfTheContract) {
  EXPECT_EQ(exit_code(ErrorKind::internal), 1);
  EXPECT_EQ(exit_code(ErrorKind::held), 3);
  EXPECT_EQ(exit_code(ErrorKind::not_found), 4);
  EXPECT_EQ(exit_code(ErrorKind::lease_lost), 5);
  EXPECT_EQ(exit_code(ErrorKind::refused), 8);
  EXPECT_EQ(exit_code(ErrorKind::not_set_up), 10);
  EXPECT_EQ(exit_code(ErrorKind::unreachable), 11);
  EXPECT_EQ(exit_code(ErrorKind::contended), 12);
  EXPECT_EQ(exit_code(ErrorKind::usage), 64);
  EXPECT_EQ(name_of(ErrorKind::lease_lost), "lease_lost");
}

}  // namespace
}  // namespace dibs
