// What the scheduling rules cost on many items: CPU time of each, the least of several runs.
//
//   schedule_cost [ITEMS]
//
// The items look like a repository's after some years: two dependencies each on average, mostly on
// recent items and now and then on one that everything hangs on; the older an item, the likelier it
// is done.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "rules/cycles.h"
#include "rules/path_lengths.h"
#include "rules/peeling.h"
#include "rules/readiness.h"
#include "rules/ready_order.h"

namespace dibs {

namespace {

constexpr std::uint32_t kItemsDefault = 100'000;
constexpr std::uint32_t kItemsMax = 100'000'000;
constexpr int kRuns = 50;
constexpr std::uint32_t kRecent = 200;   // how far back most dependencies reach
constexpr std::uint32_t kHubEvery = 97;  // one item in so many is depended on by many

struct Items {
  std::vector<std::uint32_t> first{0};
  std::vector<ItemNumber> depends_on;
  std::vector<StateKind> kinds;
  std::vector<std::uint8_t> priority;
  std::vector<std::uint32_t> estimate_min;
  std::vector<std::int64_t> created_unix_ms;
  std::mt19937_64 random{1};

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); }

  void add_dependency(ItemNumber item) {
    if (item == 0) return;
    const bool hub = below(10) == 0;
    const ItemNumber recent = item - 1 - below(std::min(item, kRecent));
    depends_on.push_back(hub ? recent / kHubEvery * kHubEvery : recent);
  }

  StateKind kind_of(ItemNumber item, std::uint32_t count, std::uint32_t done_in_hundred) {
    if (below(count) > item && below(100) < done_in_hundred) return StateKind::done;
    const std::uint32_t drawn = below(50);
    if (drawn == 0) return StateKind::active;
    if (drawn == 1) return StateKind::waiting;
    return drawn == 2 ? StateKind::dropped : StateKind::open;
  }

  Items(std::uint32_t count, std::uint32_t done_in_hundred) {
    for (ItemNumber item = 0; item < count; ++item) {
      for (std::uint32_t edges = below(5); edges > 0; --edges) add_dependency(item);
      first.push_back(static_cast<std::uint32_t>(depends_on.size()));
      kinds.push_back(kind_of(item, count, done_in_hundred));
      priority.push_back(static_cast<std::uint8_t>(below(5)));
      estimate_min.push_back(below(3) == 0 ? 0 : 15 * (1 + below(32)));
      created_unix_ms.push_back(1'700'000'000'000 + std::int64_t{item} * 60'000);
    }
  }
  [[nodiscard]] DependencyGraph graph() const { return {.first = first, .depends_on = depends_on}; }
};

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void measure(std::string_view what, const std::function<void()>& work) {
  double least = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const double began = cpu_ms();
    work();
    least = std::min(least, cpu_ms() - began);
  }
  fmt::print("  {:<12} {:6.2f} ms\n", what, least);
}

void report(const Items& items) {
  const DependencyGraph graph = items.graph();
  const std::vector<std::uint8_t> counts = unfinished(items.kinds);
  std::vector<std::uint32_t> lengths;
  Cycles circles;
  std::vector<Readiness> states;
  std::vector<ItemNumber> first_ten;
  std::vector<ItemNumber> order;
  Peeled peeled;
  measure("peel", [&] { peeled = peel(graph, counts); });
  measure("path_lengths", [&] { lengths = path_lengths(graph, counts); });
  measure("cycles", [&] { circles = cycles(graph, peeled); });
  measure("readiness", [&] { states = readiness(graph, items.kinds, circles); });
  const OrderColumns columns{.priority = items.priority,
                             .path_length = lengths,
                             .estimate_min = items.estimate_min,
                             .created_unix_ms = items.created_unix_ms};
  measure("best(10)", [&] { first_ten = best(states, columns, 10); });
  measure("ready_order", [&] { order = ready_order(states, columns); });
  const auto open = std::ranges::count(items.kinds, StateKind::open);
  fmt::print("  {} dependencies, {} open, {} ready, {} cycles, longest path {}\n",
             items.depends_on.size(), open, order.size(), circles.all.size(),
             *std::ranges::max_element(lengths));
}

}  // namespace

}  // namespace dibs

int main(int count, char** words) {
  std::uint32_t items = dibs::kItemsDefault;
  if (count > 1) {
    const std::string_view word(words[1]);
    std::from_chars(word.data(), word.data() + word.size(), items);
  }
  items = std::clamp<std::uint32_t>(items, 1, dibs::kItemsMax);
  for (const std::uint32_t done_in_hundred : {0U, 100U}) {
    fmt::print("{} items, {}\n", items, done_in_hundred == 0 ? "none done" : "older ones done");
    dibs::report(dibs::Items(items, done_in_hundred));
  }
}
