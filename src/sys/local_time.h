// Times as people in this place write them, to the minute: what lock files of other tools carry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dibs {

// 2026-02-13 14:30, by this machine's time zone.
[[nodiscard]] std::string local_minute(std::int64_t unix_ms);
// The way back, with seconds or without. An hour that the clocks went through twice is taken for
// the first.
[[nodiscard]] std::optional<std::int64_t> parse_local_time(std::string_view text);

}  // namespace dibs
