#include "git/loose_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/sha.h"
#include "git/inflate.h"

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

std::string with_head(std::string_view type, std::string_view content) {
  std::string object = fmt::format("{} {}", type, content.size());
  object += '\0';
  object += content;
  return object;
}

std::string name_of(ObjectFormat format, std::string_view object) {
  return format == ObjectFormat::sha256 ? sha256_hex(object) : sha1_hex(object);
}

}  // namespace

ObjectFormat format_of(std::string_view name) {
  constexpr std::size_t kSha256Hex = 64;
  return name.size() == kSha256Hex ? ObjectFormat::sha256 : ObjectFormat::sha1;
}

std::string object_name(ObjectFormat format, std::string_view type, std::string_view content) {
  return name_of(format, with_head(type, content));
}

LooseObject loose_object(ObjectFormat format, std::string_view type, std::string_view content) {
  const std::string object = with_head(type, content);
  return {.name = name_of(format, object), .bytes = zlib_stored(object)};
}

std::optional<std::string> unwrapped(std::string_view bytes, std::string_view type,
                                     std::string_view name) {
  std::optional<std::string> object = inflated(bytes, kObjectMax);
  if (!object || name_of(format_of(name), *object) != name) return std::nullopt;
  const std::size_t head = object->find('\0');
  if (head == std::string::npos || !object->starts_with(std::string(type) + " "))
    return std::nullopt;
  return object->erase(0, head + 1);
}

}  // namespace dibs
