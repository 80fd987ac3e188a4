// What a state means to the rules, whatever a team calls it.
#pragma once

#include <cstdint>

namespace dibs {

enum class StateKind : std::uint8_t {
  open,     // may be taken
  active,   // somebody is at it
  waiting,  // for a person's answer
  done,     // what depends on it may begin
  dropped,  // ended, and what depends on it cannot begin
};

[[nodiscard]] constexpr bool is_finished(StateKind kind) {
  return kind == StateKind::done || kind == StateKind::dropped;
}

}  // namespace dibs
