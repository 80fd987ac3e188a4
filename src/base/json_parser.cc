// A JSON parser with bounds. nlohmann's own costs three times as much, and parsing is most of what
// a question about leases does; its value type and its manners (RFC 8259, strict UTF-8) stay.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace dibs {

namespace {

constexpr const char* kNotWellFormed = "it is not well-formed";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, char32_t point) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  const auto following = [&](unsigned shift) { return byte(0x80U | (point >> shift & 0x3fU)); };
  if (point < 0x80) {
    out += byte(point);
  } else if (point < 0x800) {
    out += {byte(0xc0U | point >> 6U), following(0)};
  } else if (point < 0x10000) {
    out += {byte(0xe0U | point >> 12U), following(6), following(0)};
  } else {
    out += {byte(0xf0U | point >> 18U), following(12), following(6), following(0)};
  }
}

// Every member says whether it took what it is named for; after a no, problem() says why.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool document(Json& out) {
    skip_space();
    if (!value(out)) return false;
    skip_space();
    return rest_.empty() || stop(kNotWellFormed);
  }
  [[nodiscard]] const char* problem() const { return problem_; }
  [[nodiscard]] std::size_t unread() const { return rest_.size(); }

 private:
  bool stop(const char* problem) {
    problem_ = problem;
    return false;
  }

  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' ||
                              rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }

  bool skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  bool value(Json& out) {
    switch (rest_.empty() ? '\0' : rest_.front()) {
      case '{':
        return nested(&Parser::object, out);
      case '[':
        return nested(&Parser::array, out);
      case '"':
        out = std::string();
        return string(out.get_ref<std::string&>());
      case 't':
        out = true;
        return skip("true") || stop(kNotWellFormed);
      case 'f':
        out = false;
        return skip("false") || stop(kNotWellFormed);
      case 'n':
        out = nullptr;
        return skip("null") || stop(kNotWellFormed);
      default:
        return number(out);
    }
  }

  bool nested(bool (Parser::*container)(Json&), Json& out) {
    if (depth_ >= kJsonDepthMax) return stop("it is nested too deeply");
    ++depth_;
    rest_.remove_prefix(1);
    const bool whole = (this->*container)(out);
    --depth_;
    return whole;
  }

  bool object(Json& out) {
    out = Json::object();
    auto& members = out.get_ref<Json::object_t&>();
    for (bool first = true;; first = false) {
      skip_space();
      if (first && skip("}")) return true;
      std::string name;
      if (!string(name)) return false;
      if (members.size() >= kJsonMembersMax) return stop("an object has too many members");
      if (first) members.reserve(16);  // growing copies every name
      const auto [member, is_new] = members.emplace(name, Json());
      if (!is_new) return stop("a key stands in it twice");
      skip_space();
      if (!skip(":")) return stop(kNotWellFormed);
      skip_space();
      if (!value(member->second)) return false;
      skip_space();
      if (skip("}")) return true;
      if (!skip(",")) return stop(kNotWellFormed);
    }
  }

  bool array(Json& out) {
    out = Json::array();
    auto& elements = out.get_ref<Json::array_t&>();
    for (bool first = true;; first = false) {
      skip_space();
      if (first && skip("]")) return true;
      if (!value(elements.emplace_back())) return false;
      skip_space();
      if (skip("]")) return true;
      if (!skip(",")) return stop(kNotWellFormed);
    }
  }

  bool string(std::string& out) {
    if (!skip("\"")) return stop(kNotWellFormed);
    while (!rest_.empty()) {
      const std::size_t plain = plain_json_prefix(rest_);
      out += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (skip("\"")) return true;
      if (skip("\\")) {
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

  bool escape(std::string& out) {
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
      const std::optional<char32_t> low = *point < 0xdc00 && skip("\\") ? unit() : std::nullopt;
      if (!low || *low < 0xdc00 || *low > 0xdfff) return false;
      point = 0x10000 + (*point - 0xd800) * 0x400 + (*low - 0xdc00);
    }
    append_utf8(out, *point);
    return true;
  }

  // uXXXX
  std::optional<char32_t> unit() {
    if (rest_.size() < 5 || rest_.front() != 'u') return std::nullopt;
    std::uint32_t value = 0;
    const char* end = rest_.data() + 5;
    const auto [stopped, status] = std::from_chars(rest_.data() + 1, end, value, 16);
    if (status != std::errc{} || stopped != end) return std::nullopt;
    rest_.remove_prefix(5);
    return value;
  }

  bool number(Json& out) {
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

  template <class Number>
  static bool whole(std::string_view digits, Json& out) {
    Number value{};
    const auto [stopped, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc{} || stopped != digits.data() + digits.size()) return false;
    out = value;
    return true;
  }

  // Of the number at the front, as JSON writes numbers; 0 when there is none.
  [[nodiscard]] std::size_t number_length() const {
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

  std::string_view rest_;
  std::size_t depth_ = 0;
  const char* problem_ = kNotWellFormed;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  Parser parser(text);
  Json parsed;
  if (parser.document(parsed)) return parsed;
  const std::string_view read = text.substr(0, text.size() - parser.unread());
  const auto lines_before = std::count(read.begin(), read.end(), '\n');
  // What is one line by nature, such as a log's, has no use for its number.
  const std::string where =
      lines_before == 0 ? std::string() : fmt::format(" in line {}", lines_before + 1);
  return fail(ErrorKind::internal, fmt::format("bad JSON{}: {}", where, parser.problem()));
}

}  // namespace dibs
