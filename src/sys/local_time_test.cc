#include "sys/local_time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace dibs {
namespace {

/// Another place, for as long as it lives.
class Zone {
 public:
  explicit Zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
  ~Zone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

constexpr std::int64_t kNoonUtc = 1'767'441'600'000;  // 2026-01-03T12:00:00Z

TEST(LocalTime, IsThatOfThePlace) {
  for (const auto& [zone, text] :
       {std::pair{"UTC0", "2026-01-03 12:00"}, std::pair{"XST-5:30", "2026-01-03 17:30"},
        std::pair{"YST8", "2026-01-03 04:00"}}) {
    const Zone there(zone);
    EXPECT_EQ(local_minute(kNoonUtc + 59'999), text);
    EXPECT_EQ(parse_local_time(text), kNoonUtc);
    EXPECT_EQ(parse_local_time(std::string(text) + ":07"), kNoonUtc + 7'000);
  }
}

TEST(LocalTime, IsNothingElse) {
  const Zone there("UTC0");
  for (const char* text :
       {"", "yesterday", "2026-01-03", "2026-01-03T12:00", "2026-01-03 12:00 ", "2026-02-30 12:00",
        "2026-13-01 12:00", "2026-01-00 12:00", "2026-01-03 24:00", "2026-01-03 12:60",
        "2026-01-03 12:00:60", "0000-01-01 00:00", "2026-01-03 1a:00"})
    EXPECT_FALSE(parse_local_time(text)) << text;
}

}  // namespace
}  // namespace dibs
