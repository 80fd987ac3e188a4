// Which of many branches would conflict with each other, found before anybody merges. Nothing that
// git makes on the way stays: its objects go to a scratch directory.
//
//   TipMerges merges(git, common_dir, scratch_parent);
//   Result<TipSurvey> survey = merges.survey(tips, pairs, past);
//
// Pairs whose changes cannot meet are told apart by their paths; the others are merged by one
// `git merge-tree --stdin`, which is started before it is known which those are.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/branch_past.h"
#include "git/fork_points.h"
#include "git/git_program.h"

namespace dibs {

inline constexpr std::size_t kTipsMax = 500;
inline constexpr std::size_t kHistoryMax = 100'000;  // commits; of longer ones git is asked

struct Collision {
  TipPair pair;
  std::vector<std::string> files;

  friend bool operator==(const Collision&, const Collision&) = default;
};

struct TipSurvey {
  std::vector<Collision> collisions;  // in the order of the pairs
  std::size_t merged = 0;             // pairs that git was asked to merge
};

class TipMerges {
 public:
  // `scratch_parent` is a directory to make one in.
  TipMerges(const GitProgram& git, std::string common_dir, std::string scratch_parent)
      : git_(git), common_dir_(std::move(common_dir)), scratch_parent_(std::move(scratch_parent)) {}

  // Tips are commits, at most kTipsMax; the last is best one that the others began at. `past` is
  // what was found out before, if anything, and then what has been by now.
  [[nodiscard]] Result<TipSurvey> survey(const std::vector<std::string>& tips,
                                         const std::vector<TipPair>& pairs, BranchPast& past) const;
  // By git alone, pair by pair. A pair that git cannot merge at all collides in no file.
  [[nodiscard]] Result<std::vector<Collision>> merge(const std::vector<std::string>& tips,
                                                     const std::vector<TipPair>& pairs) const;

 private:
  using FindPairs = std::function<std::span<const TipPair>()>;
  [[nodiscard]] Result<ProgramEnd> run_merges(const std::vector<std::string>& tips,
                                              const FindPairs& find_pairs) const;
  [[nodiscard]] Result<std::vector<Collision>> merge_again(const std::vector<std::string>& tips,
                                                           std::span<const TipPair> pairs,
                                                           Result<ProgramEnd> first) const;
  [[nodiscard]] Result<BranchPast> whole_past(const std::vector<std::string>& tips) const;
  [[nodiscard]] bool bring_up(BranchPast& past, const std::vector<std::string>& tips) const;
  [[nodiscard]] Result<std::optional<ForkPoints>> fork_points(const std::vector<std::string>& tips,
                                                              BranchPast& past) const;
  [[nodiscard]] Result<std::vector<TipPair>> that_may_collide(const std::vector<std::string>& tips,
                                                              const std::vector<TipPair>& pairs,
                                                              BranchPast& past) const;
  [[nodiscard]] Done find_changes(const std::vector<Stretch>& stretches, BranchPast& past) const;

  const GitProgram& git_;
  std::string common_dir_;
  std::string scratch_parent_;
};

/// As much of an answer as is whole: about how many of the pairs, and those that conflict.
struct SaidMerges {
  std::size_t pairs = 0;
  std::vector<Collision> collisions;
};
// What `git merge-tree --stdin --name-only --no-messages` says about these pairs.
[[nodiscard]] SaidMerges parse_merges(std::string_view out, std::span<const TipPair> pairs);

}  // namespace dibs
