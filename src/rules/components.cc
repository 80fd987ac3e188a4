#include "rules/components.h"

#include <algorithm>

namespace dibs {

namespace {

constexpr std::uint32_t kClosed = 0xffffffff;

/// Tarjan's algorithm with a stack of its own: a chain of a hundred thousand items is no deeper
/// for the program than one of ten.
class ComponentSearch {
 public:
  ComponentSearch(const DependencyGraph& graph, const Peeled& peeled)
      : graph_(graph), peeled_(peeled), number_(graph.size()), lowest_(graph.size()) {}

  Components run() {
    for (ItemNumber item = 0; item < graph_.size(); ++item) {
      if (!is_left(item) || number_[item] != 0) continue;
      enter(item);
      while (!path_.empty()) advance();
    }
    return std::move(found_);
  }

 private:
  struct Step {
    ItemNumber item;
    std::uint32_t next;  // the dependency to look at next
  };

  [[nodiscard]] bool is_left(ItemNumber item) const {
    return item < graph_.size() && peeled_.waiting[item] != 0;
  }

  void enter(ItemNumber item) {
    number_[item] = lowest_[item] = ++entered_;
    open_.push_back(item);
    path_.push_back({.item = item, .next = graph_.first[item]});
  }

  void advance() {
    Step& step = path_.back();
    if (step.next == graph_.first[step.item + 1]) return leave();
    const ItemNumber dependency = graph_.depends_on[step.next++];
    if (!is_left(dependency)) return;
    if (number_[dependency] == 0) return enter(dependency);
    // That of a closed component is larger than all and changes nothing.
    lowest_[step.item] = std::min(lowest_[step.item], number_[dependency]);
  }

  void leave() {
    const ItemNumber item = path_.back().item;
    path_.pop_back();
    if (!path_.empty()) {
      std::uint32_t& lowest = lowest_[path_.back().item];
      lowest = std::min(lowest, lowest_[item]);
    }
    if (lowest_[item] == number_[item]) close(item);
  }

  void close(ItemNumber root) {
    ItemNumber member = kNoItem;
    while (member != root) {
      member = open_.back();
      open_.pop_back();
      number_[member] = kClosed;
      found_.members.push_back(member);
    }
    found_.first.push_back(static_cast<std::uint32_t>(found_.members.size()));
  }

  const DependencyGraph& graph_;
  const Peeled& peeled_;
  std::vector<std::uint32_t> number_;  // in the order of entering, from 1
  std::vector<std::uint32_t> lowest_;  // the first entered that it leads back to
  std::uint32_t entered_ = 0;
  std::vector<ItemNumber> open_;  // entered, and in no component yet
  std::vector<Step> path_;
  Components found_;
};

}  // namespace

Components components_left_by(const Peeled& peeled, const DependencyGraph& graph) {
  if (peeled.left == 0) return {};
  return ComponentSearch(graph, peeled).run();
}

}  // namespace dibs
