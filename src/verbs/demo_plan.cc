#include "verbs/demo_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/json.h"

namespace dibs::verbs {

namespace {

constexpr std::array<const char*, 4> kFiles{"area.c", "blend.c", "route.c", "tally.c"};
constexpr std::size_t kAloneMax = 3;
constexpr std::size_t kTableEvery = 8;
constexpr std::size_t kDependenciesMax = 2;
constexpr std::int64_t kThinkLeastMs = 1500;
constexpr std::int64_t kThinkSpreadMs = 1500;
constexpr std::int64_t kPausedThinkMs = 200;  // it is asleep long enough
constexpr std::int64_t kModulus = 997;        // keeps answers small; 0 stands for "not there yet"

// Repeatable, and nothing here is secret.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 2 + 1) {
    for (int i = 0; i < kWarmUp; ++i) (void)below(2);  // small seeds begin alike
  }
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_ % bound;
  }

 private:
  static constexpr int kWarmUp = 20;
  std::uint64_t state_;
};

// On what is far enough back to be done by then, mostly: dependencies are to be kept, not to make
// workers wait.
std::vector<std::size_t> dependencies(Dice& dice, std::size_t step, std::size_t reach) {
  std::vector<std::size_t> on;
  if (step < reach) return on;
  const std::size_t count = 1 + dice.below(kDependenciesMax);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t one = dice.below(step - reach + 1);
    if (std::ranges::find(on, one) == on.end()) on.push_back(one);
  }
  std::ranges::sort(on);
  return on;
}

// Not to those that are timed. The paused one is begun before anything has landed, so it may depend
// on nothing.
void hand_out_mishaps(DemoPlan& plan, Dice& dice, std::size_t alone, std::size_t reach) {
  std::vector<std::size_t> free;
  for (std::size_t i = alone; i < plan.steps.size(); ++i) free.push_back(i);
  const auto take = [&](Mishap mishap, std::size_t first) {
    if (first == 0) return;
    const auto at = free.begin() + static_cast<std::ptrdiff_t>(dice.below(first));
    plan.steps[*at].mishap = mishap;
    free.erase(at);
  };
  const auto begun_at_once = static_cast<std::size_t>(
      std::ranges::count_if(free, [&](std::size_t i) { return i < reach; }));
  if (free.size() > 2) take(Mishap::paused, begun_at_once);
  if (!free.empty()) take(Mishap::mistake, (free.size() + 1) / 2);
  if (!free.empty()) take(Mishap::killed, (free.size() + 1) / 2);
}

std::int64_t own_number(const DemoPlan& plan, const DemoStep& step) {
  return (&step - plan.steps.data()) + 1;
}

std::int64_t answer_of(const DemoPlan& plan, const DemoStep& step) {
  std::int64_t sum = own_number(plan, step);
  for (const std::size_t on : step.depends_on) sum += plan.steps[on].answer;
  return sum % kModulus + 1;
}

std::string sum_of(const DemoPlan& plan, const DemoStep& step) {
  std::string sum = std::to_string(own_number(plan, step));
  for (const std::size_t on : step.depends_on)
    sum += fmt::format(" + {}()", plan.steps[on].function);
  return fmt::format("({}) % {}", sum, kModulus);
}

std::string batch_line(const DemoPlan& plan, const DemoStep& step) {
  JsonArray on;
  for (const std::size_t one : step.depends_on) on.add(plan.steps[one].item);
  JsonArray labels;
  if (step.alone) labels.add(kAloneLabel);
  return JsonObject()
      .add("id", step.item)
      .add("title", fmt::format("write {} in {}", step.function, step.file))
      .add("body", fmt::format("It answers {}.", formula_of(plan, step)))
      .add_raw("labels", labels.text())
      .add_raw("depends_on", on.text())
      .text();
}

}  // namespace

const DemoStep* DemoPlan::with(Mishap mishap) const {
  const auto found = std::ranges::find(steps, mishap, &DemoStep::mishap);
  return found == steps.end() ? nullptr : &*found;
}

std::size_t DemoPlan::in_table() const {
  return static_cast<std::size_t>(std::ranges::count(steps, true, &DemoStep::in_table));
}

DemoPlan make_demo_plan(const Demo& request) {
  Dice dice(request.seed);
  DemoPlan plan{.steps = {}, .files = {kFiles.begin(), kFiles.end()}};
  const std::size_t alone = std::min(kAloneMax, request.items / 4);
  const std::size_t reach = std::max(request.workers + 2, alone + 1);
  for (std::size_t i = 0; i < request.items; ++i) {
    plan.steps.push_back(
        {.item = fmt::format("step-{:02}", i + 1),
         .function = fmt::format("step_{:02}", i + 1),
         .file = kFiles[dice.below(kFiles.size())],
         .depends_on = dependencies(dice, i, reach),
         .think_ms = kThinkLeastMs + static_cast<std::int64_t>(dice.below(kThinkSpreadMs)),
         .in_table = i % kTableEvery == kTableEvery - 1,
         .alone = i < alone});
    plan.steps.back().answer = answer_of(plan, plan.steps.back());
  }
  hand_out_mishaps(plan, dice, alone, reach);
  for (DemoStep& step : plan.steps) {
    if (step.mishap == Mishap::paused) step.think_ms = kPausedThinkMs;
    // A conflict would cost it its first try, and the gate would never see the mistake.
    if (step.mishap == Mishap::mistake) step.in_table = false;
  }
  return plan;
}

std::string formula_of(const DemoPlan& plan, const DemoStep& step) {
  return sum_of(plan, step) + " + 1";
}

std::string wrong_formula_of(const DemoPlan& plan, const DemoStep& step) {
  return sum_of(plan, step) + " + 2";
}

std::string batch_of(const DemoPlan& plan) {
  std::string lines;
  for (const DemoStep& step : plan.steps) lines += batch_line(plan, step) + "\n";
  return lines;
}

}  // namespace dibs::verbs
