// A clock that stands still until a test moves it: wall clock, boot-time clock and boot apart, so
// that a test can set one without the others. Sleeping moves it on and takes no time.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "sys/clock.h"

namespace dibs {

class FakeClock final : public Clock {
 public:
  // 2026-01-03T12:00:00Z, an hour after boot.
  static constexpr std::int64_t kStartUnixMs = 1'767'441'600'000;

  [[nodiscard]] Instant now() override;
  [[nodiscard]] std::int64_t stopwatch_us() override;
  void sleep_ms(std::int64_t ms) override;

  // Time passes, on every clock.
  void advance_ms(std::int64_t ms);
  // Somebody sets the wall clock; nothing else changes.
  void jump_wall_ms(std::int64_t ms);
  // The machine restarts, which takes `took_ms` by the wall clock.
  void reboot(std::int64_t took_ms = 60'000);

  [[nodiscard]] std::int64_t slept_ms();

 private:
  std::mutex mutex_;
  Instant now_{.unix_ms = kStartUnixMs, .boot_ms = 3'600'000, .boot = {"boot-1"}};
  std::int64_t elapsed_ms_ = 0;
  std::int64_t slept_ms_ = 0;
  int boots_ = 1;
};

}  // namespace dibs
