#include "rules/peeling.h"

#include <algorithm>

namespace dibs {

namespace {

/// The pass itself. Which dependencies count and which items become ends is as good as random, and
/// a branch on it costs more than the rest: so everything is noted of every dependency, and what
/// does not count is cleared at the end.
class Peeling {
 public:
  Peeling(const DependencyGraph& graph, std::span<const std::uint8_t> counts)
      : graph_(graph),
        counts_(counts),
        size_(graph.size()),
        lengths_(size_ + 1),
        waiting_(size_ + 1),
        ends_(size_ + 1) {}

  Peeled run() {
    const std::size_t counted = count_dependents();
    for (ItemNumber item = 0; item < size_; ++item) note_end(item);
    for (std::size_t at = 0; at < end_; ++at) take_off(ends_[at]);
    return cleared(counted - end_);
  }

 private:
  // Where things are noted of a dependency; of one that no item has, behind all others.
  [[nodiscard]] std::uint32_t slot(ItemNumber needed) const { return std::min(needed, size_); }

  // How many items count.
  std::size_t count_dependents() {
    std::size_t counted = 0;
    for (ItemNumber item = 0; item < size_; ++item) {
      if (counts_[item] == 0) continue;
      ++counted;
      for (const ItemNumber needed : graph_.dependencies_of(item)) ++waiting_[slot(needed)];
    }
    return counted;
  }

  // Written down always, and kept if it is one. What is behind all others never is.
  void note_end(std::uint32_t item) {
    ends_[end_] = item;
    const bool counts = item < size_ && counts_[item] != 0;
    end_ += static_cast<std::size_t>(waiting_[item] == 0) & static_cast<std::size_t>(counts);
  }

  void take_off(ItemNumber item) {
    const std::uint32_t length = lengths_[item] + 1;
    for (const ItemNumber needed : graph_.dependencies_of(item)) {
      const std::uint32_t at = slot(needed);
      lengths_[at] = std::max(lengths_[at], length);
      --waiting_[at];
      note_end(at);
    }
  }

  Peeled cleared(std::size_t left) {
    lengths_.resize(size_);
    waiting_.resize(size_);
    for (ItemNumber item = 0; item < size_; ++item) {
      const std::uint32_t keep = counts_[item] == 0 ? 0 : 0xffffffff;
      lengths_[item] &= keep;
      waiting_[item] &= keep;
    }
    return {.lengths = std::move(lengths_), .waiting = std::move(waiting_), .left = left};
  }

  const DependencyGraph graph_;
  const std::span<const std::uint8_t> counts_;
  const std::uint32_t size_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> waiting_;
  std::vector<ItemNumber> ends_;
  std::size_t end_ = 0;
};

}  // namespace

Peeled peel(const DependencyGraph& graph, std::span<const std::uint8_t> counts) {
  return Peeling(graph, counts).run();
}

}  // namespace dibs
