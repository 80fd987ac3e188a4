#include "verbs/landing_step.h"

#include <fmt/core.h>

#include "base/text.h"
#include "git/commits.h"
#include "git/work_flush.h"
#include "verbs/item_landing.h"

namespace dibs::verbs {

namespace {

Result<RefMove> target_move(Workspace& workspace, const Target& target, const std::string& to) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const std::string branch = "refs/heads/" + target.branch;
  // A fresh clone may have the remote's branch alone, and its own begins with this.
  const Result<std::optional<std::string>> own =
      Commits(workspace.system().files, workspace.system().git, (*repository)->common_dir)
          .find(branch);
  if (!own) return fail(own.error());
  const bool begins = target.remote.empty() && !own->has_value();
  return RefMove{.name = branch, .from = begins ? std::string() : target.commit, .to = to};
}

// What merging has made, of all works at once: those themselves are on disk (bring_to_disk).
Done flush_merges(Workspace& workspace, const Target& target, std::span<const Stacked> stack) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const System& system = workspace.system();
  const std::string& common_dir = (*repository)->common_dir;
  std::vector<std::string> flushed{target.commit};
  for (const Stacked& one : stack) flushed.push_back(one.landable.work);
  const Result<BroughtWork> made =
      brought_by(system.files, system.git, common_dir, stack.back().commit, flushed);
  if (!made) return fail(made.error());
  return flush_objects(system.files, common_dir, made->objects);
}

// Whoever else lost its lease must not be told so by us: it asks for itself.
Error about_another(const Landable& landable, Error error) {
  error.kind = ErrorKind::contended;
  error.message =
      fmt::format("{} cannot land with it: {}", printable(landable.item.key().text), error.message);
  return error;
}

Result<Decision<Grants>> decide(const Board& board, const Target& target,
                                std::span<const Stacked> stack, const std::vector<RefMove>& refs) {
  Decision<Grants> all;
  for (const Stacked& one : stack) {
    const Landing landing{
        .target = target.branch, .commit = one.commit, .work = one.landable.work, .refs = {}};
    Result<Decision<Grants>> decision =
        dibs::land(board, one.landable.who, one.landable.lease.id, landing);
    if (!decision && &one != &stack.front())
      return fail(about_another(one.landable, decision.error()));
    if (!decision) return decision;
    add_to(all, *std::move(decision));
  }
  all.changes.refs = refs;
  return all;
}

Done settle(Workspace& workspace, const Target& target, std::span<const Stacked> stack,
            const std::vector<RefMove>& refs) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  std::vector<Key> keys;
  for (const Stacked& one : stack) keys.push_back(one.landable.item.key());
  const auto settled = (*ledger)->settle<Grants>(
      Selection::of(keys), [&](const Board& board) { return decide(board, target, stack, refs); });
  if (settled) return {};
  if (!is_about_the_lease(settled.error().kind)) return fail(settled.error());
  const Landable& own = stack.front().landable;
  return fail(explained(**ledger, settled.error(), own.who, own.lease.id));
}

// The work is on the target by now; an item that stayed behind is worth a word, no more.
void finish_items(Workspace& workspace, std::span<const Stacked> stack, ItemLanding& items,
                  LandingStep& step) {
  const Done finished = items.finish(workspace);
  for (const Stacked& one : stack) {
    const std::string& name = one.landable.item.name;
    const std::string state = items.state_of(name);
    if (!finished && !state.empty()) {
      workspace.warn(fmt::format("{} landed, but did not become {}: {}", printable(name), state,
                                 finished.error().message));
    }
    step.item_states.push_back(finished ? state : "");
  }
}

}  // namespace

bool is_about_the_lease(ErrorKind kind) {
  return kind == ErrorKind::lease_lost || kind == ErrorKind::held || kind == ErrorKind::not_found;
}

Result<LandingStep> land_step(Workspace& workspace, const MergePlan& plan,
                              std::span<const Stacked> stack) {
  const Target& target = plan.target;
  if (plan.flushing == Flushing::none) {
    if (Done flushed = flush_merges(workspace, target, stack); !flushed)
      return fail(flushed.error());
  }
  const Result<RefMove> move = target_move(workspace, target, stack.back().commit);
  if (!move) return fail(move.error());
  std::vector<std::string> names;
  for (const Stacked& one : stack) names.push_back(one.landable.item.name);
  Result<std::optional<ItemLanding>> items = ItemLanding::prepare(workspace, names, *move);
  if (!items) return fail(items.error());
  std::vector<RefMove> refs{*move};
  if (items->has_value()) (*items)->join(refs);
  if (const Done settled = settle(workspace, target, stack, refs); !settled) {
    if (items->has_value() && settled.error().kind == ErrorKind::contended) (*items)->look_again();
    return fail(settled.error());
  }
  const std::string& at = refs.front().to;
  LandingStep step{
      .target_at = at, .commit = stack.size() == 1 ? at : stack.front().commit, .item_states = {}};
  if (items->has_value()) finish_items(workspace, stack, **items, step);
  step.item_states.resize(stack.size());
  return step;
}

}  // namespace dibs::verbs
