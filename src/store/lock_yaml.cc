#include "store/lock_yaml.h"

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// A plain scalar cannot begin with these: something else does.
constexpr std::string_view kIndicators = "[]{}&*!|>%@`,?-:";
constexpr std::string_view kPlainCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._@+:/-";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// Nothing but a comment may follow a quoted scalar.
bool only_a_comment(std::string_view rest) {
  if (trim(rest).empty()) return true;
  return is_blank(rest.front()) && trim(rest).front() == '#';
}

std::optional<std::string> single_quoted(std::string_view text) {
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '\'') {
      value += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\'') {
      value += text[i++];
    } else {
      return only_a_comment(text.substr(i + 1)) ? std::optional(value) : std::nullopt;
    }
  }
  return std::nullopt;
}

// The byte that an escape of two characters stands for.
std::optional<char> unescaped(char c) {
  constexpr std::string_view kNames = "\"\\/0abtnvfre ";
  constexpr std::string_view kBytes("\"\\/\0\a\b\t\n\v\f\r\x1b ", kNames.size());
  const std::size_t at = kNames.find(c);
  return at == std::string_view::npos ? std::nullopt : std::optional(kBytes[at]);
}

// Of the numbered escapes only \xNN of an ASCII character: nobody here writes others.
std::optional<char> numbered(std::string_view digits) {
  if (digits.size() < 2 || hex_digit(digits[0]) < 0 || hex_digit(digits[1]) < 0)
    return std::nullopt;
  const int byte = hex_digit(digits[0]) * 16 + hex_digit(digits[1]);
  return byte < 0x80 ? std::optional(static_cast<char>(byte)) : std::nullopt;
}

std::optional<std::string> double_quoted(std::string_view text) {
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"')
      return only_a_comment(text.substr(i + 1)) ? std::optional(value) : std::nullopt;
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    const bool by_number = text[i] == 'x';
    const std::optional<char> byte = by_number ? numbered(text.substr(i + 1)) : unescaped(text[i]);
    if (!byte) return std::nullopt;
    value += *byte;
    if (by_number) i += 2;
  }
  return std::nullopt;
}

// Up to a comment. A colon that would begin a mapping within the value is not flat any more.
std::optional<std::string> plain(std::string_view text) {
  std::size_t end = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '#' && (i == 0 || is_blank(text[i - 1]))) {
      end = i;
      break;
    }
  }
  const std::string_view value = trim(text.substr(0, end));
  if (contains(value, ": ") || value.ends_with(':')) return std::nullopt;
  return std::string(value);
}

enum class Form { scalar, other, broken };
struct Scalar {
  Form form = Form::broken;
  std::string value = {};
};

Scalar scalar_of(std::string_view text) {
  text = trim(text);
  std::optional<std::string> value;
  if (text.starts_with('\'')) {
    value = single_quoted(text);
  } else if (text.starts_with('"')) {
    value = double_quoted(text);
  } else if (!text.empty() && kIndicators.find(text.front()) != std::string_view::npos) {
    const bool a_word = text.size() > 1 && (text[0] == '-' || text[0] == ':' || text[0] == '?') &&
                        !is_blank(text[1]);
    if (!a_word && text != "-") return {.form = Form::other};
    value = plain(text);
  } else {
    value = plain(text);
  }
  return value ? Scalar{.form = Form::scalar, .value = *std::move(value)} : Scalar{};
}

/// Takes a file line by line and has its fields at the end.
class LockYamlReader {
 public:
  // Says what is wrong with the line; nothing when all is well.
  std::optional<std::string_view> take(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).empty() || line.starts_with('#')) return std::nullopt;
    if (line == "---" && !began_) {
      began_ = true;
      return std::nullopt;
    }
    if (line == "---" || line == "...") {
      ended_ = true;
      return std::nullopt;
    }
    if (ended_) return "there is more after its end";
    began_ = true;
    const bool goes_on = is_blank(line.front()) || line.starts_with("- ") || line == "-";
    return goes_on ? go_on(line) : begin(line);
  }
  [[nodiscard]] LockFields fields() && { return std::move(fields_); }

 private:
  // What is indented belongs to the field above, which is then no scalar.
  std::optional<std::string_view> go_on(std::string_view line) {
    if (fields_.empty()) return "it does not begin with a key";
    if (trim(line).starts_with('#')) return std::nullopt;
    fields_.back().value = std::nullopt;
    fields_.back().text += std::string(line) + "\n";
    return std::nullopt;
  }

  std::optional<std::string_view> begin(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return "a line has no key";
    const std::string_view key = line.substr(0, colon);
    const std::string_view rest = line.substr(colon + 1);
    if (!is_key(key) || (!rest.empty() && !is_blank(rest.front()))) return "a line has no key";
    if (std::ranges::count(fields_, key, &LockField::key) > 0) return "a key is there twice";
    if (fields_.size() == kLockFieldsMax) return "it has too many fields";
    Scalar scalar = scalar_of(rest);
    if (scalar.form == Form::broken) return "a value does not end, or goes on after its end";
    fields_.push_back({.key = std::string(key),
                       .value = scalar.form == Form::scalar ? std::optional(std::move(scalar.value))
                                                            : std::nullopt,
                       .text = std::string(line) + "\n"});
    return std::nullopt;
  }

  LockFields fields_;
  bool began_ = false;
  bool ended_ = false;
};

bool is_plain(std::string_view value) {
  return !value.empty() && value.find_first_not_of(kPlainCharacters) == std::string_view::npos &&
         kIndicators.find(value.front()) == std::string_view::npos && value == trim(value) &&
         !contains(value, ": ") && !value.ends_with(':');
}

std::string quoted(std::string_view value) {
  const bool one_line = std::ranges::all_of(
      value, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  std::string text;
  if (one_line) {
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

}  // namespace

Result<LockFields> parse_lock_yaml(std::string_view text) {
  const auto bad = [](std::string_view why) { return fail(ErrorKind::internal, std::string(why)); };
  if (text.size() > kLockYamlMax) return bad("it is too large");
  if (!is_utf8(text)) return bad("it is not text");
  const bool has_control = std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
  if (has_control) return bad("it is not text");
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  LockYamlReader reader;
  for (const std::string_view line : split(text, '\n')) {
    if (const auto wrong = reader.take(line)) return bad(*wrong);
  }
  return std::move(reader).fields();
}

LockField lock_field(std::string_view key, std::string_view value) {
  LockField field{.key = std::string(key), .value = std::string(value), .text = {}};
  field.text = field.key + ": " + (is_plain(value) ? std::string(value) : quoted(value)) + "\n";
  return field;
}

std::string to_yaml(const LockFields& fields) {
  std::string text;
  for (const LockField& field : fields) text += field.text;
  return text;
}

std::optional<std::string> value_in(const LockFields& fields, std::string_view key) {
  const auto found = std::ranges::find(fields, key, &LockField::key);
  return found == fields.end() ? std::nullopt : found->value;
}

}  // namespace dibs
