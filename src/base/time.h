// Moments and how they are written. An Instant carries two clocks, because one is not enough: the
// boot-time clock decides expiry (nobody can set it), the wall clock is for people and for what
// survives a reboot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace dibs {

struct Instant {
  std::int64_t unix_ms = 0;  // wall clock
  std::int64_t boot_ms = 0;  // since boot, suspended time included; counts only within one boot
  BootId boot;  // which boot; empty where a server's clock rules and only unix_ms counts

  friend bool operator==(const Instant&, const Instant&) = default;
};

// How long until `deadline`, negative once it has passed. Within one boot the boot-time clock
// answers, so that a changed wall clock expires nothing; across boots only the wall clock can.
[[nodiscard]] std::int64_t ms_until(const Instant& deadline, const Instant& now);

[[nodiscard]] inline bool has_passed(const Instant& deadline, const Instant& now) {
  return ms_until(deadline, now) <= 0;
}

[[nodiscard]] Instant later_by(const Instant& instant, std::int64_t ms);

// 2026-01-03T12:00:00.250Z
[[nodiscard]] std::string rfc3339(std::int64_t unix_ms);
[[nodiscard]] std::optional<std::int64_t> parse_rfc3339(std::string_view text);

// "45 s", "9 min 58 s", "3 h 20 min", "2 d 4 h": what a person wants to know.
[[nodiscard]] std::string duration_text(std::int64_t ms);

}  // namespace dibs
