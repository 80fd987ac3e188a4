// Randomness that a test can repeat: the same seed gives the same bytes.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>

#include "sys/randomness.h"

namespace dibs {

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}

  void fill(std::span<std::uint8_t> bytes) override {
    const std::lock_guard lock(mutex_);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine_() >> 56U);
  }
  // A coin that shows heads `in_hundred` times out of a hundred.
  [[nodiscard]] bool chance(std::uint64_t in_hundred) { return below(100) < in_hundred; }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace dibs
