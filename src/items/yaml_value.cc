#include "items/yaml_value.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"

namespace dibs {

namespace {

// A plain scalar cannot begin with these: something else does.
constexpr std::string_view kIndicators = "[]{}&*!|>%@`,?-:'\"#";
constexpr std::string_view kUnsafeInPlain = ",[]{}#'\"\\&*!|>%@`";

constexpr const char* kNoEnd = "a quote or a list does not end";
constexpr const char* kAfterEnd = "a value goes on after its end";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Goes through the text once, from the value's first byte on.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<YamlValue> value() {
    skip_blanks();
    value_.begin = value_.end = at_;
    if (at_end_of_line()) return below();
    const char first = text_[at_];
    if (first == '[') return flow_list();
    if (first == '"' || first == '\'') return quoted_scalar();
    if (kIndicators.find(first) != std::string_view::npos && !is_word()) return other();
    return plain_scalar();
  }

 private:
  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] bool at_comment() const {
    return !done() && text_[at_] == '#' && (at_ == 0 || is_blank(text_[at_ - 1]));
  }
  [[nodiscard]] bool at_end_of_line() const {
    return done() || text_[at_] == '\n' || text_[at_] == '\r' || at_comment();
  }
  // "-5", ":x" and a lone "-" are words all the same.
  [[nodiscard]] bool is_word() const {
    const char first = text_[at_];
    if (first != '-' && first != ':' && first != '?') return false;
    const bool alone = at_ + 1 >= text_.size() || text_[at_ + 1] == '\n' || text_[at_ + 1] == '\r';
    return alone || !is_blank(text_[at_ + 1]);
  }
  void skip_blanks() {
    while (!done() && is_blank(text_[at_])) ++at_;
  }
  void skip_line() {
    while (!done() && text_[at_] != '\n') ++at_;
    if (!done()) ++at_;
  }
  // Over blanks, comments and line ends.
  void skip_space() {
    while (!done()) {
      skip_blanks();
      if (!at_end_of_line()) return;
      if (at_comment()) {
        while (!done() && text_[at_] != '\n') ++at_;
      } else if (!done()) {
        ++at_;
      }
    }
  }
  [[nodiscard]] static tl::unexpected<Error> wrong(const char* why) {
    return fail(ErrorKind::refused, why);
  }

  // Where the last line with something on it ends.
  [[nodiscard]] std::size_t content_end() const {
    const std::size_t last = text_.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? value_.begin : std::max(last + 1, value_.begin);
  }
  YamlValue other() {
    value_.form = YamlForm::other;
    value_.scalar.clear();
    value_.entries.clear();
    value_.end = content_end();
    return value_;
  }

  // Nothing behind the colon: a list or a map may stand in the lines below.
  Result<YamlValue> below() {
    while (!done() && text_[at_] != '\n') ++at_;
    const std::size_t first_end = at_ > 0 && !done() && text_[at_ - 1] == '\r' ? at_ - 1 : at_;
    skip_space();
    if (done()) return value_;
    value_.form = YamlForm::block_list;
    value_.begin = first_end;
    at_ = first_end;
    for (skip_line(); !done(); skip_line()) {
      const std::size_t line = at_;
      skip_blanks();
      if (at_end_of_line()) continue;
      if (!block_entry(text_.substr(line, at_ - line))) return other();
    }
    return value_;
  }

  bool block_entry(std::string_view indent) {
    const bool dash = text_[at_] == '-' && (at_ + 1 >= text_.size() || is_blank(text_[at_ + 1]));
    if (!dash || value_.entries.size() == kYamlEntriesMax) return false;
    if (value_.entries.empty()) value_.indent = std::string(indent);
    if (indent != value_.indent) return false;
    ++at_;
    skip_blanks();
    if (at_end_of_line()) return false;
    const std::optional<std::string> entry = entry_until("");
    if (!entry) return false;
    value_.entries.push_back(*entry);
    value_.end = at_;
    skip_blanks();
    return at_end_of_line();
  }

  // A quoted or plain scalar that ends with the line, or before one of these.
  std::optional<std::string> entry_until(std::string_view ends) {
    if (text_[at_] == '"') return double_quoted();
    if (text_[at_] == '\'') return single_quoted();
    if (kIndicators.find(text_[at_]) != std::string_view::npos && !is_word()) return std::nullopt;
    const std::size_t begin = at_;
    while (!at_end_of_line() && ends.find(text_[at_]) == std::string_view::npos) ++at_;
    while (at_ > begin && is_blank(text_[at_ - 1])) --at_;
    const std::string_view plain = text_.substr(begin, at_ - begin);
    if (contains(plain, ": ") || plain.ends_with(':')) return std::nullopt;
    return std::string(plain);
  }

  Result<YamlValue> flow_list() {
    value_.form = YamlForm::flow_list;
    ++at_;
    while (true) {
      skip_space();
      if (done()) return wrong(kNoEnd);
      if (text_[at_] == ']') break;
      if (text_[at_] == '[' || text_[at_] == '{') return nested_flow();
      const std::optional<std::string> entry = entry_until(",]");
      if (!entry || value_.entries.size() == kYamlEntriesMax) return wrong(kNoEnd);
      value_.entries.push_back(*entry);
      skip_space();
      if (done() || (text_[at_] != ',' && text_[at_] != ']')) return wrong(kNoEnd);
      if (text_[at_] == ',') ++at_;
    }
    value_.end = ++at_;
    return ended();
  }

  // Not understood, but it has to close what it opened.
  Result<YamlValue> nested_flow() {
    const std::string_view rest = text_.substr(value_.begin);
    const auto count = [&](char c) { return std::count(rest.begin(), rest.end(), c); };
    if (count('[') != count(']') || count('{') != count('}')) return wrong(kNoEnd);
    return other();
  }

  Result<YamlValue> quoted_scalar() {
    const std::optional<std::string> text = text_[at_] == '"' ? double_quoted() : single_quoted();
    if (!text) return wrong(kNoEnd);
    value_.scalar = *text;
    value_.end = at_;
    const bool one_line = !contains(text_.substr(value_.begin, at_ - value_.begin), "\n");
    const Result<YamlValue> end = ended();
    return !end || one_line ? end : Result<YamlValue>(other());
  }

  Result<YamlValue> plain_scalar() {
    const std::optional<std::string> text = entry_until("");
    if (!text) return wrong("a value holds a colon and a blank; put it in quotes");
    value_.scalar = *text;
    value_.end = at_;
    skip_space();
    return done() ? value_ : other();
  }

  Result<YamlValue> ended() {
    if (!done() && !is_blank(text_[at_]) && text_[at_] != '\n' && text_[at_] != '\r')
      return wrong(kAfterEnd);
    skip_space();
    if (!done()) return wrong(kAfterEnd);
    return value_;
  }

  std::optional<std::string> single_quoted() {
    std::string value;
    for (++at_; !done(); ++at_) {
      const bool quote = text_[at_] == '\'';
      const bool twice = quote && at_ + 1 < text_.size() && text_[at_ + 1] == '\'';
      if (quote && !twice) {
        ++at_;
        return value;
      }
      if (twice) ++at_;
      value += text_[at_];
    }
    return std::nullopt;
  }

  std::optional<std::string> double_quoted() {
    std::string value;
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return value;
      }
      if (text_[at_] != '\\') {
        value += text_[at_];
      } else if (++at_; done() || !escape(value)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // The character after a backslash, and its digits.
  bool escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/0abtnvfre ";
    constexpr std::string_view kBytes("\"\\/\0\a\b\t\n\v\f\r\x1b ", kNames.size());
    constexpr std::string_view kNumbered = "xuU";
    if (const std::size_t name = kNames.find(text_[at_]); name != std::string_view::npos) {
      out += kBytes[name];
      return true;
    }
    const std::size_t kind = kNumbered.find(text_[at_]);
    if (kind == std::string_view::npos) return false;
    return numbered(out, std::size_t{2} << kind);
  }

  bool numbered(std::string& out, std::size_t digits) {
    if (at_ + digits >= text_.size()) return false;
    char32_t point = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = text_[++at_];
      const int digit = hex_digit(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
      if (digit < 0) return false;
      point = point << 4U | static_cast<char32_t>(digit);
    }
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
    append_utf8(out, point);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  YamlValue value_;
};

bool is_one_line(std::string_view value) {
  return std::ranges::all_of(
      value, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

bool is_plain(std::string_view value) {
  return !value.empty() && is_printable(value) && value == trim(value) &&
         kIndicators.find(value.front()) == std::string_view::npos &&
         value.find_first_of(kUnsafeInPlain) == std::string_view::npos && !contains(value, ": ") &&
         !value.ends_with(':');
}

}  // namespace

Result<YamlValue> read_yaml_value(std::string_view text) { return Reader(text).value(); }

std::string yaml_scalar(std::string_view value) {
  if (is_plain(value)) return std::string(value);
  std::string text;
  if (is_one_line(value)) {
    for (const char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
    return "'" + text + "'";
  }
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += "\\x";
      append_hex(text, static_cast<std::uint8_t>(c));
    } else {
      text += c;
    }
  }
  return '"' + text + '"';
}

std::string yaml_flow_list(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) {
    if (!text.empty()) text += ", ";
    text += yaml_scalar(entry);
  }
  return "[" + text + "]";
}

}  // namespace dibs
