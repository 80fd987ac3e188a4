// What was found out about many branches, kept so that the next look costs only what changed since.
// A commit never changes, so neither does what two of them do to each other. It is a cache:
// whatever is wrong with the file, it is as if there were none, and landing never asks it.
//
// The file: "dibs conflicts 1 CRC", then how many tips there are and a commit a line, then for
// every two that conflict "I J COUNT" and the paths, each with a zero byte at its end. All other
// pairs go together.
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

[[nodiscard]] std::string encode_collisions(const std::vector<std::string>& tips,
                                            const std::vector<Collision>& collisions);

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

 private:
  [[nodiscard]] bool read(std::string_view text);

  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::map<TipPair, std::vector<std::string>> files_;
};

}  // namespace dibs
