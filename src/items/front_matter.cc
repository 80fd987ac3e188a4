#include "items/front_matter.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kFence = "---";
constexpr std::string_view kBlanks = " \t\r";

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

// Without the blanks behind it; "--- " is a fence to every reader of front matter.
std::string_view without_trailing_blanks(std::string_view line) {
  const std::size_t last = line.find_last_not_of(kBlanks);
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::size_t end_of_line(std::string_view text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

// Where the line after the closing fence begins; npos when there is none. `at` is behind the first.
std::size_t behind_closing(std::string_view text, std::size_t at) {
  while (at < text.size() && at <= kFrontMatterBytesMax) {
    const std::size_t end = end_of_line(text, at);
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (without_trailing_blanks(line) == kFence) return end;
    at = end;
  }
  return std::string_view::npos;
}

bool is_content(std::string_view line) {
  const std::string_view text = trim(line);
  return !text.empty() && text.front() != '#';
}

}  // namespace

Error error_at(std::size_t line, std::string why) {
  return {.kind = ErrorKind::refused,
          .message = std::move(why),
          .hint = {},
          .fields = {{.name = "line", .json = std::to_string(line)}}};
}

std::size_t line_of(const Error& error) {
  const auto line = std::ranges::find(error.fields, "line", &ErrorField::name);
  return line == error.fields.end() ? 0 : parse_unsigned(line->json).value_or(0);
}

Result<FrontMatter> FrontMatter::parse(std::string_view text) {
  FrontMatter file;
  const std::size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::size_t first_end = end_of_line(text, start);
  const std::string_view first = text.substr(start, first_end - start);
  if (first.ends_with("\r\n")) file.newline_ = "\r\n";
  std::string_view fence = first;
  if (fence.ends_with('\n')) fence.remove_suffix(1);
  if (without_trailing_blanks(fence) != kFence) {
    file.body_ = std::string(text);
    return file;
  }
  const std::size_t end = behind_closing(text, first_end);
  if (end == std::string_view::npos)
    return fail(error_at(1, "the front matter has no closing ---"));
  file.head_ = std::string(text.substr(0, end));
  file.body_ = std::string(text.substr(end));
  if (Done read = file.read_head(); !read) return fail(read.error());
  return file;
}

Done FrontMatter::read_head() {
  fields_.clear();
  std::size_t at = end_of_line(head_, 0);
  for (std::size_t number = 2; at < head_.size(); ++number) {
    const std::size_t end = end_of_line(head_, at);
    if (end == head_.size()) {
      closing_ = at;
      break;
    }
    if (Done taken = take_line(std::string_view(head_).substr(at, end - at), at, number); !taken)
      return taken;
    at = end;
  }
  return read_values();
}

Done FrontMatter::take_line(std::string_view line, std::size_t begin, std::size_t number) {
  // To YAML it ends a line, to everybody who counts lines it does not.
  if (const std::size_t cr = line.find('\r'); cr < line.size() && line.substr(cr) != "\r\n")
    return fail(error_at(number, "a line has a carriage return in its middle"));
  if (!is_content(line)) return {};
  const bool goes_on = line.front() == ' ' || line.front() == '\t' || line.starts_with("- ") ||
                       without_trailing_blanks(trim(line)) == "-";
  if (!goes_on) return begin_field(line, begin, number);
  if (fields_.empty()) return fail(error_at(number, "the front matter does not begin with a key"));
  if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos)
    return fail(error_at(number, "a line begins with a tab; YAML wants blanks"));
  fields_.back().end = begin + line.size();
  return {};
}

