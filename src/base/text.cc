#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <numeric>

namespace dibs {

namespace {
constexpr std::string_view kHexDigits = "0123456789abcdef";

struct Utf8Form {
  std::size_t length;
  std::uint8_t lead_mask;
  char32_t smallest;  // a smaller value in this many bytes is an overlong form
};

std::optional<Utf8Form> utf8_form(std::uint8_t lead) {
  if (lead < 0x80) return Utf8Form{1, 0x7f, 0};
  if ((lead & 0xe0U) == 0xc0) return Utf8Form{2, 0x1f, 0x80};
  if ((lead & 0xf0U) == 0xe0) return Utf8Form{3, 0x0f, 0x800};
  if ((lead & 0xf8U) == 0xf0) return Utf8Form{4, 0x07, 0x10000};
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}
}  // namespace

void append_hex(std::string& out, std::uint8_t byte) {
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 15U];
}

std::string to_hex(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char byte : bytes) append_hex(hex, static_cast<std::uint8_t>(byte));
  return hex;
}

int hex_digit(char c) {
  const std::size_t at = kHexDigits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string hex32(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    append_hex(text, static_cast<std::uint8_t>(value >> shift));
  return text;
}

std::optional<std::uint32_t> parse_hex32(std::string_view text) {
  if (text.size() != 8) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    value = value << 4U | static_cast<std::uint32_t>(digit);
  }
  return value;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, value);
  if (text.empty() || status != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

std::optional<CodePoint> decode_utf8(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto byte_at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::optional<Utf8Form> form = utf8_form(byte_at(0));
  if (!form || text.size() < form->length) return std::nullopt;
  char32_t value = byte_at(0) & form->lead_mask;
  for (std::size_t i = 1; i < form->length; ++i) {
    if ((byte_at(i) & 0xc0U) != 0x80) return std::nullopt;
    value = value << 6U | (byte_at(i) & 0x3fU);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < form->smallest || value > 0x10ffff || surrogate) return std::nullopt;
  return CodePoint{value, form->length};
}

namespace {

// How much of it is one byte a character: eight of them are told at once.
std::size_t ascii_prefix(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t length = 0;
  for (std::uint64_t eight = 0; length + sizeof eight <= text.size(); length += sizeof eight) {
    std::memcpy(&eight, text.data() + length, sizeof eight);
    if ((eight & kHighBits) != 0) break;
  }
  return length;
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

}  // namespace

bool is_utf8(std::string_view text) {
  for (text.remove_prefix(ascii_prefix(text)); !text.empty();) {
    const std::optional<CodePoint> point = decode_utf8(text);
    if (!point) return false;
    text.remove_prefix(point->length);
  }
  return true;
}

bool is_unsafe_to_show(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool bidi = c == 0x061c || (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
                    (c >= 0x2066 && c <= 0x2069);
  const bool invisible = (c >= 0x200b && c <= 0x200d) || c == 0x2028 || c == 0x2029 ||
                         c == 0x2060 || c == 0xfeff || c == 0x00ad ||
                         (c >= 0xe0000 && c <= 0xe007f);
  return control || bidi || invisible;
}

bool is_printable(std::string_view text) {
  text.remove_prefix(
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin()));
  while (!text.empty()) {
    const std::optional<CodePoint> point = decode_utf8(text);
    if (!point || is_unsafe_to_show(point->value)) return false;
    text.remove_prefix(point->length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::optional<CodePoint> point = decode_utf8(text);
    const std::size_t length = point ? point->length : 1;
    if (point && !is_unsafe_to_show(point->value)) {
      shown += text.substr(0, length);
    } else if (point && point->value > 0xff) {
      shown += "\\u";
      if (point->value > 0xffff) append_hex(shown, static_cast<std::uint8_t>(point->value >> 16U));
      append_hex(shown, static_cast<std::uint8_t>(point->value >> 8U));
      append_hex(shown, static_cast<std::uint8_t>(point->value));
    } else {
      shown += "\\x";
      append_hex(shown, static_cast<std::uint8_t>(point ? point->value
                                                        : static_cast<std::uint8_t>(text[0])));
    }
    text.remove_prefix(length);
  }
  return shown;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kHarmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@%+=/-";
  if (!text.empty() && text.find_first_not_of(kHarmless) == std::string_view::npos)
    return std::string(text);
  std::string word = "'";
  for (const char c : printable(text)) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestWord = 64;  // the distance is quadratic, and no option is longer
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool contains(std::string_view text, std::string_view part) {
  if (part.empty() || text.empty()) return part.empty();  // memmem takes no null pointer
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

std::size_t find_last(std::string_view text, std::string_view part) {
  std::size_t last = std::string_view::npos;
  for (std::size_t from = 0; from < text.size();) {
    const void* found = ::memmem(text.data() + from, text.size() - from, part.data(), part.size());
    if (found == nullptr) break;
    last = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    from = last + 1;
  }
  return last;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace dibs
