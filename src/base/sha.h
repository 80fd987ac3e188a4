// SHA-256 (FIPS 180-4), for names that must not collide even when someone tries; SHA-1 only because
// git names its objects by it.
#pragma once

#include <string>
#include <string_view>

namespace dibs {

[[nodiscard]] std::string sha256_hex(std::string_view bytes);
[[nodiscard]] std::string sha1_hex(std::string_view bytes);

}  // namespace dibs
