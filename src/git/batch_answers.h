// What `git cat-file --batch` answers: at once, or while it is still talking.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dibs {

/// "OBJECT TYPE SIZE\n", that many bytes, and a newline; or "NAME missing\n".
struct BatchAnswer {
  std::string_view object;  // empty: it is missing
  std::uint64_t bytes = 0;
  std::optional<std::string_view> text;
};
// The first one, which is taken away.
[[nodiscard]] Result<BatchAnswer> next_answer(std::string_view& rest);

/// One of several objects that were asked for; one that is too large comes without its text.
struct ObjectText {
  std::size_t number = 0;
  std::uint64_t bytes = 0;
  std::optional<std::string_view> text;
};

/// Understands the answers as they come, so that they need not be kept.
class AnswersAsTheyCome {
 public:
  using Each = std::function<void(const ObjectText&)>;
  // `each` outlives it.
  AnswersAsTheyCome(std::uint64_t most_bytes, const Each& each)
      : most_bytes_(most_bytes), each_(each) {}

  // Takes from the front what is there as a whole.
  void take(std::string& out);
  // Whether it all came.
  [[nodiscard]] Done ended(std::size_t asked) const;

 private:
  bool take_one(std::string_view& rest);

  std::uint64_t most_bytes_;
  const Each& each_;
  std::size_t number_ = 0;
  std::uint64_t to_skip_ = 0;
  Done good_;
};

}  // namespace dibs
