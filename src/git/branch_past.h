// How branches came about, as far as comparing them had to find out: the commits back to one that
// all of them have, and what each branch changed since it parted from another. Kept between two
// looks, so that after one commit more git is asked about that commit alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/changed_paths.h"
#include "git/fork_points.h"

namespace dibs {

/// From a commit to one that follows it.
struct Stretch {
  std::string from;
  std::string to;

  friend auto operator<=>(const Stretch&, const Stretch&) = default;
};

struct BranchPast {
  std::string base;  // all tips had it; empty: `commits` goes back to the beginnings
  std::vector<HistoryCommit> commits;  // children before their parents
  // What was changed on the way, or more: a change that was taken back may be among it.
  std::map<Stretch, ChangedPaths> changes;

  // The newest ones that are not among these tips: where branches were before.
  [[nodiscard]] std::vector<std::string> left_behind(const std::vector<std::string>& tips) const;
  // False, and nothing is added, if one follows a commit that is not known.
  [[nodiscard]] bool add(std::vector<HistoryCommit> newer);
  // Put together from shorter stretches where that can be done.
  [[nodiscard]] std::optional<ChangedPaths> changed(const Stretch& stretch) const;
  // All that these tips have no use for.
  void forget_all_but(const std::vector<std::string>& tips);

  friend bool operator==(const BranchPast&, const BranchPast&) = default;
};

}  // namespace dibs
