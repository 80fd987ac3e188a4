#include "verbs/merge_slot.h"

#include <fmt/core.h>

#include <algorithm>

#include "git/commits.h"
#include "verbs/waiting.h"

namespace dibs::verbs {

namespace {

bool stands_on(const Board& board, const Key& resource, const LeaseId& lease) {
  const std::vector<Lease>& leases = board.seat(resource).holding.leases;
  return std::ranges::find(leases, lease, &Lease::id) != leases.end();
}

}  // namespace

Result<MergeSlot> MergeSlot::wait_for(Workspace& workspace, const Landable& landable,
                                      const std::string& branch) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const Result<Policy> policy = workspace.policy();
  if (!policy) return fail(policy.error());
  // It ends with this process: whoever is killed at a gate keeps nobody waiting.
  const Result<ProcessTie> own = workspace.own_process();
  if (!own) return fail(own.error());
  Claimant who = landable.who;
  who.process = *own;
  const Resource slot{.kind = ResourceKind::branch, .name = branch};
  AcquireRequest request{
      .who = who,
      .resources = {slot},
      .new_ids = {workspace.system().random.lease_id(workspace.system().clock.now().unix_ms)},
      .ttl_secs = (*settings)->integer("coordination.default_ttl_secs"),
      .reason = fmt::format("landing {}", landable.item.key().text),
      .policy = *policy};
  Selection selection = selection_with_lines({slot});
  selection.keys.push_back(landable.item.key());
  const Turn turn{
      .selection = std::move(selection),
      .take = [&](const Board& board, const PlaceInLine& place) -> Result<Decision<Grants>> {
        if (!stands_on(board, landable.item.key(), landable.lease.id))
          return fail(lease_ended(landable));
        request.place = place;
        return dibs::acquire(board, request);
      }};
  const WaitRequest wait{
      .who = who,
      .resources = {slot},
      .offer =
          Offer{.item = landable.item.key(), .lease = landable.lease.id, .work = landable.work},
      .policy = *policy};
  Result<Grants> grants =
      take_in_line(workspace, **ledger, wait, turn, (*settings)->integer("landing.wait_secs"));
  if (!grants) return fail(grants.error());
  return MergeSlot(workspace, slot, std::move(who), std::move(grants->front()));
}

MergeSlot::MergeSlot(MergeSlot&& other) noexcept
    : workspace_(std::exchange(other.workspace_, nullptr)),
      branch_(std::move(other.branch_)),
      who_(std::move(other.who_)),
      held_(std::move(other.held_)) {}

MergeSlot::~MergeSlot() {
  // Somebody who held the branch before it began to land goes on holding it.
  if (workspace_ == nullptr || held_.already_held) return;
  const Result<Ledger*> ledger = workspace_->ledger();
  if (!ledger) return;
  const LeaseRef lease = held_.lease.id;
  // If this fails, the lease ends with this process.
  (void)(*ledger)->settle<Grants>(Selection::of({branch_.key()}), [&](const Board& board) {
    return dibs::release(board, who_, lease);
  });
}

Result<std::vector<Landable>> MergeSlot::offered(std::size_t most) {
  const Result<Ledger*> ledger = workspace_->ledger();
  if (!ledger) return fail(ledger.error());
  const Result<const Repository*> repository = workspace_->repository();
  if (!repository) return fail(repository.error());
  const Result<Board> board = (*ledger)->look(Selection::everything());
  if (!board) return fail(board.error());
  const Commits commits(workspace_->system().files, workspace_->system().git,
                        (*repository)->common_dir);
  std::vector<Landable> found;
  for (const Waiter& waiter : board->line(branch_.key()).waiters) {
    if (found.size() == most) break;
    if (!waiter.offer || waiter.must_give_way() || why_gone(waiter, *board)) continue;
    std::optional<Landable> one = offered_work(*waiter.offer, *board);
    if (!one) continue;
    const Result<std::optional<std::string>> here = commits.find(one->work + "^{commit}");
    if (here && here->has_value()) found.push_back(*std::move(one));
  }
  return found;
}

}  // namespace dibs::verbs
