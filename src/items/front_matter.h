// Markdown with YAML front matter, as lines: one key can be read, set, added or taken away, and
// every other byte stays as it was: order, comments, keys that nobody here knows, CRLF, trailing
// blanks, a missing last newline.
//
//   Result<FrontMatter> file = FrontMatter::parse(text);
//   file->set("status", "Done");
//   write(file->text());
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "items/yaml_value.h"

namespace dibs {

inline constexpr std::size_t kFrontMatterBytesMax = 4UL * 1024 * 1024;
inline constexpr std::size_t kFrontFieldsMax = 200;

struct FrontField {
  std::string key;
  std::size_t line = 0;   // counted from 1
  std::size_t begin = 0;  // of its lines, within the head
  std::size_t end = 0;
  YamlValue value;  // its places are within the head too
};

class FrontMatter {
 public:
  // A text that does not begin with "---" is all body. An error knows its line: line_of().
  [[nodiscard]] static Result<FrontMatter> parse(std::string_view text);

  [[nodiscard]] const std::vector<FrontField>& fields() const { return fields_; }
  // Null when there is no such key.
  [[nodiscard]] const FrontField* find(std::string_view key) const;
  // Nothing when it is not there, or no scalar.
  [[nodiscard]] std::optional<std::string> scalar(std::string_view key) const;
  // A scalar counts as a list of one, an empty one as an empty list.
  [[nodiscard]] std::optional<std::vector<std::string>> list(std::string_view key) const;

  [[nodiscard]] bool has_head() const { return !head_.empty(); }
  // Where there is none: without a key in it, and with a blank line before what is below.
  void add_head();
  void set(std::string_view key, std::string_view scalar);
  // In the form that is there: [a, b], or one entry a line.
  void set_list(std::string_view key, const std::vector<std::string>& entries);
  void remove(std::string_view key);

  [[nodiscard]] const std::string& body() const { return body_; }  // all behind the closing line
  void set_body(std::string body);
  [[nodiscard]] std::string_view newline() const { return newline_; }  // "\n" or "\r\n"
  [[nodiscard]] std::string text() const { return head_ + body_; }

 private:
  FrontMatter() = default;
  [[nodiscard]] Done read_head();
  [[nodiscard]] Done take_line(std::string_view line, std::size_t begin, std::size_t number);
  [[nodiscard]] Done begin_field(std::string_view line, std::size_t begin, std::size_t number);
  [[nodiscard]] Done read_values();
  void replace(std::size_t begin, std::size_t end, std::string_view with);
  void put(std::string_view key, const std::string& rendered);

  std::string head_;  // with both of its "---" lines; empty when there is none
  std::string body_;
  std::string newline_ = "\n";
  std::size_t closing_ = 0;  // where the closing line begins
  std::vector<FrontField> fields_;
};

// An error at one line of a file, and the line of an error; 0 when it is about all of it.
[[nodiscard]] Error error_at(std::size_t line, std::string why);
[[nodiscard]] std::size_t line_of(const Error& error);

}  // namespace dibs
