#include "git/loose_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/sha.h"

namespace dibs {

namespace {

constexpr std::size_t kStoredBlockMax = 65'535;

std::uint32_t adler32(std::string_view bytes) {
  constexpr std::uint32_t kModulus = 65'521;
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const char c : bytes) {
    low = (low + static_cast<std::uint8_t>(c)) % kModulus;
    high = (high + low) % kModulus;
  }
  return high << 16U | low;
}

void append_u16(std::string& out, std::size_t value) {  // the lower byte first
  out += static_cast<char>(value & 0xffU);
  out += static_cast<char>(value >> 8U & 0xffU);
}

// zlib's format (RFC 1950 and 1951) with blocks that are stored as they are: a few hundred bytes
// are not worth packing. An object is never empty.
std::string zlib_stored(std::string_view bytes) {
  std::string out = "\x78\x01";
  const std::uint32_t checksum = adler32(bytes);
  while (!bytes.empty()) {
    const std::size_t length = std::min(bytes.size(), kStoredBlockMax);
    out += length == bytes.size() ? '\x01' : '\x00';  // the last one says so
    append_u16(out, length);
    append_u16(out, ~length & 0xffffU);
    out += bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(checksum >> shift);
  return out;
}

}  // namespace

LooseObject loose_object(ObjectFormat format, std::string_view type, std::string_view content) {
  std::string object = fmt::format("{} {}", type, content.size());
  object += '\0';
  object += content;
  return {.name = format == ObjectFormat::sha256 ? sha256_hex(object) : sha1_hex(object),
          .bytes = zlib_stored(object)};
}

}  // namespace dibs