Done FrontMatter::begin_field(std::string_view line, std::size_t begin, std::size_t number) {
  const std::size_t colon = line.find(':');
  const std::string_view key = line.substr(0, colon);
  if (colon == std::string_view::npos || !is_key(key))
    return fail(error_at(number, "a line has no key"));
  const char next = line.substr(colon + 1).empty() ? '\n' : line[colon + 1];
  if (next != ' ' && next != '\t' && next != '\n' && next != '\r')
    return fail(error_at(number, "a key lacks the blank behind its colon"));
  if (find(key) != nullptr)
    return fail(error_at(number, "the key '" + std::string(key) + "' is there twice"));
  if (fields_.size() == kFrontFieldsMax)
    return fail(error_at(number, "the front matter has too many keys"));
  FrontField field{.key = std::string(key),
                   .line = number,
                   .begin = begin,
                   .end = begin + line.size(),
                   .value = {}};
  field.value.begin = begin + colon + 1;
  fields_.push_back(std::move(field));
  return {};
}

Done FrontMatter::read_values() {
  for (FrontField& field : fields_) {
    const std::size_t from = field.value.begin;
    Result<YamlValue> value =
        read_yaml_value(std::string_view(head_).substr(from, field.end - from));
    if (!value) return fail(error_at(field.line, value.error().message));
    field.value = *std::move(value);
    field.value.begin += from;
    field.value.end += from;
  }
  return {};
}

const FrontField* FrontMatter::find(std::string_view key) const {
  const auto field = std::ranges::find(fields_, key, &FrontField::key);
  return field == fields_.end() ? nullptr : &*field;
}

std::optional<std::string> FrontMatter::scalar(std::string_view key) const {
  const FrontField* field = find(key);
  if (field == nullptr || field->value.form != YamlForm::scalar) return std::nullopt;
  return field->value.scalar;
}

std::optional<std::vector<std::string>> FrontMatter::list(std::string_view key) const {
  const FrontField* field = find(key);
  if (field == nullptr || field->value.form == YamlForm::other) return std::nullopt;
  if (field->value.is_list()) return field->value.entries;
  if (field->value.scalar.empty()) return std::vector<std::string>{};
  return std::vector<std::string>{field->value.scalar};
}

void FrontMatter::replace(std::size_t begin, std::size_t end, std::string_view with) {
  head_.replace(begin, end - begin, with);
  [[maybe_unused]] const Done read = read_head();
  assert(read);  // what we render, we can read
}

void FrontMatter::add_head() {
  if (has_head()) return;
  closing_ = kFence.size() + newline_.size();
  head_ = "---" + newline_ + "---" + newline_;
  if (!body_.empty()) set_body(newline_ + body_);
}

void FrontMatter::put(std::string_view key, const std::string& rendered) {
  add_head();
  const FrontField* field = find(key);
  if (field == nullptr)
    return replace(closing_, closing_, std::string(key) + ": " + rendered + newline_);
  const std::size_t behind_colon = field->begin + key.size() + 1;
  const auto [begin, end] = std::pair(field->value.begin, field->value.end);
  if (begin < end && head_[begin] != '\n' && head_[begin] != '\r')
    return replace(begin, end, rendered);
  // Nothing behind the colon but perhaps a comment, which stays; what stood in the lines below
  // goes.
  const std::string between = head_.substr(behind_colon, begin - behind_colon);
  replace(behind_colon, end, " " + rendered + between);
}

void FrontMatter::set(std::string_view key, std::string_view scalar) {
  put(key, yaml_scalar(scalar));
}

void FrontMatter::set_list(std::string_view key, const std::vector<std::string>& entries) {
  const FrontField* field = find(key);
  if (field == nullptr || field->value.form != YamlForm::block_list || entries.empty())
    return put(key, yaml_flow_list(entries));
  std::string lines;
  for (const std::string& entry : entries)
    lines += newline_ + field->value.indent + "- " + yaml_scalar(entry);
  replace(field->value.begin, field->value.end, lines);
}

void FrontMatter::remove(std::string_view key) {
  const FrontField* field = find(key);
  if (field != nullptr) replace(field->begin, field->end, "");
}

void FrontMatter::set_body(std::string body) {
  // Behind a closing line that was the last of the file, something has to begin a new one.
  if (!head_.empty() && !head_.ends_with('\n') && !body.empty()) head_ += newline_;
  body_ = std::move(body);
}

}  // namespace dibs
