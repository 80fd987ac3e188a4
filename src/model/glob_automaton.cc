#include "model/glob_automaton.h"

#include <algorithm>

namespace dibs {

GlobAutomaton::GlobAutomaton(std::vector<const GlobPattern*> patterns, GlobPattern::Position start)
    : patterns_(std::move(patterns)) {
  for (std::uint32_t i = 0; i < patterns_.size(); ++i) {
    positions_.clear();
    patterns_[i]->arrive(start, positions_);
    for (const GlobPattern::Position at : positions_) next_.push_back({.pattern = i, .at = at});
  }
  state_of(next_);
}

GlobAutomaton::State GlobAutomaton::after(State state, std::uint8_t byte) {
  next_.clear();
  for (const Place& place : *states_[state]) {
    positions_.clear();
    patterns_[place.pattern]->advance(place.at, byte, positions_);
    for (const GlobPattern::Position at : positions_) {
      next_.push_back({.pattern = place.pattern, .at = at});
    }
  }
  return state_of(next_);
}

GlobAutomaton::State GlobAutomaton::state_of(Places& places) {
  std::ranges::sort(places);
  const auto repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
  const auto [known, is_new] = known_.try_emplace(places, static_cast<State>(states_.size()));
  if (is_new) {
    states_.push_back(&known->first);
    matches_.push_back(std::ranges::any_of(known->first, [&](const Place& place) {
      return place.at == patterns_[place.pattern]->end();
    }));
  }
  return known->second;
}

}  // namespace dibs
