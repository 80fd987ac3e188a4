// Which of the ready items a worker gets: the one decision of `next`. Several workers may ask at
// once, as the kinds of a run do; then it is also which of them gets it.
//
// The order of `ready` comes first; within its next kWindow items that are free and that a worker
// can do, the sum of worker_fit decides, of every item with every worker. What overlaps with what
// somebody holds is passed over while there is anything else. One pick in so many goes to the
// oldest item instead, so that none waits for ever behind a stream of more urgent ones.
//
// Nothing is asked about an item before its turn: with a hundred thousand ready items a choice
// looks at a few dozen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/dependency_graph.h"
#include "rules/ready_order.h"
#include "rules/worker_fit.h"

namespace dibs {

inline constexpr std::size_t kWindow = 64;
inline constexpr std::size_t kRunnersUpMax = 5;

/// One of the workers that ask, counted from 0.
using WorkerNumber = std::size_t;

/// The ready items, and how to learn more about one of them.
struct Candidates {
  std::span<const ItemNumber> order;  // from ready_order
  OrderColumns columns;
  std::function<bool(ItemNumber)> is_taken;
  std::function<Asked(ItemNumber, WorkerNumber)> asked;
  // A path that its globs share with what somebody holds, and by whom, in words.
  std::function<std::optional<std::string>(ItemNumber)> overlaps;
  // How many are weighed against each other; fewer where nothing could change their order.
  std::size_t window = kWindow;
};

/// What happens to items that overlap when there are no others.
enum class Overlapping : std::uint8_t {
  last,   // the best of them is given, with its witness
  never,  // nothing is
};

struct Schedule {
  Weights weights;
  std::uint32_t oldest_every = 16;  // one pick in so many; 0: none
  Overlapping overlapping = Overlapping::last;
};

/// What differs from one pick to the next.
struct Pick {
  std::int64_t now_unix_ms = 0;
  std::uint64_t chance = 0;  // any number, each as likely as each
};

struct Scored {
  ItemNumber item = kNoItem;
  WorkerNumber worker = 0;  // whom it suits best
  Score score;
  std::optional<std::string> overlap;  // set for what was found to overlap
};

enum class ChosenAs : std::uint8_t { best, oldest };

struct Choice {
  std::optional<Scored> chosen;
  ChosenAs as = ChosenAs::best;
  std::vector<Scored> runners_up;  // at most kRunnersUpMax, the best first
};

[[nodiscard]] Choice choose(const Candidates& candidates, std::span<const Worker> workers,
                            const Schedule& schedule, const Pick& pick);

}  // namespace dibs
