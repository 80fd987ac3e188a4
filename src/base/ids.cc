#include "base/ids.h"

#include "base/text.h"

namespace dibs {

namespace {
constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
}

std::string Nonce::hex() const {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) append_hex(text, byte);
  return text;
}

std::optional<Nonce> Nonce::from_hex(std::string_view text) {
  Nonce nonce;
  if (text.size() != nonce.bytes.size() * 2) return std::nullopt;
  for (std::size_t i = 0; i < nonce.bytes.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    nonce.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return nonce;
}

std::string make_ulid(std::int64_t unix_ms, const std::array<std::uint8_t, 10>& random) {
  std::string text(kUlidLength, '0');
  auto milliseconds = static_cast<std::uint64_t>(unix_ms);
  for (std::size_t i = 10; i-- > 0; milliseconds >>= 5U) text[i] = kCrockford[milliseconds & 31U];

  // Eighty bits are two groups of five bytes, and each group is eight letters of five bits.
  for (std::size_t group = 0; group < 2; ++group) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 5; ++i) bits = bits << 8U | random[group * 5 + i];
    for (std::size_t i = 8; i-- > 0; bits >>= 5U) text[10 + group * 8 + i] = kCrockford[bits & 31U];
  }
  return text;
}

bool is_ulid(std::string_view text) {
  // The first letter holds only three bits, so it never exceeds 7.
  return text.size() == kUlidLength && text.front() <= '7' &&
         text.find_first_not_of(kCrockford) == std::string_view::npos;
}

}  // namespace dibs
