#include "rules/choice.h"

#include <algorithm>
#include <tuple>

namespace dibs {

namespace {

// An item must not pass one that `ready` shows before it by path, estimate and age alone: their sum
// is not in the order that compares them one after the other. What is too much is taken off.
void keep_order(std::span<Scored> window) {
  for (std::size_t at = 1; at < window.size(); ++at) {
    const std::int64_t before = window[at - 1].score.without_worker();
    const std::int64_t own = window[at].score.without_worker();
    window[at].score[Factor::order] = std::min<std::int64_t>(before - own, 0);
  }
}

// Among equals the order stays as it is.
std::vector<Scored> best_first(std::span<Scored> window) {
  const auto total = [](const Scored& scored) { return scored.score.total(); };
  std::vector<Scored> sorted;
  sorted.reserve(window.size());
  for (Scored& scored : window) {
    const auto place = std::ranges::upper_bound(sorted, total(scored), std::greater{}, total);
    sorted.insert(place, std::move(scored));
  }
  return sorted;
}

class Choosing {
 public:
  Choosing(const Candidates& candidates, std::span<const Worker> workers, const Schedule& schedule,
           const Pick& pick)
      : candidates_(candidates), workers_(workers), schedule_(schedule), pick_(pick) {}

  Choice run() {
    if (is_turn_of_oldest() && take_oldest()) {
      add_runners_up(next_window());
      return std::move(choice_);
    }
    while (!choice_.chosen) {
      std::vector<Scored> window = next_window();
      if (window.empty()) break;
      take_first_without_overlap(window);
      add_runners_up(std::move(window));
    }
    if (!choice_.chosen && schedule_.overlapping == Overlapping::last) take_overlapping();
    return std::move(choice_);
  }

 private:
  [[nodiscard]] bool is_turn_of_oldest() const {
    return schedule_.oldest_every > 0 && pick_.chance % schedule_.oldest_every == 0;
  }

  // The item with its score, if the worker may have it.
  [[nodiscard]] std::optional<Scored> offer(ItemNumber item, WorkerNumber number) const {
    const Worker& worker = workers_[number];
    const Asked asked = candidates_.asked(item, number);
    if (!suits(worker, asked)) return std::nullopt;
    return Scored{.item = item,
                  .worker = number,
                  .score = score_of(schedule_.weights, candidates_.columns, item, pick_.now_unix_ms,
                                    worker, asked)};
  }

  // To the worker whom it suits best; to the first among equals.
  [[nodiscard]] std::optional<Scored> offer(ItemNumber item) const {
    if (candidates_.is_taken(item)) return std::nullopt;
    std::optional<Scored> best;
    for (WorkerNumber number = 0; number < workers_.size(); ++number) {
      std::optional<Scored> scored = offer(item, number);
      if (scored && (!best || best->score.total() < scored->score.total()))
        best = std::move(scored);
    }
    return best;
  }

  // The best first. Later windows come after all of the earlier ones.
  [[nodiscard]] std::vector<Scored> next_window() {
    std::vector<Scored> window;
    for (; at_ < candidates_.order.size() && window.size() < candidates_.window; ++at_) {
      if (std::optional<Scored> scored = offer(candidates_.order[at_])) {
        window.push_back(std::move(*scored));
      }
    }
    keep_order(window);
    return best_first(window);
  }

  void take_first_without_overlap(std::span<Scored> window) {
    for (Scored& scored : window) {
      scored.overlap = candidates_.overlaps(scored.item);
      if (!scored.overlap) {
        choice_.chosen = scored;
        return;
      }
    }
  }

  // A heap, because most often the first is taken and the others need no order.
  bool take_oldest() {
    const auto is_younger = [&](ItemNumber one, ItemNumber other) {
      const auto& created = candidates_.columns.created_unix_ms;
      return std::tie(created[one], one) > std::tie(created[other], other);
    };
    std::vector<ItemNumber> heap(candidates_.order.begin(), candidates_.order.end());
    std::ranges::make_heap(heap, is_younger);
    for (; !heap.empty() && !choice_.chosen; heap.pop_back()) {
      std::ranges::pop_heap(heap, is_younger);
      std::optional<Scored> scored = offer(heap.back());
      if (scored && !candidates_.overlaps(scored->item)) choice_.chosen = std::move(scored);
    }
    if (choice_.chosen) choice_.as = ChosenAs::oldest;
    return choice_.chosen.has_value();
  }

  // All overlap, so the first of the runners-up is the best of all.
  void take_overlapping() {
    if (choice_.runners_up.empty()) return;
    choice_.chosen = std::move(choice_.runners_up.front());
    choice_.runners_up.erase(choice_.runners_up.begin());
  }

  void add_runners_up(std::vector<Scored> window) {
    for (Scored& scored : window) {
      if (choice_.runners_up.size() == kRunnersUpMax) return;
      if (choice_.chosen && choice_.chosen->item == scored.item) continue;
      choice_.runners_up.push_back(std::move(scored));
    }
  }

  const Candidates& candidates_;
  std::span<const Worker> workers_;
  const Schedule& schedule_;
  const Pick& pick_;
  std::size_t at_ = 0;  // in the order
  Choice choice_;
};

}  // namespace

Choice choose(const Candidates& candidates, std::span<const Worker> workers,
              const Schedule& schedule, const Pick& pick) {
  return Choosing(candidates, workers, schedule, pick).run();
}

}  // namespace dibs
