// A reading of the boot-time clock as records keep it. Records come from other machines, so a
// number that no clock could show is none: sums and differences of readings must stay numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"

namespace dibs {

inline constexpr std::int64_t kBootMsMax = 1LL << 53U;  // 285,000 years

[[nodiscard]] inline std::optional<std::int64_t> boot_ms_member(const Json& json,
                                                                const char* name) {
  const std::optional<std::int64_t> ms = integer_member(json, name);
  return ms && *ms >= 0 && *ms <= kBootMsMax ? ms : std::nullopt;
}

}  // namespace dibs
