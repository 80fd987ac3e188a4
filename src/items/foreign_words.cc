#include "items/foreign_words.h"

#include "base/text.h"
#include "base/time.h"
#include "model/item.h"

namespace dibs {

std::string shown_title(std::string_view title, std::string_view fallback) {
  std::string shown;
  for (std::string_view rest = title; !rest.empty();) {
    const std::optional<CodePoint> point = decode_utf8(rest);
    const std::size_t length = point ? point->length : 1;
    if (shown.size() + length > kTitleMax) break;
    if (point && !is_unsafe_to_show(point->value)) {
      shown += rest.substr(0, length);
    } else {
      shown += ' ';
    }
    rest.remove_prefix(length);
  }
  const std::string_view trimmed = trim(shown);
  return std::string(trimmed.empty() ? fallback : trimmed);
}

namespace {

// "Z", "+05:30": how far ahead of UTC its clocks are.
std::optional<std::int64_t> offset_ms(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto hours = parse_unsigned(text.substr(1, 2));
  const auto minutes = parse_unsigned(text.substr(4, 2));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const auto ms = static_cast<std::int64_t>((*hours * 60 + *minutes) * 60'000);
  return text[0] == '-' ? -ms : ms;
}

}  // namespace

std::optional<std::int64_t> parse_any_rfc3339(std::string_view text) {
  constexpr std::size_t kSeconds = std::string_view("2026-01-03T12:00:00").size();
  if (text.size() <= kSeconds) return std::nullopt;
  std::string_view rest = text.substr(kSeconds);
  std::string fraction;
  if (rest.starts_with('.')) {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos) return std::nullopt;
    fraction = std::string(rest.substr(1, end - 1));
    rest.remove_prefix(end);
  }
  fraction.resize(3, '0');
  const std::optional<std::int64_t> ahead = offset_ms(rest);
  const std::optional<std::int64_t> local =
      parse_rfc3339(std::string(text.substr(0, kSeconds)) + "." + fraction + "Z");
  if (!ahead || !local) return std::nullopt;
  return parse_rfc3339(rfc3339(*local - *ahead));  // within what can be written
}

}  // namespace dibs
