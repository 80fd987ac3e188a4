// SHA-256 (FIPS 180-4), for names that must not collide even when someone tries.
#pragma once

#include <string>
#include <string_view>

namespace dibs {

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace dibs
