#include "model/glob_overlap.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/glob_alphabet.h"
#include "model/glob_automaton.h"
#include "model/repository_path.h"

namespace dibs {

namespace {
using Position = GlobPattern::Position;

// Where a walk is: one position in each pattern, the state of what is taken away, and how the path
// stands. Breadth first, so the first path found is a shortest.
struct Node {
  Position one = 0;
  Position other = 0;
  PathPlace place = PathPlace::part_begins;
  std::uint8_t byte = 0;  // that led here
  GlobAutomaton::State taken = GlobAutomaton::kStart;
  std::uint32_t from = 0;

  [[nodiscard]] std::uint64_t identity() const {
    return std::uint64_t{taken} << 32 | std::uint64_t{static_cast<std::uint8_t>(place)} << 28 |
           std::uint64_t{one} << 14 | other;
  }
};
static_assert(kGlobBytesMax + 4 < std::size_t{1} << 14, "a position must fit in 14 bits");

// What is taken away. Each step is made once: a walk comes to the same state with many positions.
class TakenAway {
 public:
  explicit TakenAway(std::vector<const GlobPattern*> patterns) : automaton_(std::move(patterns)) {}

  using State = GlobAutomaton::State;
  [[nodiscard]] const std::vector<const GlobPattern*>& patterns() const {
    return automaton_.patterns();
  }
  [[nodiscard]] bool has(State state) const { return automaton_.matches(state); }
  // Takes what it costs from `steps_left`, which must not be used up.
  State after(State state, std::uint8_t byte, std::size_t& steps_left) {
    if (patterns().empty()) return state;
    const auto [known, is_new] = steps_.try_emplace(std::uint64_t{state} << 8 | byte, state);
    if (is_new) {
      steps_left -= std::min(steps_left, automaton_.size_of(state));
      known->second = automaton_.after(state, byte);
    }
    return known->second;
  }

 private:
  GlobAutomaton automaton_;
  std::unordered_map<std::uint64_t, State> steps_;
};

// Two patterns walked side by side over every path that begins as both allow.
class Walk {
 public:
  Walk(const GlobPattern& one, const GlobPattern& other, TakenAway& taken, std::size_t& steps_left)
      : one_(one), other_(other), taken_(taken), steps_left_(steps_left) {}

  std::optional<Overlap> find() {
    arrive({.from = 0}, positions_from(one_, 0), positions_from(other_, 0));
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (accepts(nodes_[i])) return Overlap{.path = path_to(i)};
      if (!go_on_from(i)) return Overlap{};
    }
    return std::nullopt;
  }

 private:
  static std::vector<Position> positions_from(const GlobPattern& pattern, Position at) {
    std::vector<Position> out;
    pattern.arrive(at, out);
    return out;
  }

  // Every pair of the positions, unless the walk was there before.
  void arrive(Node node, const std::vector<Position>& ones, const std::vector<Position>& others) {
    for (const Position one : ones) {
      for (const Position other : others) {
        node.one = one;
        node.other = other;
        if (seen_.insert(node.identity()).second) nodes_.push_back(node);
      }
    }
  }

  [[nodiscard]] bool accepts(const Node& node) const {
    return node.one == one_.end() && node.other == other_.end() && may_end_at(node.place) &&
           !taken_.has(node.taken);
  }

  // False when the steps are used up.
  bool go_on_from(std::uint32_t i) {
    if (nodes_[i].one == one_.end() || nodes_[i].other == other_.end()) return true;
    const GlobStep& step = one_.steps[nodes_[i].one];
    if (step.kind == GlobStep::Kind::byte) return read(i, step.byte);
    const GlobStep& other_step = other_.steps[nodes_[i].other];
    if (other_step.kind == GlobStep::Kind::byte) return read(i, other_step.byte);
    const std::vector<std::uint8_t>& bytes = alphabet();
    return std::ranges::all_of(bytes, [&](std::uint8_t byte) { return read(i, byte); });
  }

