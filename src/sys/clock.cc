#include "sys/clock.h"

#include <cerrno>
#include <ctime>

#include "sys/machine.h"

namespace dibs {

namespace {
std::int64_t read_us(clockid_t which) {
  timespec at{};
  clock_gettime(which, &at);
  return std::int64_t{at.tv_sec} * 1'000'000 + at.tv_nsec / 1000;
}
}  // namespace

Instant SystemClock::now() {
  if (boot_.empty()) boot_ = read_boot_id();
  return {.unix_ms = read_us(CLOCK_REALTIME) / 1000,
          .boot_ms = read_us(CLOCK_BOOTTIME) / 1000,
          .boot = boot_};
}

std::int64_t SystemClock::stopwatch_us() { return read_us(CLOCK_MONOTONIC); }
std::int64_t monotonic_ms() { return read_us(CLOCK_MONOTONIC) / 1000; }

void SystemClock::sleep_ms(std::int64_t ms) {
  if (ms <= 0) return;
  timespec left{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace dibs
