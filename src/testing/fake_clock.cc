#include "testing/fake_clock.h"

#include <algorithm>

namespace dibs {

Instant FakeClock::now() {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::int64_t FakeClock::stopwatch_us() {
  const std::lock_guard lock(mutex_);
  return elapsed_ms_ * 1000;
}

void FakeClock::sleep_ms(std::int64_t ms) {
  advance_ms(std::max<std::int64_t>(ms, 0));
  const std::lock_guard lock(mutex_);
  slept_ms_ += std::max<std::int64_t>(ms, 0);
}

void FakeClock::advance_ms(std::int64_t ms) {
  const std::lock_guard lock(mutex_);
  now_ = later_by(now_, ms);
  elapsed_ms_ += ms;
}

void FakeClock::jump_wall_ms(std::int64_t ms) {
  const std::lock_guard lock(mutex_);
  now_.unix_ms += ms;
}

void FakeClock::reboot(std::int64_t took_ms) {
  const std::lock_guard lock(mutex_);
  now_ = {.unix_ms = now_.unix_ms + took_ms,
          .boot_ms = 0,
          .boot = {"boot-" + std::to_string(++boots_)}};
  elapsed_ms_ += took_ms;
}

std::int64_t FakeClock::slept_ms() {
  const std::lock_guard lock(mutex_);
  return slept_ms_;
}

}  // namespace dibs
