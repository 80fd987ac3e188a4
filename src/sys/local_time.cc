#include "sys/local_time.h"

#include <array>
#include <ctime>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kForm = "0000-00-00 00:00:00";
constexpr std::size_t kMinuteForm = 16;  // of it, the part without seconds

bool has_form(std::string_view text) {
  if (text.size() != kForm.size() && text.size() != kMinuteForm) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return false;
  }
  return true;
}

}  // namespace

std::string local_minute(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  std::array<char, kForm.size() + 1> text{};
  if (localtime_r(&seconds, &parts) == nullptr) return std::string(kForm.substr(0, kMinuteForm));
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
  return {text.data(), length};
}

std::optional<std::int64_t> parse_local_time(std::string_view text) {
  if (!has_form(text)) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    return static_cast<int>(parse_unsigned(text.substr(at, length)).value_or(0));
  };
  std::tm parts{};
  parts.tm_year = number(0, 4) - 1900;
  parts.tm_mon = number(5, 2) - 1;
  parts.tm_mday = number(8, 2);
  parts.tm_hour = number(11, 2);
  parts.tm_min = number(14, 2);
  parts.tm_sec = text.size() > kMinuteForm ? number(17, 2) : 0;
  parts.tm_isdst = -1;
  const std::tm asked = parts;
  const std::time_t seconds = std::mktime(&parts);
  // mktime turns the 31st of February into some day of March; nobody meant that.
  const bool a_real_day = parts.tm_mday == asked.tm_mday && parts.tm_mon == asked.tm_mon;
  if (seconds < 0 || !a_real_day || asked.tm_hour > 23 || asked.tm_min > 59 || asked.tm_sec > 59)
    return std::nullopt;
  return std::int64_t{seconds} * 1000;
}

}  // namespace dibs
