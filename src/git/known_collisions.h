// What was found out about many branches, kept so that the next look costs only what changed since.
// A commit never changes, so neither does what two of them do to each other. It is a cache:
// whatever is wrong with the file, it is as if there were none, and landing never asks it.
//
// The file: "dibs conflicts 2 CRC"; then, each with how many there are before them, the tips, those
// pairs of them that conflict with their paths, and the past of the branches: commits with their
// parents, and stretches with what was changed, added and deleted there. Pairs that are not there
// go together. Paths have a zero byte at their end, all else has a newline.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/tip_merges.h"

namespace dibs {

inline constexpr std::size_t kKnownCollisionsBytesMax = 16UL * 1024 * 1024;
// Of a longer past nothing is kept: to read it every time would cost more than to ask git.
inline constexpr std::size_t kKeptPastBytesMax = 1024UL * 1024;

[[nodiscard]] std::string encode_collisions(const std::vector<std::string>& tips,
                                            const std::vector<Collision>& collisions,
                                            const BranchPast& past);

class KnownCollisions {
 public:
  // Nothing is known when the text is damaged.
  [[nodiscard]] static KnownCollisions of(std::string_view text);

  // Whether these two commits were compared.
  [[nodiscard]] bool compared(const std::string& one, const std::string& other) const {
    return numbers_.contains(one) && numbers_.contains(other);
  }
  // Null when they go together.
  [[nodiscard]] const std::vector<std::string>* files(const std::string& one,
                                                      const std::string& other) const;
  [[nodiscard]] const BranchPast& past() const { return past_; }

 private:
  [[nodiscard]] bool read(std::string_view whole);

  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::map<TipPair, std::vector<std::string>> files_;
  BranchPast past_;
};

}  // namespace dibs
