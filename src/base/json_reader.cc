#include "base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/utf8.h"

namespace dibs {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class Number>
bool whole(std::string_view digits, Json& out) {
  Number value{};
  const auto [stopped, status] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || stopped != digits.data() + digits.size()) return false;
  out = value;
  return true;
}

}  // namespace

bool JsonReader::end() {
  skip_space();
  return rest_.empty() || stop(kNotWellFormed);
}

bool JsonReader::word(std::string_view expected) {
  if (!rest_.starts_with(expected)) return stop(kNotWellFormed);
  rest_.remove_prefix(expected.size());
  return true;
}

bool JsonReader::value(Json& out) {
  switch (next()) {
    case '{':
      return object(out);
    case '[':
      return array(out);
    case '"':
      out = std::string();
      return string(out.get_ref<std::string&>());
    case 't':
      out = true;
      return word("true");
    case 'f':
      out = false;
      return word("false");
    case 'n':
      out = nullptr;
      return word("null");
    default:
      return number(out);
  }
}

bool JsonReader::pass_over() {
  Json unused;
  return value(unused);
}

bool JsonReader::object(Json& out) {
  out = Json::object();
  auto& into = out.get_ref<Json::object_t&>();
  return members([&](std::string_view name) {
    if (into.size() >= kJsonMembersMax) return stop("an object has too many members");
    if (into.empty()) into.reserve(16);  // growing copies every name
    const auto [member, is_new] = into.emplace(std::string(name), Json());
    if (!is_new) return stop("a key stands in it twice");
    return value(member->second);
  });
}

bool JsonReader::array(Json& out) {
  out = Json::array();
  auto& into = out.get_ref<Json::array_t&>();
  return elements([&] { return value(into.emplace_back()); });
}

bool JsonReader::text(std::string_view& out) {
  if (!skip('"')) return stop(kNotWellFormed);
  const std::size_t plain = plain_json_prefix(rest_);
  if (plain < rest_.size() && rest_[plain] == '"') {
    out = rest_.substr(0, plain);
    rest_.remove_prefix(plain + 1);
    return true;
  }
  buffer_.clear();
  if (!rest_of_string(buffer_)) return false;
  out = buffer_;
  return true;
}

bool JsonReader::string(std::string& out) {
  if (!skip('"')) return stop(kNotWellFormed);
  out.clear();
  return rest_of_string(out);
}

bool JsonReader::rest_of_string(std::string& out) {
  while (!rest_.empty()) {
    const std::size_t plain = plain_json_prefix(rest_);
    out += rest_.substr(0, plain);
    rest_.remove_prefix(plain);
    if (skip('"')) return true;
    if (skip('\\')) {
      if (!escape(out)) return stop(kNotWellFormed);
      continue;
    }
    // What is left: a control character, which must be escaped but for DEL, or a character past
    // ASCII.
    const std::optional<CodePoint> point = decode_utf8(rest_);
    if (!point || point->value < 0x20) return stop(kNotWellFormed);
    out += rest_.substr(0, point->length);
    rest_.remove_prefix(point->length);
  }
  return stop(kNotWellFormed);
}

bool JsonReader::escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (rest_.empty()) return false;
  if (const std::size_t at = kNames.find(rest_.front()); at != std::string_view::npos) {
    out += kMeanings[at];
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<char32_t> point = unit();
  if (!point) return false;
  if (*point >= 0xd800 && *point <= 0xdfff) {
    // Half of a pair: the first half, and the second must follow.
    const std::optional<char32_t> low = *point < 0xdc00 && skip('\\') ? unit() : std::nullopt;
    if (!low || *low < 0xdc00 || *low > 0xdfff) return false;
    point = 0x10000 + (*point - 0xd800) * 0x400 + (*low - 0xdc00);
  }
  append_utf8(out, *point);
  return true;
}

// uXXXX
std::optional<char32_t> JsonReader::unit() {
  if (rest_.size() < 5 || rest_.front() != 'u') return std::nullopt;
  std::uint32_t value = 0;
  const char* end = rest_.data() + 5;
  const auto [stopped, status] = std::from_chars(rest_.data() + 1, end, value, 16);
  if (status != std::errc{} || stopped != end) return std::nullopt;
  rest_.remove_prefix(5);
  return value;
}

bool JsonReader::number(Json& out) {
  const std::size_t length = number_length();
  if (length == 0) return stop(kNotWellFormed);
  const std::string_view digits = rest_.substr(0, length);
  rest_.remove_prefix(length);
  if (digits.find_first_of(".eE") == std::string_view::npos) {
    if (digits.front() == '-' ? whole<std::int64_t>(digits, out)
                              : whole<std::uint64_t>(digits, out))
      return true;
  }
  return whole<double>(digits, out) || stop("a number in it is out of range");
}

// Of the number at the front, as JSON writes numbers; 0 when there is none.
std::size_t JsonReader::number_length() const {
  std::size_t at = 0;
  const auto is_at = [&](std::string_view any_of) {
    return at < rest_.size() && any_of.find(rest_[at]) != std::string_view::npos;
  };
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < rest_.size() && is_digit(rest_[at])) ++at;
    return at > begin;
  };
  if (is_at("-")) ++at;
  if (is_at("0")) {
    ++at;
  } else if (!digits()) {
    return 0;
  }
  if (is_at(".")) {
    ++at;
    if (!digits()) return 0;
  }
  if (is_at("eE")) {
    ++at;
    if (is_at("+-")) ++at;
    if (!digits()) return 0;
  }
  return at;
}

Error JsonReader::error() const {
  const std::string_view read = text_.substr(0, text_.size() - rest_.size());
  const auto lines_before = std::count(read.begin(), read.end(), '\n');
  // What is one line by nature, such as a log's, has no use for its number.
  const std::string where =
      lines_before == 0 ? std::string() : fmt::format(" in line {}", lines_before + 1);
  return {.kind = ErrorKind::internal,
          .message = fmt::format("bad JSON{}: {}", where, problem_),
          .hint = {},
          .fields = {}};
}

Result<Json> parse_json(std::string_view text) {
  JsonReader reader(text);
  Json parsed;
  if (reader.value(parsed) && reader.end()) return parsed;
  return fail(reader.error());
}

}  // namespace dibs
