#include "model/glob_alphabet.h"

#include <algorithm>
#include <array>
#include <map>

namespace dibs {

namespace {
// Which class each byte is in, made finer with every set that splits one.
class Partition {
 public:
  void split(const ByteSet& set) {
    std::map<std::uint16_t, std::uint16_t> renamed;
    for (std::size_t byte = 0; byte < class_of_.size(); ++byte) {
      if (!set.test(byte)) continue;
      const auto [known, is_new] = renamed.try_emplace(class_of_[byte], classes_);
      if (is_new) ++classes_;
      class_of_[byte] = known->second;
    }
  }
  [[nodiscard]] bool together(std::uint8_t one, std::uint8_t other) const {
    return class_of_[one] == class_of_[other];
  }

 private:
  std::array<std::uint16_t, 256> class_of_{};
  std::uint16_t classes_ = 1;  // names given so far; an empty class keeps its own
};

// All bytes but NUL, in the order in which a reader would like to see them in a path.
std::array<std::uint8_t, 255> by_preference() {
  std::array<std::uint8_t, 255> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i + 1);
  const auto rank = [](std::uint8_t byte) {
    if (byte >= 'a' && byte <= 'z') return 0;
    if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z')) return 1;
    return byte > ' ' && byte < 0x7f ? 2 : 3;
  };
  std::stable_sort(bytes.begin(), bytes.end(),
                   [&](std::uint8_t a, std::uint8_t b) { return rank(a) < rank(b); });
  return bytes;
}
}  // namespace

std::vector<std::uint8_t> alphabet_of(std::span<const GlobPattern* const> patterns) {
  ByteSet alone;  // bytes that some pattern names
  alone.set('/').set('.');
  Partition partition;
  for (const GlobPattern* pattern : patterns) {
    for (const ByteSet& set : pattern->sets) partition.split(set);
    for (const GlobStep& step : pattern->steps) {
      if (step.kind == GlobStep::Kind::byte) alone.set(step.byte);
    }
  }
  std::vector<std::uint8_t> alphabet;
  for (const std::uint8_t byte : by_preference()) {
    const bool seen =
        !alone.test(byte) && std::any_of(alphabet.begin(), alphabet.end(), [&](std::uint8_t other) {
          return !alone.test(other) && partition.together(byte, other);
        });
    if (!seen) alphabet.push_back(byte);
  }
  return alphabet;
}

}  // namespace dibs
