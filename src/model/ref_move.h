// A git ref that moves together with others, or not at all.
#pragma once

#include <string>

namespace dibs {

/// A ref that is to move, if it still is where it was seen; or to stay, and still be there.
struct RefMove {
  std::string name;
  std::string from;  // empty: it must not exist
  std::string to;    // empty: it is deleted

  [[nodiscard]] bool stays() const { return from == to; }
  friend bool operator==(const RefMove&, const RefMove&) = default;
};

}  // namespace dibs
