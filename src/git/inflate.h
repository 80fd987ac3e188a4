// What git has compressed, as its loose objects are: zlib's format (RFC 1950).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dibs {

// Nothing when it is damaged, goes on after its end, or would be larger than `most` bytes.
[[nodiscard]] std::optional<std::string> inflated(std::string_view bytes, std::size_t most);

}  // namespace dibs
