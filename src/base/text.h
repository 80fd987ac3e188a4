// Small text tools that several layers share: hexadecimal, UTF-8, numbers, the nearest word, and
// the one escape that makes foreign text safe to show.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dibs {

void append_hex(std::string& out, std::uint8_t byte);
[[nodiscard]] std::string to_hex(std::string_view bytes);
[[nodiscard]] int hex_digit(char c);  // -1 when it is none
[[nodiscard]] std::string hex32(std::uint32_t value);
[[nodiscard]] std::optional<std::uint32_t> parse_hex32(std::string_view text);

// Decimal digits and nothing else; nothing on overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// Reads one UTF-8 code point from the front of `text` and says how many bytes it took; nothing
// when the bytes are not UTF-8 (overlong forms and surrogates included).
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};
[[nodiscard]] std::optional<CodePoint> decode_utf8(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);

// Control characters, and the invisible ones that reorder or hide what a reader sees.
[[nodiscard]] bool is_unsafe_to_show(char32_t code_point);

// UTF-8 with no unsafe character in it.
[[nodiscard]] bool is_printable(std::string_view text);

// `text` as it may be shown on a terminal: unsafe characters and stray bytes become \x1b, \u202e…
[[nodiscard]] std::string printable(std::string_view text);

// `text` as one word that can be pasted into a shell: quoted unless it is harmless as it stands.
[[nodiscard]] std::string shell_word(std::string_view text);

// The candidate closest to `word`, if any is close enough that a typo explains the difference.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      std::span<const std::string_view> candidates);

// As string_view's find and rfind, but fast on long texts: a log tail is searched on every claim.
[[nodiscard]] bool contains(std::string_view text, std::string_view part);
[[nodiscard]] std::size_t find_last(std::string_view text, std::string_view part);

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
template <std::same_as<std::string> Temporary>
void split(Temporary&& text, char separator) = delete;  // the views would outlive it
[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace dibs
