// What fuzz targets share. A target is one file, NAME_fuzz.cc, that says what is done with an input
// and what must hold whatever the input is; corpus/NAME has inputs that are worth starting from.
//
// Two programs are made of each: under clang libFuzzer looks for new inputs (`./dev fuzz`), and in
// every other build replay.cc tries the corpus and some mutations of it (`./dev test`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace dibs::fuzz {

// Defined by each target.
void try_input(std::string_view input);

// A promise about every input, good or bad. Broken, it ends the program, so that the input is kept.
inline void must(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// Cuts an input up, for targets that need a choice or several texts.
class Pieces {
 public:
  explicit Pieces(std::string_view input) : rest_(input) {}

  // 0 when nothing is left.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  // Up to the separator, which goes too; all when there is none.
  std::string_view until(char separator) {
    const std::size_t end = std::min(rest_.find(separator), rest_.size());
    const std::string_view piece = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return piece;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace dibs::fuzz
