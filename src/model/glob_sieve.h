// Tells from the text of a glob alone, without parsing it, that it cannot overlap with what is
// wanted. Exact enough to leave few, and never wrong about one it drops. A part of
// model/held_globs.
//
// Most texts differ from what all wanted patterns begin with. The others' plain beginning is run
// through the patterns as if it were a path; a table remembers every step, so that costs look-ups.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "model/glob.h"
#include "model/glob_automaton.h"
#include "model/repository_path.h"

namespace dibs {

inline constexpr std::size_t kSieveStatesMax = 128;  // beyond, every text passes

class GlobSieve {
 public:
  explicit GlobSieve(const GlobSet& wanted);  // `wanted` must outlive it

  // False: no path is matched by this glob and a wanted one.
  [[nodiscard]] bool passes(std::string_view text);

 private:
  using State = std::int16_t;
  static constexpr State kUnknown = -1;  // not looked at yet
  static constexpr State kDropped = -2;
  static constexpr State kPassed = -3;  // for the parser to say

  // Where the wanted patterns are, and how the path stands that the text would be.
  struct Place {
    GlobAutomaton::State wanted = GlobAutomaton::kStart;
    PathPlace path = PathPlace::part_begins;
    friend bool operator==(const Place&, const Place&) = default;
  };

  // As passes, for a text that begins as all patterns do.
  bool passes_behind_lead(std::string_view text);
  State after(State state, std::uint8_t byte);
  State state_of(Place place);
  [[nodiscard]] bool may_end(std::string_view text, std::size_t first_special) const;

  std::vector<const GlobPattern*> patterns_;
  std::string_view lead_;                   // what all of them begin with
  GlobAutomaton wanted_;                    // behind it
  std::vector<std::string_view> suffixes_;  // of the wanted patterns
  std::vector<Place> places_;
  std::vector<std::array<State, 256>> next_;
};

}  // namespace dibs