  bool read(std::uint32_t i, std::uint8_t byte) {
    const Node from = nodes_[i];
    if (steps_left_ == 0) return false;
    --steps_left_;
    const std::optional<PathPlace> place = after(from.place, byte);
    if (!place) return true;
    ones_.clear();
    others_.clear();
    one_.advance(from.one, byte, ones_);
    other_.advance(from.other, byte, others_);
    if (ones_.empty() || others_.empty()) return true;
    arrive({.place = *place,
            .byte = byte,
            .taken = taken_.after(from.taken, byte, steps_left_),
            .from = i},
           ones_, others_);
    return true;
  }

  // Made when first needed: where one of the patterns has a plain byte there is nothing to choose.
  const std::vector<std::uint8_t>& alphabet() {
    if (alphabet_.empty()) {
      std::vector<const GlobPattern*> patterns = taken_.patterns();
      patterns.push_back(&one_);
      patterns.push_back(&other_);
      alphabet_ = alphabet_of(patterns);
    }
    return alphabet_;
  }

  [[nodiscard]] std::string path_to(std::uint32_t i) const {
    std::string path;
    for (; nodes_[i].byte != 0; i = nodes_[i].from) {
      path.push_back(static_cast<char>(nodes_[i].byte));
    }
    std::ranges::reverse(path);
    return path;
  }

  const GlobPattern& one_;
  const GlobPattern& other_;
  TakenAway& taken_;
  std::size_t& steps_left_;
  std::vector<Node> nodes_;  // also the queue
  std::unordered_set<std::uint64_t> seen_;
  std::vector<std::uint8_t> alphabet_;
  std::vector<Position> ones_;
  std::vector<Position> others_;
};

// What is taken away from the entry with this index.
void add_taken(const GlobSet& set, std::size_t entry, std::vector<const GlobPattern*>& out) {
  for (std::size_t i = entry + 1; i < set.entries().size(); ++i) {
    if (set.entries()[i].sense != GlobSet::Sense::takes_away) continue;
    for (const GlobPattern& pattern : set.entries()[i].glob.patterns()) out.push_back(&pattern);
  }
}

// A path is in a set if some entry gives it and no later one takes it away, so two sets overlap if
// two of their entries do, without what is taken from either.
class Sets {
 public:
  Sets(const GlobSet& one, const GlobSet& other) : one_(one), other_(other) {}

  std::optional<Overlap> overlap() {
    for (std::size_t i = 0; i < one_.entries().size(); ++i) {
      for (std::size_t j = 0; j < other_.entries().size(); ++j) {
        if (!gives(one_, i) || !gives(other_, j)) continue;
        if (std::optional<Overlap> found = overlap_of(i, j)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  static bool gives(const GlobSet& set, std::size_t entry) {
    return set.entries()[entry].sense == GlobSet::Sense::gives;
  }

  std::optional<Overlap> overlap_of(std::size_t i, std::size_t j) {
    std::vector<const GlobPattern*> patterns;
    add_taken(one_, i, patterns);
    add_taken(other_, j, patterns);
    TakenAway taken(std::move(patterns));
    for (const GlobPattern& one : one_.entries()[i].glob.patterns()) {
      for (const GlobPattern& other : other_.entries()[j].glob.patterns()) {
        if (steps_left_ == 0) return Overlap{};
        --steps_left_;
        if (!may_meet(one, other)) continue;
        if (auto found = Walk(one, other, taken, steps_left_).find()) return found;
      }
    }
    return std::nullopt;
  }

  const GlobSet& one_;
  const GlobSet& other_;
  std::size_t steps_left_ = kOverlapStepsMax;
};
}  // namespace

std::optional<Overlap> overlap(const GlobSet& one, const GlobSet& other) {
  return Sets(one, other).overlap();
}

}  // namespace dibs
