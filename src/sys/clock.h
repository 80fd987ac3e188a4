// Time, as the rest of dibs sees it. Nothing outside sys/ reads a clock or sleeps.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace dibs {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() = 0;
  // Runs evenly whatever is done to the other clocks; for measuring, not for deciding.
  [[nodiscard]] virtual std::int64_t stopwatch_us() = 0;
  virtual void sleep_ms(std::int64_t ms) = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() override;
  [[nodiscard]] std::int64_t stopwatch_us() override;
  void sleep_ms(std::int64_t ms) override;

 private:
  BootId boot_;  // read once: it cannot change while we run
};

// The same stopwatch, for the parts of sys/ that wait for programs.
[[nodiscard]] std::int64_t monotonic_ms();

}  // namespace dibs
