#include "model/glob_alphabet.h"

#include <array>

namespace dibs {

namespace {
// Which class each byte is in, made finer with every set that splits one.
class Partition {
 public:
  void split(const ByteSet& set) {
    std::array<std::uint16_t, 512>
        names{};  // of each class within the set and outside; 0: none yet
    std::uint16_t given = 0;
    for (std::size_t byte = 0; byte < class_of_.size(); ++byte) {
      std::uint16_t& name = names[class_of_[byte] * std::size_t{2} + (set.test(byte) ? 1 : 0)];
      if (name == 0) name = ++given;
      class_of_[byte] = static_cast<std::uint8_t>(name - 1);
    }
  }
  [[nodiscard]] std::size_t class_of(std::uint8_t byte) const { return class_of_[byte]; }

 private:
  std::array<std::uint8_t, 256> class_of_{};
};

constexpr int rank_of(int byte) {
  if (byte >= 'a' && byte <= 'z') return 0;
  if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z')) return 1;
  return byte > ' ' && byte < 0x7f ? 2 : 3;
}

// All bytes but NUL, in the order in which a reader would like to see them in a path.
constexpr std::array<std::uint8_t, 255> kByPreference = [] {
  std::array<std::uint8_t, 255> bytes{};
  std::size_t count = 0;
  for (int rank = 0; rank <= 3; ++rank) {
    for (int byte = 1; byte < 256; ++byte) {
      if (rank_of(byte) == rank) bytes[count++] = static_cast<std::uint8_t>(byte);
    }
  }
  return bytes;
}();
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
  ByteSet seen;  // classes
  for (const std::uint8_t byte : kByPreference) {
    if (!alone.test(byte) && seen.test(partition.class_of(byte))) continue;
    if (!alone.test(byte)) seen.set(partition.class_of(byte));
    alphabet.push_back(byte);
  }
  return alphabet;
}

}  // namespace dibs
