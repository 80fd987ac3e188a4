#include "base/time.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace dibs {

namespace {
constexpr std::int64_t kDayMs = 86'400'000;
// Years 1970 to 9999: what the text form can hold.
constexpr std::int64_t kLastMs = 253'402'300'799'999;
constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
}  // namespace

std::int64_t ms_until(const Instant& deadline, const Instant& now) {
  const bool same_boot = !deadline.boot.empty() && deadline.boot == now.boot;
  return same_boot ? deadline.boot_ms - now.boot_ms : deadline.unix_ms - now.unix_ms;
}

Instant later_by(const Instant& instant, std::int64_t ms) {
  return {.unix_ms = instant.unix_ms + ms, .boot_ms = instant.boot_ms + ms, .boot = instant.boot};
}

std::string rfc3339(std::int64_t unix_ms) {
  const std::int64_t ms = unix_ms < 0 ? 0 : (unix_ms > kLastMs ? kLastMs : unix_ms);
  const std::chrono::sys_days day{std::chrono::days{ms / kDayMs}};
  const std::chrono::year_month_day date{day};
  const std::int64_t rest = ms % kDayMs;
  // Digit by digit: every claim writes several times, and a format string costs ten times as much.
  std::string text{kForm};
  const auto put = [&](std::size_t at, std::size_t length, std::int64_t value) {
    for (std::size_t i = at + length; i > at; value /= 10)
      text[--i] = static_cast<char>('0' + value % 10);
  };
  put(0, 4, static_cast<int>(date.year()));
  put(5, 2, static_cast<unsigned>(date.month()));
  put(8, 2, static_cast<unsigned>(date.day()));
  put(11, 2, rest / 3'600'000);
  put(14, 2, rest / 60'000 % 60);
  put(17, 2, rest / 1000 % 60);
  put(20, 3, rest % 1000);
  return text;
}

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  if (text.size() == 20 && text.back() == 'Z')
    return parse_rfc3339(std::string(text.substr(0, 19)) + ".000Z");
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    return static_cast<int>(parse_unsigned(text.substr(at, length)).value_or(0));
  };
  const std::chrono::year_month_day date{std::chrono::year{number(0, 4)},
                                         std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                         std::chrono::day{static_cast<unsigned>(number(8, 2))}};
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  const std::int64_t ms =
      days * kDayMs + hour * 3'600'000LL + minute * 60'000LL + second * 1000LL + number(20, 3);
  return ms < 0 ? 0 : ms;  // as it would be written
}

std::string duration_text(std::int64_t ms) {
  const std::int64_t seconds = (ms < 0 ? -ms : ms) / 1000;
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits{
      {{86'400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  for (std::size_t i = 0; i + 1 < kUnits.size(); ++i) {
    const auto [length, name] = kUnits[i];
    if (seconds < length) continue;
    const auto [next_length, next_name] = kUnits[i + 1];
    const std::int64_t rest = seconds % length / next_length;
    return rest == 0 ? fmt::format("{} {}", seconds / length, name)
                     : fmt::format("{} {} {} {}", seconds / length, name, rest, next_name);
  }
  return fmt::format("{} s", seconds);
}

}  // namespace dibs
