#include "git/branch_past.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dibs {

namespace {

using CommitIds = std::unordered_set<std::string_view>;

CommitIds ids_of(const std::vector<HistoryCommit>& commits) {
  CommitIds ids;
  for (const HistoryCommit& commit : commits) ids.insert(commit.id);
  return ids;
}

}  // namespace

std::vector<std::string> BranchPast::left_behind(const std::vector<std::string>& tips) const {
  CommitIds others(tips.begin(), tips.end());
  std::vector<std::string> behind;
  for (const HistoryCommit& commit : commits) {
    if (!others.contains(commit.id)) behind.push_back(commit.id);
    others.insert(commit.parents.begin(), commit.parents.end());
  }
  return behind;
}

bool BranchPast::add(std::vector<HistoryCommit> newer) {
  CommitIds known = ids_of(commits);
  const CommitIds among_them = ids_of(newer);
  known.insert(among_them.begin(), among_them.end());
  for (const HistoryCommit& commit : newer) {
    const bool follows = std::ranges::all_of(
        commit.parents, [&](const std::string& parent) { return known.contains(parent); });
    if (!follows || commit.parents.empty()) return false;
  }
  commits.insert(commits.begin(), std::make_move_iterator(newer.begin()),
                 std::make_move_iterator(newer.end()));
  return true;
}

// Back from its end, commit by commit, as long as each has one parent: whatever was changed on the
// way as a whole was changed in one of the steps.
std::optional<ChangedPaths> BranchPast::changed(const Stretch& stretch) const {
  if (const auto known = changes.find(stretch); known != changes.end()) return known->second;
  if (changes.empty()) return std::nullopt;  // so that a first look does not go through all commits
  ChangedPaths paths;
  std::string_view at = stretch.to;
  for (const HistoryCommit& commit : commits) {
    if (at == stretch.from) return paths;
    if (commit.id != at) continue;
    const auto rest = changes.find({stretch.from, commit.id});
    const bool is_rest = rest != changes.end();
    const auto step = is_rest || commit.parents.size() != 1
                          ? rest
                          : changes.find({commit.parents.front(), commit.id});
    if (step == changes.end()) return std::nullopt;
    join(paths, step->second);
    at = step->first.from;
  }
  return at == stretch.from ? std::optional(std::move(paths)) : std::nullopt;
}

void BranchPast::forget_all_but(const std::vector<std::string>& tips) {
  const CommitIds wanted(tips.begin(), tips.end());
  std::erase_if(changes, [&](const auto& entry) { return !wanted.contains(entry.first.to); });
  // Children come before their parents, so whatever is needed is known to be when it is met.
  std::unordered_set<std::string> needed(tips.begin(), tips.end());
  std::erase_if(commits, [&](const HistoryCommit& commit) {
    if (!needed.contains(commit.id)) return true;
    needed.insert(commit.parents.begin(), commit.parents.end());
    return false;
  });
}

}  // namespace dibs
