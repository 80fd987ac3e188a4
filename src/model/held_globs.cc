#include "model/held_globs.h"

#include <algorithm>
#include <vector>

namespace dibs {

namespace {
// How the paths of a wanted pattern begin and end.
struct Outline {
  std::string_view prefix;
  std::string_view suffix;
};

constexpr bool is_special(char c) {
  return c == '*' || c == '?' || c == '[' || c == '\\' || c == '{';
}

// Whether a part that means nothing ("./a", "a//b", "a/./b") may begin or end at `at`: that is for
// the parser to say.
bool may_be_no_part(std::string_view text, std::size_t at) {
  const char before = at == 0 ? '/' : text[at - 1];
  if (text[at] == '/') return before == '/' || before == '.';
  if (text[at] != '.' || before != '/') return false;
  return at + 1 == text.size() || text[at + 1] == '/' || text[at + 1] == '{';
}

// Whether `text` could match something that begins with `prefix`.
bool may_begin(std::string_view text, std::string_view prefix) {
  const std::size_t most = std::min(text.size(), prefix.size());
  std::size_t at = 0;
  while (at < most && text[at] == prefix[at] && !is_special(text[at])) ++at;
  return at == most || is_special(text[at]) || may_be_no_part(text, at);
}

// What every match of `text` ends with, within the last part of the path; empty when there is more
// to it than a look can tell. A text without '*' and '?' may be a name, with all below it.
std::string_view plain_ending(std::string_view text) {
  const std::size_t edge = text.find_last_of("*?/");
  if (edge == std::string_view::npos) return {};
  const std::string_view ending = text.substr(edge + 1);
  if (ending.size() < 2) return {};  // "a/." means "a/"
  if (text.find_first_of("*?") == std::string_view::npos) return {};
  if (text.find_first_of("\\{[") != std::string_view::npos) return {};
  return ending;
}

bool may_end(std::string_view text, std::string_view suffix) {
  if (suffix.empty()) return true;
  const std::size_t compared = std::min(text.size(), suffix.size());
  if (text.ends_with(suffix.substr(suffix.size() - compared))) return true;
  const std::string_view ending = plain_ending(text);
  const std::size_t most = std::min(ending.size(), suffix.size());
  return ending.substr(ending.size() - most) == suffix.substr(suffix.size() - most);
}

std::vector<Outline> outlines_of(const GlobSet& wanted) {
  std::vector<Outline> outlines;
  for (const GlobSet::Entry& entry : wanted.entries()) {
    if (entry.sense == GlobSet::Sense::takes_away) continue;
    for (const GlobPattern& pattern : entry.glob.patterns()) {
      outlines.push_back({.prefix = pattern.prefix, .suffix = pattern.suffix});
    }
  }
  return outlines;
}

std::optional<Overlap> overlap_with_text(std::string_view text, const GlobSet& wanted) {
  Result<Glob> glob = Glob::parse(text);
  if (!glob) return Overlap{};
  return overlap(GlobSet(std::move(*glob)), wanted);
}
}  // namespace

std::optional<HeldOverlap> first_overlap(std::span<const std::string_view> held,
                                         const GlobSet& wanted, std::size_t from) {
  const std::vector<Outline> outlines = outlines_of(wanted);
  for (std::size_t i = from; i < held.size(); ++i) {
    const bool worth_parsing = std::any_of(outlines.begin(), outlines.end(), [&](const Outline& o) {
      return may_begin(held[i], o.prefix) && may_end(held[i], o.suffix);
    });
    if (!worth_parsing) continue;
    if (std::optional<Overlap> found = overlap_with_text(held[i], wanted)) {
      return HeldOverlap{.index = i, .overlap = std::move(*found)};
    }
  }
  return std::nullopt;
}

}  // namespace dibs
