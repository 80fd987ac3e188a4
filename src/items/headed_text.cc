#include "items/headed_text.h"

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kMark = "# ";
constexpr std::string_view kFence = "---";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// Where the first line begins that is not blank.
std::size_t first_line(std::string_view text, std::size_t at) {
  for (std::size_t end = line_end(text, at); end < text.size(); end = line_end(text, at)) {
    if (!trim(text.substr(at, end - at)).empty()) break;
    at = end + 1;
  }
  return at;
}

std::string_view heading_at(std::string_view text, std::size_t at) {
  const std::string_view line = text.substr(at, line_end(text, at) - at);
  return line.starts_with(kMark) ? trim(line.substr(kMark.size())) : std::string_view();
}

}  // namespace

HeadedText::HeadedText(std::string text, Above above, std::string_view newline)
    : text_(std::move(text)), above_(above), newline_(newline) {
  find();
}

// `at` itself when no newline stands there.
std::size_t HeadedText::behind_newline(std::size_t at) const {
  const std::string_view rest = std::string_view(text_).substr(at);
  if (rest.starts_with("\r\n")) return at + 2;
  return rest.starts_with('\n') ? at + 1 : at;
}

void HeadedText::find() {
  body_ = above_ == Above::front_matter ? behind_newline(0) : 0;
  title_begin_ = title_end_ = 0;
  const std::size_t skipped = std::string_view(text_).starts_with(kByteOrderMark) ? 3 : 0;
  const std::size_t line = first_line(text_, std::max(body_, skipped));
  const std::string_view title = heading_at(text_, line);
  if (title.empty()) return;
  title_begin_ = static_cast<std::size_t>(title.data() - text_.data());
  title_end_ = title_begin_ + title.size();
  body_ = behind_newline(std::min(line_end(text_, line) + 1, text_.size()));
}

std::string_view HeadedText::title() const {
  return std::string_view(text_).substr(title_begin_, title_end_ - title_begin_);
}

std::string_view HeadedText::body() const { return std::string_view(text_).substr(body_); }

void HeadedText::set_title(std::string_view title) {
  if (title_begin_ < title_end_) {
    text_.replace(title_begin_, title_end_ - title_begin_, title);
  } else {
    std::string heading = above_ == Above::front_matter && body_ == 0 ? newline_ : std::string();
    heading.append(kMark).append(title).append(newline_);
    if (body_ < text_.size()) heading += newline_;
    text_.insert(body_, heading);
  }
  find();
}

void HeadedText::set_body(std::string_view body, std::string_view title) {
  const bool looks_otherwise = !heading_at(body, first_line(body, 0)).empty() ||
                               body.starts_with(kFence) || body.starts_with(kByteOrderMark);
  if (title_begin_ == title_end_ && looks_otherwise) set_title(title);
  const bool was_empty = body_ == text_.size();
  text_.resize(body_);
  const bool headed = title_begin_ < title_end_;
  if (!body.empty() && headed && !text_.ends_with('\n')) text_ += newline_;
  // One blank line between, unless the text had none before and can do without.
  const std::size_t above = headed ? std::min(line_end(text_, title_end_) + 1, text_.size()) : 0;
  const bool takes_one = headed || above_ == Above::front_matter;
  const bool has_one = behind_newline(above) > above;
  const bool wants_one = was_empty || body.starts_with('\n') || body.starts_with("\r\n");
  if (!body.empty() && takes_one && !has_one && wants_one) text_ += newline_;
  text_ += body;
  find();
}

}  // namespace dibs
