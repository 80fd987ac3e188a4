#include "git/fork_points.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::uint32_t kSeveral = UINT32_MAX - 1;
constexpr std::size_t kBits = 64;

using Reach = std::vector<std::uint64_t>;

bool has(const Reach& reach, std::size_t tip) {
  return ((reach[tip / kBits] >> (tip % kBits)) & 1U) != 0;
}

std::size_t size_of(const Reach& reach) {
  std::size_t count = 0;
  for (const std::uint64_t word : reach) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

void join(Reach& reach, const Reach& other) {
  for (std::size_t i = 0; i < reach.size(); ++i) reach[i] |= other[i];
}

}  // namespace

HistoryCommit history_commit(std::string_view line) {
  const std::vector<std::string_view> ids = split(trim(line), ' ');
  return {.id = std::string(ids.front()), .parents = {ids.begin() + 1, ids.end()}};
}

ForkPoints::ForkPoints(const std::vector<HistoryCommit>& history,
                       const std::vector<std::string>& tips)
    : tips_(tips.size()), found_(tips.size() * tips.size(), kNone) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (const HistoryCommit& commit : history) {
    numbers.emplace(commit.id, commits_.size());
    commits_.push_back(commit.id);
  }
  std::vector<Reach> reaches(history.size(), Reach(tips_ / kBits + 1));
  for (std::size_t tip = 0; tip < tips_; ++tip) {
    if (const auto at = numbers.find(tips[tip]); at != numbers.end())
      reaches[at->second][tip / kBits] |= std::uint64_t{1} << (tip % kBits);
  }
  std::vector<std::vector<const Reach*>> children(history.size());
  for (std::size_t i = 0; i < history.size(); ++i) {
    for (const Reach* child : children[i]) join(reaches[i], *child);
    had_by_all_.push_back(size_of(reaches[i]) == tips_);
    note_pairs(i, reaches[i], children[i]);
    for (const std::string& parent : history[i].parents) {
      if (const auto at = numbers.find(parent); at != numbers.end())
        children[at->second].push_back(&reaches[i]);
    }
  }
}

// A common ancestor of two tips is a best one if no child of it is one, too. Nothing is new where
// one child was reached by the same tips, which is so nearly everywhere.
void ForkPoints::note_pairs(std::size_t commit, const Reach& reach,
                            const std::vector<const Reach*>& children) {
  const Reach nothing(reach.size());
  const auto largest =
      std::ranges::max_element(children, {}, [](const Reach* child) { return size_of(*child); });
  const Reach& known = largest == children.end() ? nothing : **largest;
  if (size_of(known) == size_of(reach)) return;
  const auto in_a_child = [&](std::size_t a, std::size_t b) {
    return std::ranges::any_of(children, [&](const Reach* c) { return has(*c, a) && has(*c, b); });
  };
  for (std::size_t a = 0; a < tips_; ++a) {
    if (!has(reach, a) || has(known, a)) continue;
    for (std::size_t b = 0; b < tips_; ++b) {
      const bool seen_before = b <= a && !has(known, b);  // as (b, a), or it is a itself
      if (!has(reach, b) || seen_before || in_a_child(a, b)) continue;
      note({.first = std::min(a, b), .second = std::max(a, b)}, commit);
    }
  }
}

void ForkPoints::note(TipPair pair, std::size_t commit) {
  std::uint32_t& found = found_[place_of(pair)];
  found = found == kNone ? static_cast<std::uint32_t>(commit) : kSeveral;
}

std::optional<std::string> ForkPoints::of(TipPair pair) const {
  const std::uint32_t found = found_[place_of(pair)];
  if (found == kNone || found == kSeveral) return std::nullopt;
  return commits_[found];
}

bool ForkPoints::all_have(std::string_view commit) const {
  const auto at = std::ranges::find(commits_, commit);
  return at != commits_.end() && had_by_all_[static_cast<std::size_t>(at - commits_.begin())];
}

}  // namespace dibs
