// What some patterns take away, as a machine that is in one state at a time: whether *none* of them
// matches can only be told from all their positions together. States are made when they are first
// come to. A part of model/glob_overlap.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/glob_pattern.h"

namespace dibs {

class GlobExclusion {
 public:
  using State = std::uint32_t;
  explicit GlobExclusion(std::vector<const GlobPattern*> patterns);

  [[nodiscard]] const std::vector<const GlobPattern*>& patterns() const { return patterns_; }
  static constexpr State kStart = 0;
  [[nodiscard]] State after(State state, std::uint8_t byte);
  // Whether a path that ends here is taken away.
  [[nodiscard]] bool covers(State state) const { return covers_[state]; }
  // What going on from here costs: its positions.
  [[nodiscard]] std::size_t size_of(State state) const { return states_[state]->size(); }

 private:
  struct Place {
    std::uint32_t pattern = 0;
    GlobPattern::Position at = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Places = std::vector<Place>;

  State state_of(Places places);

  std::vector<const GlobPattern*> patterns_;
  std::map<Places, State> known_;
  std::vector<const Places*> states_;  // keys of known_
  std::vector<bool> covers_;
};

}  // namespace dibs
