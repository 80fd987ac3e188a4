#include "model/glob_sieve.h"

#include <algorithm>

namespace dibs {

namespace {
constexpr bool is_special(char c) {
  return c == '*' || c == '?' || c == '[' || c == '\\' || c == '{';
}

std::vector<const GlobPattern*> given_by(const GlobSet& set) {
  std::vector<const GlobPattern*> patterns;
  for (const GlobSet::Entry& entry : set.entries()) {
    if (entry.sense == GlobSet::Sense::takes_away) continue;
    for (const GlobPattern& pattern : entry.glob.patterns()) patterns.push_back(&pattern);
  }
  return patterns;
}

std::string_view common_lead(const std::vector<const GlobPattern*>& patterns) {
  if (patterns.empty()) return {};
  std::string_view lead = patterns.front()->prefix;
  for (const GlobPattern* pattern : patterns) {
    const auto end = std::ranges::mismatch(lead, pattern->prefix).in1;
    lead = lead.substr(0, static_cast<std::size_t>(end - lead.begin()));
  }
  return lead;
}

// Whether a part that means nothing ("./a", "a//b", "a/./b") may begin or end at `at`: that is for
// the parser to say.
bool may_be_no_part(std::string_view text, std::size_t at) {
  const char before = at == 0 ? '/' : text[at - 1];
  if (text[at] == '/') return before == '/' || before == '.';
  if (text[at] != '.' || before != '/') return false;
  return at + 1 == text.size() || text[at + 1] == '/' || text[at + 1] == '{';
}

PathPlace place_behind(std::string_view lead) {
  PathPlace place = PathPlace::part_begins;
  for (const char c : lead) {
    place = after(place, static_cast<std::uint8_t>(c)).value_or(place);
  }
  return place;
}

// What every match of a glob with '*' or '?' ends with, within the last part of the path; empty
// when there is more to it than a look can tell: "{a,*}b" may be a name, with all below it, and
// "*/." means "*/".
std::string_view plain_ending(std::string_view text, std::size_t first_special) {
  std::size_t edge = first_special;
  for (std::size_t at = first_special; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '\\' || c == '{') return {};
    if (c == '*' || c == '?' || c == '/') edge = at;
  }
  const std::string_view ending = text.substr(edge + 1);
  return ending == "." ? std::string_view() : ending;
}

bool end_alike(std::string_view one, std::string_view other) {
  return one.size() < other.size() ? other.ends_with(one) : one.ends_with(other);
}
}  // namespace

GlobSieve::GlobSieve(const GlobSet& wanted)
    : patterns_(given_by(wanted)),
      lead_(common_lead(patterns_)),
      wanted_(patterns_, static_cast<GlobPattern::Position>(lead_.size())) {
  for (const GlobPattern* pattern : patterns_) suffixes_.push_back(pattern->suffix);
  if (!patterns_.empty()) state_of({.path = place_behind(lead_)});
}

bool GlobSieve::passes(std::string_view text) {
  if (patterns_.empty()) return false;
  const std::size_t most = std::min(text.size(), lead_.size());
  for (std::size_t at = 0; at < most; ++at) {
    if (is_special(text[at])) return may_end(text, at);
    if (text[at] != lead_[at]) return may_be_no_part(text, at);
  }
  return text.size() == most || passes_behind_lead(text);
}

bool GlobSieve::passes_behind_lead(std::string_view text) {
  State state = 0;
  for (std::size_t at = lead_.size(); at < text.size(); ++at) {
    if (is_special(text[at])) return may_end(text, at);
    const auto byte = static_cast<std::uint8_t>(text[at]);
    State next = next_[static_cast<std::size_t>(state)][byte];
    if (next == kUnknown) next = after(state, byte);
    if (next < 0) return next == kPassed;
    state = next;
  }
  return true;  // a name, with all below it
}

GlobSieve::State GlobSieve::after(State state, std::uint8_t byte) {
  const Place from = places_[static_cast<std::size_t>(state)];
  State next = kPassed;
  // What is no path as it stands may still be a glob: "./a", "a//b".
  if (const std::optional<PathPlace> path = dibs::after(from.path, byte)) {
    next = state_of({.wanted = wanted_.after(from.wanted, byte), .path = *path});
  }
  next_[static_cast<std::size_t>(state)][byte] = next;
  return next;
}

GlobSieve::State GlobSieve::state_of(Place place) {
  // A dot may be a part of its own, which means nothing: then all before it counts still.
  const bool dots = place.path == PathPlace::dot || place.path == PathPlace::two_dots;
  if (wanted_.size_of(place.wanted) == 0 && !dots) return kDropped;
  const auto known = std::ranges::find(places_, place);
  if (known != places_.end()) return static_cast<State>(known - places_.begin());
  if (places_.size() == kSieveStatesMax) return kPassed;
  places_.push_back(place);
  next_.emplace_back().fill(kUnknown);
  return static_cast<State>(places_.size() - 1);
}

bool GlobSieve::may_end(std::string_view text, std::size_t first_special) const {
  const std::string_view ending = plain_ending(text, first_special);
  return std::ranges::any_of(suffixes_,
                             [&](std::string_view suffix) { return end_alike(suffix, ending); });
}

}  // namespace dibs
