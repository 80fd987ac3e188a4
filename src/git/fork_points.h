// Where branches parted: for every two of many tips, the one commit that a merge of them starts
// from. One walk over their history answers for all pairs; git would be asked once for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dibs {

/// As `git rev-list --parents` tells it.
struct HistoryCommit {
  std::string id;
  std::vector<std::string> parents;

  friend bool operator==(const HistoryCommit&, const HistoryCommit&) = default;
};

// "COMMIT PARENT …", as `git rev-list --parents` says it.
[[nodiscard]] HistoryCommit history_commit(std::string_view line);

/// Two tips by their numbers; `first` is the smaller.
struct TipPair {
  std::size_t first = 0;
  std::size_t second = 0;

  friend auto operator<=>(const TipPair&, const TipPair&) = default;
};

class ForkPoints {
 public:
  // `history` has children before their parents, and at least all from the tips back to a commit
  // that every tip has.
  ForkPoints(const std::vector<HistoryCommit>& history, const std::vector<std::string>& tips);

  // Nothing where there is none, or more than one: where branches were merged crosswise.
  [[nodiscard]] std::optional<std::string> of(TipPair pair) const;
  // Whether a commit of the history is part of every tip.
  [[nodiscard]] bool all_have(std::string_view commit) const;

 private:
  using Reach = std::vector<std::uint64_t>;  // a bit a tip: those that the commit is part of

  void note_pairs(std::size_t commit, const Reach& reach,
                  const std::vector<const Reach*>& children);
  void note(TipPair pair, std::size_t commit);
  [[nodiscard]] std::size_t place_of(TipPair pair) const {
    return pair.first * tips_ + pair.second;
  }

  std::size_t tips_;
  std::vector<std::string> commits_;
  std::vector<bool> had_by_all_;      // by commit
  std::vector<std::uint32_t> found_;  // by pair
};

}  // namespace dibs
