#include "git/batch_answers.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace dibs {

namespace {

// Of the first line alone, which is taken away; nothing while it has no end.
Result<std::optional<BatchAnswer>> next_head(std::string_view& rest) {
  const std::size_t line_end = rest.find('\n');
  if (line_end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, line_end);
  rest.remove_prefix(line_end + 1);
  if (line.ends_with(" missing")) return BatchAnswer{};
  const std::vector<std::string_view> head = split(line, ' ');
  const auto bytes = parse_unsigned(head.back());
  if (head.size() != 3 || !bytes)
    return fail(ErrorKind::internal, "git cat-file answered with something else");
  return BatchAnswer{.object = head[0], .bytes = *bytes, .text = std::nullopt};
}

constexpr std::string_view kCutShort = "git cat-file did not end its answer";

}  // namespace

Result<BatchAnswer> next_answer(std::string_view& rest) {
  const Result<std::optional<BatchAnswer>> head = next_head(rest);
  if (!head) return fail(head.error());
  if (head->has_value() && (*head)->object.empty()) return BatchAnswer{};
  if (!head->has_value() || (*head)->bytes >= rest.size())
    return fail(ErrorKind::internal, std::string(kCutShort));
  BatchAnswer answer = **head;
  answer.text = rest.substr(0, answer.bytes);
  rest.remove_prefix(answer.bytes + 1);
  return answer;
}

void AnswersAsTheyCome::take(std::string& out) {
  std::string_view rest = out;
  while (good_ && !rest.empty() && take_one(rest)) {
  }
  out.erase(0, out.size() - rest.size());
}

Done AnswersAsTheyCome::ended(std::size_t asked) const {
  if (!good_) return good_;
  if (number_ != asked || to_skip_ != 0) return fail(ErrorKind::internal, std::string(kCutShort));
  return {};
}

// False when it is not all there yet. The text is skipped like one that is too large.
bool AnswersAsTheyCome::take_one(std::string_view& rest) {
  if (to_skip_ != 0) {
    const std::uint64_t skipped = std::min<std::uint64_t>(to_skip_, rest.size());
    rest.remove_prefix(skipped);
    to_skip_ -= skipped;
    return true;
  }
  std::string_view behind = rest;
  const Result<std::optional<BatchAnswer>> head = next_head(behind);
  if (!head) {
    good_ = fail(head.error());
    return false;
  }
  if (!head->has_value()) return false;
  if ((*head)->object.empty()) {
    good_ = fail(ErrorKind::internal, "git lacks an object that it should have");
    return false;
  }
  const std::uint64_t bytes = (*head)->bytes;
  const bool shown = bytes <= most_bytes_;
  if (shown && behind.size() <= bytes) return false;
  each_({.number = number_++,
         .bytes = bytes,
         .text = shown ? std::optional(behind.substr(0, bytes)) : std::nullopt});
  rest = behind;
  to_skip_ = bytes + 1;
  return true;
}

}  // namespace dibs
