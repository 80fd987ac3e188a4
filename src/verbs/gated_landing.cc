#include "verbs/gated_landing.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/text.h"
#include "verbs/merge_slot.h"
#include "verbs/trust.h"

namespace dibs::verbs {

namespace {

Result<std::vector<std::string>> pass(Workspace& workspace, const LandingGates& gates,
                                      const Target& target, const std::vector<Stacked>& stack) {
  const Landable& own = stack.front().landable;
  return pass_gates(workspace, gates.to_pass,
                    {.item = own.item.name,
                     .branch = own.branch,
                     .target = target.branch,
                     .commit = stack.back().commit,
                     .work = own.work,
                     .directory = {},
                     .who = own.who,
                     .lease = own.lease});
}

// The largest part, of half the size each time, that passes.
Result<std::vector<std::string>> pass_largest_part(Workspace& workspace, const LandingGates& gates,
                                                   const Target& target,
                                                   std::vector<Stacked>& stack) {
  while (true) {
    Result<std::vector<std::string>> notes = pass(workspace, gates, target, stack);
    const bool gate_failed = !notes && notes.error().kind == ErrorKind::refused;
    if (!gate_failed || stack.size() == 1) return notes;
    stack.resize(stack.size() / 2);
  }
}

// Whether the target has moved since in files alone that what passed does not touch.
Result<bool> still_counts(Workspace& workspace, const std::optional<Passed>& passed,
                          const Target& target) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  if (!passed || (*settings)->text("gates.reuse") != "disjoint") return false;
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Merging merging(workspace.system().git, (*repository)->common_dir);
  const auto own = merging.changed_paths(passed->target, passed->commit);
  if (!own) return fail(own.error());
  const auto others = merging.changed_paths(passed->target, target.commit);
  if (!others) return fail(others.error());
  const std::set<std::string> moved(others->begin(), others->end());
  return std::ranges::none_of(*own, [&](const std::string& path) { return moved.contains(path); });
}

// What is refused anyway need not wait in line for that. What conflicts may be resolved when it is
// its turn, and resolvers can be dear.
Done check_before_waiting(Workspace& workspace, const Landable& landable, const MergePlan& plan,
                          const LandingGates& gates) {
  const Result<Configured> all = configured(workspace);
  if (!all) return fail(all.error());
  const Result<std::string> merges = merge_onto(workspace, landable, plan, plan.target.commit);
  if (!merges && all->conflicts.empty()) return fail(merges.error());
  return check_passed_by_hand(workspace, gates.to_pass, landable.item.name, landable.work);
}

}  // namespace

std::vector<Stacked> stack_up(Workspace& workspace, Stacked own,
                              const std::vector<Landable>& others, const MergePlan& plan,
                              const LandingGates& gates) {
  std::vector<Stacked> stack{std::move(own)};
  for (const Landable& other : others) {
    if (!check_passed_by_hand(workspace, gates.to_pass, other.item.name, other.work)) continue;
    Result<std::string> next = merge_onto(workspace, other, plan, stack.back().commit);
    if (next) stack.push_back({.landable = other, .commit = *std::move(next)});
  }
  return stack;
}

Result<GatedLanding> land_through_gates(Workspace& workspace, const Landable& landable,
                                        const Land& request, const LandingGates& gates,
                                        std::optional<Passed>& passed) {
  Result<MergePlan> plan = merge_plan(workspace, request, gates.trailer);
  if (!plan) return fail(plan.error());
  if (Done fine = check_before_waiting(workspace, landable, *plan, gates); !fine)
    return fail(fine.error());
  Result<MergeSlot> slot = MergeSlot::wait_for(workspace, landable, plan->target.branch);
  if (!slot) return fail(slot.error());
  plan = merge_plan(workspace, request, gates.trailer);
  if (!plan) return fail(plan.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const Result<bool> again = still_counts(workspace, passed, plan->target);
  if (!again) return fail(again.error());
  // What has passed alone goes alone; what others have ready has not passed.
  const auto most = *again ? 1 : static_cast<std::size_t>((*settings)->integer("landing.batch"));
  const Result<std::vector<Landable>> others = slot->offered(most - 1);
  if (!others) return fail(others.error());
  Result<MergedWork> merged = merge_own(workspace, landable, *plan, plan->target.commit);
  if (!merged) return fail(merged.error());
  std::vector<Stacked> stack =
      stack_up(workspace, {.landable = landable, .commit = std::move(merged->commit)}, *others,
               *plan, gates);
  Result<std::vector<std::string>> notes = std::vector<std::string>{
      "the gates were passed before; what landed since touches other files"};
  if (!*again) notes = pass_largest_part(workspace, gates, plan->target, stack);
  if (!notes) return fail(notes.error());
  if (!*again && stack.size() == 1)
    passed = {.target = plan->target.commit, .commit = stack.front().commit};
  const Result<LandingStep> step = land_step(workspace, *plan, stack);
  if (!step) return fail(step.error());
  GatedLanding landed{.target = plan->target,
                      .target_at = step->target_at,
                      .commit = step->commit,
                      .item_state = step->item_states.front(),
                      .along = {},
                      .notes = std::move(merged->notes)};
  std::ranges::move(*notes, std::back_inserter(landed.notes));
  for (std::size_t i = 1; i < stack.size(); ++i)
    landed.along.push_back(stack[i].landable.item.name);
  return landed;
}

}  // namespace dibs::verbs
