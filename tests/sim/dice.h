// The only source of chance in a simulation: everything that happens is a function of its seed.
#pragma once

#include <cstdint>

#include "sys/randomness.h"

namespace dibs::sim {

/// SplitMix64: small, fast, and the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  // 0 ≤ result < bound.
  [[nodiscard]] std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + below(most - least + 1);
  }
  // Never when `n` is 0.
  [[nodiscard]] bool one_in(std::int64_t n) { return n > 0 && below(n) == 0; }
  [[nodiscard]] bool chance(std::int64_t in_hundred) { return below(100) < in_hundred; }

 private:
  std::uint64_t state_;
};

/// What a simulated process gets for randomness.
class DiceRandom final : public Random {
 public:
  explicit DiceRandom(std::uint64_t seed) : dice_(seed) {}
  void fill(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice_.next() >> 56U);
  }

 private:
  Dice dice_;
};

}  // namespace dibs::sim
