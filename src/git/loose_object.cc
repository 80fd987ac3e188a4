#include "git/loose_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/sha.h"

namespace dibs {

namespace {

constexpr std::size_t kStoredBlockMax = 65'535;
constexpr std::string_view kZlibHead = "\x78\x01";

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
  std::string out(kZlibHead);
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

std::size_t u16_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]) |
         static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[at + 1])) << 8U;
}

// What was stored; nothing when git packed it. The checksum is left alone: an object has a name.
std::optional<std::string> stored_in_zlib(std::string_view bytes) {
  constexpr std::size_t kBlockHead = 5;
  if (!bytes.starts_with(kZlibHead)) return std::nullopt;
  bytes.remove_prefix(kZlibHead.size());
  std::string content;
  for (bool last = false; !last;) {
    if (bytes.size() < kBlockHead || static_cast<std::uint8_t>(bytes.front()) > 1)
      return std::nullopt;
    last = bytes.front() == '\x01';
    const std::size_t length = u16_at(bytes, 1);
    bytes.remove_prefix(kBlockHead);
    if (bytes.size() < length) return std::nullopt;
    content += bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  return content;
}

std::string name_of(ObjectFormat format, std::string_view object) {
  return format == ObjectFormat::sha256 ? sha256_hex(object) : sha1_hex(object);
}

}  // namespace

ObjectFormat format_of(std::string_view name) {
  constexpr std::size_t kSha256Hex = 64;
  return name.size() == kSha256Hex ? ObjectFormat::sha256 : ObjectFormat::sha1;
}

LooseObject loose_object(ObjectFormat format, std::string_view type, std::string_view content) {
  std::string object = fmt::format("{} {}", type, content.size());
  object += '\0';
  object += content;
  return {.name = name_of(format, object), .bytes = zlib_stored(object)};
}

std::optional<std::string> unwrapped(std::string_view bytes, std::string_view type,
                                     std::string_view name) {
  std::optional<std::string> object = stored_in_zlib(bytes);
  if (!object || name_of(format_of(name), *object) != name) return std::nullopt;
  const std::size_t head = object->find('\0');
  if (head == std::string::npos || !object->starts_with(std::string(type) + " "))
    return std::nullopt;
  return object->erase(0, head + 1);
}

}  // namespace dibs
