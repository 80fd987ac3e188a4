#include "verbs/observe.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kHourMs = 3'600'000;

Settings settings_with(const std::string& key, const std::string& value) {
  Settings settings;
  const Assignment assignment{.key = key, .value = value, .origin = "test"};
  settings.apply({&assignment, 1});
  return settings;
}

Metrics asked_for(std::uint64_t granted, std::uint64_t refused) {
  Metrics metrics;
  metrics.granted = granted;
  metrics.counts[static_cast<std::size_t>(Counter::conflicts)] = refused;
  return metrics;
}

TEST(Metrics, HaveNoRateWhileNobodyAsked) {
  EXPECT_FALSE(asked_for(0, 0).success_rate());
  EXPECT_FALSE(asked_for(0, 3).contention());
  EXPECT_EQ(asked_for(0, 3).success_rate(), 0.0);
  EXPECT_EQ(asked_for(3, 1).success_rate(), 0.75);
  EXPECT_EQ(asked_for(4, 1).contention(), 0.25);
}

TEST(Alerts, AreNoneWhenAllIsWell) { EXPECT_TRUE(alerts_of(asked_for(3, 1), {}).empty()); }

TEST(Alerts, WarnOfStaleLeasesFromTheLimitOn) {
  Metrics metrics;
  metrics.stale = 3;
  EXPECT_TRUE(alerts_of(metrics, settings_with("metrics.max_stale", "3")).empty());
  const std::vector<Alert> alerts = alerts_of(metrics, settings_with("metrics.max_stale", "2"));
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].about, Alert::About::stale);
  EXPECT_EQ(alerts[0].fix, "dibs claim cleanup");
  metrics.stale = 1'000'000;
  EXPECT_TRUE(alerts_of(metrics, settings_with("metrics.max_stale", "0")).empty());
}

TEST(Alerts, WarnOfALowSuccessRateOnlyWhenEnoughWereAsked) {
  const Settings half = settings_with("metrics.min_success_pct", "50");
  EXPECT_TRUE(alerts_of(asked_for(0, 19), half).empty());
  EXPECT_TRUE(alerts_of(asked_for(10, 10), half).empty());
  const std::vector<Alert> alerts = alerts_of(asked_for(9, 11), half);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].about, Alert::About::success_rate);
  EXPECT_TRUE(contains(alerts[0].what, "9 of 20"));
  EXPECT_TRUE(alerts_of(asked_for(0, 99), settings_with("metrics.min_success_pct", "0")).empty());
}

TEST(Alerts, WarnOfALeaseThatIsHeldForLong) {
  Metrics metrics;
  metrics.longest_held_ms = 25 * kHourMs;
  EXPECT_EQ(alerts_of(metrics, {}).size(), 1U);
  EXPECT_TRUE(alerts_of(metrics, settings_with("metrics.max_held_hours", "25")).empty());
  EXPECT_TRUE(alerts_of(metrics, settings_with("metrics.max_held_hours", "0")).empty());
}

}  // namespace

}  // namespace dibs::verbs
