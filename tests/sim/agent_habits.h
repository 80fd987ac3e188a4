// The times that simulated agents live by: short, so that much happens in little simulated time.
#pragma once

#include <cstdint>

namespace dibs::sim {

inline constexpr std::int64_t kStaleSecs = 60;  // an indefinite lease without a sign of life
inline constexpr std::int64_t kStaleMs = kStaleSecs * 1000;
inline constexpr std::int64_t kTtlLeastSecs = 3;
inline constexpr std::int64_t kTtlMostSecs = 40;
inline constexpr std::int64_t kSignOfLifeMs = 30'000;  // of one who waits
inline constexpr std::int64_t kSignEveryMs = 10'000;
inline constexpr std::int64_t kPatienceMostMs = 60'000;
inline constexpr std::int64_t kTurnMs = 5'000;  // how long one may leave lying what is its turn

}  // namespace dibs::sim
