// What several forms of items have in common: titles and times that other tools wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dibs {

// A title that can be shown in one line: trimmed, without control characters, not too long.
// `fallback` when nothing is left.
[[nodiscard]] std::string shown_title(std::string_view title, std::string_view fallback);

// RFC 3339 in all its breadth, as Go writes it: any number of digits behind the second, any offset.
[[nodiscard]] std::optional<std::int64_t> parse_any_rfc3339(std::string_view text);

}  // namespace dibs
