// Markdown that begins with its title: "# Title", a blank line, and the rest. Either can be
// replaced, and every other byte stays.
#pragma once

#include <string>
#include <string_view>

namespace dibs {

class HeadedText {
 public:
  // What may stand before the heading: below front matter one blank line belongs to neither.
  enum class Above { nothing, front_matter };
  HeadedText(std::string text, Above above, std::string_view newline);

  // Empty when it does not begin with a heading.
  [[nodiscard]] std::string_view title() const;
  [[nodiscard]] std::string_view body() const;
  [[nodiscard]] const std::string& text() const { return text_; }

  void set_title(std::string_view title);
  // `title` for the heading that it needs when the body itself begins like one.
  void set_body(std::string_view body, std::string_view title);

 private:
  void find();
  [[nodiscard]] std::size_t behind_newline(std::size_t at) const;

  std::string text_;
  Above above_;
  std::string newline_;
  std::size_t title_begin_ = 0;  // equal to its end: no heading
  std::size_t title_end_ = 0;
  std::size_t body_ = 0;
};

}  // namespace dibs
