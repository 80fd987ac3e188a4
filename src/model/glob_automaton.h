// Several patterns as one machine that is in one state at a time, the set of all their positions:
// whether *none* of them matches can only be told from all together. States are made when they are
// first come to. model/glob_overlap keeps what a list takes away in one, model/glob_sieve what is
// wanted.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/glob_pattern.h"

namespace dibs {

class GlobAutomaton {
 public:
  using State = std::uint32_t;
  // Begins at `start` of every pattern; before it, they must all have the same plain bytes.
  explicit GlobAutomaton(std::vector<const GlobPattern*> patterns, GlobPattern::Position start = 0);

  [[nodiscard]] const std::vector<const GlobPattern*>& patterns() const { return patterns_; }
  static constexpr State kStart = 0;
  [[nodiscard]] State after(State state, std::uint8_t byte);
  // Whether one of the patterns matches a path that ends here.
  [[nodiscard]] bool matches(State state) const { return matches_[state]; }
  // Positions: what going on from here costs. With none left nothing will match any more.
  [[nodiscard]] std::size_t size_of(State state) const { return states_[state]->size(); }

 private:
  struct Place {
    std::uint32_t pattern = 0;
    GlobPattern::Position at = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Places = std::vector<Place>;

  State state_of(Places& places);  // which it sorts

  std::vector<const GlobPattern*> patterns_;
  std::map<Places, State> known_;
  std::vector<const Places*> states_;  // keys of known_
  std::vector<bool> matches_;
  Places next_;  // kept for their memory
  std::vector<GlobPattern::Position> positions_;
};

}  // namespace dibs
