// CRC-32C (Castagnoli), the checksum of log lines and index lines. It finds damage, not malice.
#pragma once

#include <cstdint>
#include <string_view>

namespace dibs {

// `seed` is the checksum of what came before: crc32c(crc32c(0, a), b) == crc32c(0, a + b).
[[nodiscard]] std::uint32_t crc32c(std::uint32_t seed, std::string_view bytes);

// The same without the processor's help, as it runs where there is none; for tests to compare.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::uint32_t seed, std::string_view bytes);

}  // namespace dibs
