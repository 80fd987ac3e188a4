#include "verbs/demo_proof.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "rules/lease_history.h"
#include "verbs/demo_project.h"

namespace dibs::verbs {

namespace {

using Violations = std::vector<std::string>;

std::map<std::string, std::vector<std::size_t>> places_of(
    const std::vector<DemoLanding>& landings) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < landings.size(); ++i) places[landings[i].item].push_back(i);
  return places;
}

DemoVerdict landed_once(const DemoEvidence& evidence) {
  Violations violations;
  auto places = places_of(evidence.landings);
  for (const DemoStep& step : evidence.plan.steps) {
    const std::size_t times = places[step.item].size();
    if (times != 1) violations.push_back(fmt::format("{} landed {} times", step.item, times));
  }
  for (const std::string& item : evidence.open_items)
    violations.push_back(fmt::format("{} is not done", item));
  if (evidence.run_error) violations.push_back(*evidence.run_error);
  return {.claim = fmt::format("{} items, each landed exactly once", evidence.plan.steps.size()),
          .violations = std::move(violations)};
}

DemoVerdict landed_in_order(const DemoEvidence& evidence) {
  Violations violations;
  auto places = places_of(evidence.landings);
  std::size_t dependencies = 0;
  for (const DemoStep& step : evidence.plan.steps) {
    for (const std::size_t on : step.depends_on) {
      const std::string& before = evidence.plan.steps[on].item;
      ++dependencies;
      if (places[step.item].empty()) continue;  // that is another claim's
      if (places[before].empty() || places[before].front() > places[step.item].front())
        violations.push_back(fmt::format("{} landed before {}", step.item, before));
    }
  }
  return {.claim = fmt::format("in the order of their {} dependencies", dependencies),
          .violations = std::move(violations)};
}

DemoVerdict one_holder_at_a_time(const DemoEvidence& evidence) {
  Violations violations = contradictions_in(evidence.history);
  std::map<std::string, std::string> leases;  // that landed, as the history says
  for (const PastEvent& past : evidence.history) {
    if (past.event.op == Op::land) leases[past.event.resource.text] = past.event.lease.text;
  }
  for (const DemoLanding& landing : evidence.landings) {
    if (leases["item:" + landing.item] != landing.lease)
      violations.push_back(fmt::format("{} was landed by one who did not hold it", landing.item));
  }
  const auto granted = std::ranges::count_if(
      evidence.history, [](const PastEvent& past) { return past.event.op == Op::acquire; });
  return {.claim = fmt::format("{} leases, never two holders at once", granted),
          .violations = std::move(violations)};
}

const DemoFailure* failure_of(const DemoEvidence& evidence, const DemoStep& step) {
  const auto found = std::ranges::find(evidence.failures, step.item, &DemoFailure::item);
  return found == evidence.failures.end() ? nullptr : &*found;
}

DemoVerdict mistake_caught(const DemoEvidence& evidence, const DemoStep& step) {
  DemoVerdict verdict{.claim = fmt::format("the mistake in {} was stopped by the gate", step.item),
                      .violations = {}};
  const DemoFailure* failure = failure_of(evidence, step);
  if (failure == nullptr || !contains(failure->why, "gate"))
    verdict.violations.push_back(fmt::format("no gate refused {}", step.item));
  return verdict;
}

DemoVerdict kill_survived(const DemoEvidence& evidence, const DemoStep& step) {
  DemoVerdict verdict{
      .claim =
          fmt::format("the worker killed with -9 at {} cost it one try, and no work", step.item),
      .violations = {}};
  if (failure_of(evidence, step) == nullptr)
    verdict.violations.push_back(fmt::format("nobody noticed that {} was killed", step.item));
  if (std::ranges::find(evidence.rescued, step.item) == evidence.rescued.end())
    verdict.violations.push_back(fmt::format("half of {} was lost", step.item));
  return verdict;
}

DemoVerdict zombie_refused(const DemoEvidence& evidence, const DemoStep& step) {
  const int lost = exit_code(ErrorKind::lease_lost);
  DemoVerdict verdict{
      .claim = fmt::format("the sleeper on {} was refused (exit {}), and its work is kept",
                           step.item, lost),
      .violations = {}};
  if (!evidence.sleeper_exit) {
    verdict.violations.emplace_back("it did not wake up");
  } else if (*evidence.sleeper_exit != lost) {
    verdict.violations.push_back(
        fmt::format("its `dibs done` ended with exit {}", *evidence.sleeper_exit));
  }
  if (std::ranges::find(evidence.rescued, step.item) == evidence.rescued.end())
    verdict.violations.emplace_back("its work is on no rescue ref");
  return verdict;
}

DemoVerdict program_right(const DemoEvidence& evidence) {
  DemoVerdict verdict{.claim = fmt::format("what landed works: {}", all_right(evidence.plan)),
                      .violations = {}};
  if (trim(evidence.check_said) != all_right(evidence.plan))
    verdict.violations.push_back(
        fmt::format("the check said: {}", printable(trim(evidence.check_said))));
  return verdict;
}

}  // namespace

std::vector<DemoVerdict> prove(const DemoEvidence& evidence) {
  std::vector<DemoVerdict> verdicts{landed_once(evidence), landed_in_order(evidence),
                                    one_holder_at_a_time(evidence)};
  if (const DemoStep* step = evidence.plan.with(Mishap::mistake))
    verdicts.push_back(mistake_caught(evidence, *step));
  if (const DemoStep* step = evidence.plan.with(Mishap::killed))
    verdicts.push_back(kill_survived(evidence, *step));
  if (const DemoStep* step = evidence.plan.with(Mishap::paused))
    verdicts.push_back(zombie_refused(evidence, *step));
  verdicts.push_back(program_right(evidence));
  verdicts.push_back({.claim = "nothing left behind: no worktree, branch, process or lease",
                      .violations = evidence.left_behind});
  return verdicts;
}

std::optional<std::int64_t> one_worker_ms(const DemoPlan& plan, const DemoMeasure& alone) {
  if (alone.items == 0) return std::nullopt;
  const std::int64_t beside_ms = alone.elapsed_ms - alone.commands_ms;
  const std::int64_t doing_ms =
      (alone.commands_ms - alone.thinking_ms) / static_cast<std::int64_t>(alone.items);
  std::int64_t all_ms = beside_ms;
  for (const DemoStep& step : plan.steps)
    if (!step.alone) all_ms += step.think_ms + doing_ms;
  return all_ms;
}

}  // namespace dibs::verbs
