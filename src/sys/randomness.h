// Randomness, as the rest of dibs sees it. Nonces and lease ids need it to be unpredictable.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/ids.h"

namespace dibs {

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::uint8_t> bytes) = 0;

  [[nodiscard]] Nonce nonce();
  [[nodiscard]] LeaseId lease_id(std::int64_t unix_ms);
  template <std::size_t N>
  [[nodiscard]] std::array<std::uint8_t, N> bytes() {
    std::array<std::uint8_t, N> some{};
    fill(some);
    return some;
  }
  // Uniform enough for jitter: 0 ≤ result < bound.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
};

class SystemRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> bytes) override;
};

}  // namespace dibs
