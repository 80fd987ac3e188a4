#include "model/glob_exclusion.h"

#include <algorithm>

namespace dibs {

GlobExclusion::GlobExclusion(std::vector<const GlobPattern*> patterns)
    : patterns_(std::move(patterns)) {
  Places start;
  std::vector<GlobPattern::Position> positions;
  for (std::uint32_t i = 0; i < patterns_.size(); ++i) {
    positions.clear();
    patterns_[i]->arrive(0, positions);
    for (const GlobPattern::Position at : positions) start.push_back({.pattern = i, .at = at});
  }
  state_of(std::move(start));
}

GlobExclusion::State GlobExclusion::after(State state, std::uint8_t byte) {
  Places next;
  std::vector<GlobPattern::Position> positions;
  for (const Place& place : *states_[state]) {
    positions.clear();
    patterns_[place.pattern]->advance(place.at, byte, positions);
    for (const GlobPattern::Position at : positions) {
      next.push_back({.pattern = place.pattern, .at = at});
    }
  }
  return state_of(std::move(next));
}

GlobExclusion::State GlobExclusion::state_of(Places places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const auto [known, is_new] =
      known_.try_emplace(std::move(places), static_cast<State>(states_.size()));
  if (is_new) {
    states_.push_back(&known->first);
    covers_.push_back(std::any_of(
        known->first.begin(), known->first.end(),
        [&](const Place& place) { return place.at == patterns_[place.pattern]->end(); }));
  }
  return known->second;
}

}  // namespace dibs
