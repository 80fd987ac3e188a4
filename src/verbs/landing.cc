// `done` and `abandon`.
//
// Landing is prepared on objects alone, without any lock: fetch the target, merge, make the commit.
// The last step is one change of the store that gives the lease back and moves the target, both or
// neither. Whatever failed before it has changed nothing; what follows it (the user's own checkout
// of the target, the worktree that is not needed any more) can be done again by `done`.
#include "verbs/landing.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "git/commits.h"
#include "git/local_refs.h"
#include "git/uncommitted.h"
#include "verbs/checkout.h"
#include "verbs/gated_landing.h"
#include "verbs/item_branch.h"
#include "verbs/item_sync.h"
#include "verbs/landing_gates.h"
#include "verbs/landing_merge.h"
#include "verbs/landing_step.h"
#include "verbs/landing_turn.h"
#include "verbs/target.h"
#include "verbs/work_site.h"
#include "verbs/worktree.h"

namespace dibs::verbs {

namespace {

constexpr int kLandingTriesMax = 8;
// The branch that `start` made: it goes when the work is done. "dibs/42", or "dibs/42-2" where that
// was taken; "dibs/427" is another item's.
bool is_ours(Workspace& workspace, const WorkSite& site) {
  const Result<std::vector<std::string>> usual = branches_of_item(workspace, site.item.name);
  if (!usual || site.worktree.is_main()) return false;
  return std::ranges::any_of(*usual, [&](const std::string& name) {
    if (!site.branch.starts_with(name)) return false;
    const std::string_view rest = std::string_view(site.branch).substr(name.size());
    return rest.empty() || (rest.starts_with('-') && parse_unsigned(rest.substr(1)).has_value());
  });
}

KeepRequest keep_of(const WorkSite& site, std::string why) {
  KeepRequest keep{.label = site.item.name, .why = std::move(why), .agent = site.who.agent.text};
  if (!site.branch.empty()) keep.going.push_back("refs/heads/" + site.branch);
  return keep;
}

// The worktree and its branch, if they were made for the item; whatever would be lost is kept.
Result<std::optional<RemovedWorktree>> remove_site(Workspace& workspace, const Surroundings& around,
                                                   const WorkSite& site, const KeepRequest& keep) {
  if (!is_ours(workspace, site)) return std::nullopt;
  const Result<std::string> head =
      Commits(around.files, around.git, site.worktree.repository.git_dir).resolve("HEAD");
  if (!head) return fail(head.error());
  Rescue rescue(around);
  Result<RemovedWorktree> removed = Worktrees(around).remove(site.worktree, rescue, keep);
  if (!removed) return fail(removed.error());
  // Only if it still is where it was: a branch that went on is somebody's work.
  const Result<LocalRefs::End> deleted =
      GitLocalRefs(around.files, around.git, around.common_dir)
          .move({{.name = "refs/heads/" + site.branch, .from = *head, .to = ""}}, "dibs");
  if (!deleted) return fail(deleted.error());
  return *std::move(removed);
}

Error uncommitted(const WorkSite& site, const Paths& paths) {
  Error error{.kind = ErrorKind::refused,
              .message = fmt::format(
                  "{} file{} in {} not committed: {}", paths.count, paths.count == 1 ? "" : "s",
                  printable(site.worktree.repository.root) + (paths.count == 1 ? " is" : " are"),
                  shown_paths(paths.first, paths.count)),
              .hint = fmt::format("commit them first: git -C {} commit -a",
                                  shell_word(site.worktree.repository.root)),
              .fields = {{"files", json_list(paths.first)}}};
  return error;
}

// Nothing lands. The work is put where it cannot get lost, and whoever did it is told who has the
// item now.
Error lost(Workspace& workspace, const Surroundings& around, const WorkSite& site, Error error) {
  error.kind = ErrorKind::lease_lost;
  error.message += "; nothing has landed";
  const Result<Status> now = status(workspace, site.item.key().text);
  if (now && !now->leases.empty() && now->leases.front().lease.session != site.who.session) {
    const std::string holder = now->leases.front().lease.agent.text;
    error.message += fmt::format("; {} holds it now", holder);
    std::erase_if(error.fields, [](const ErrorField& field) { return field.name == "holder"; });
    error.fields.push_back({"holder", json_string(holder)});
  }
  Rescue rescue(around);
  const Result<std::optional<Rescued>> kept =
      rescue.snapshot(site.worktree.repository, keep_of(site, "the lease was lost"));
  if (!kept) {
    error.hint = fmt::format("your work is still in {}; it could not be copied: {}",
                             printable(site.worktree.repository.root), kept.error().message);
  } else if (kept->has_value()) {
    error.hint =
        fmt::format("your work is kept; bring it back with: dibs worktree rescue restore {}",
                    shell_word((*kept)->name));
    error.fields.push_back({"rescue", json_string((*kept)->name)});
  }
  return error;
}

/// A landing under way.
struct Attempt {
  Target target;
  std::string target_at;                // where the target stands now
  std::string commit;                   // what the work became
  std::string work;                     // the commit that lands
  std::string item_state = {};          // what the item became; empty when dibs does not know it
  std::vector<std::string> notes = {};  // about conflicts and gates
};

// What others wait to land goes the same way, unless this one was asked to go another.
Result<std::size_t> most_at_once(Workspace& workspace, const Land& request,
                                 const LandingGates& gates) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  if (request.mode || !gates.trailer.empty()) return std::size_t{1};
  return static_cast<std::size_t>((*settings)->integer("landing.batch"));
}

Result<Attempt> land_at_once(Workspace& workspace, const Landable& landable, const Land& request,
                             const LandingGates& gates) {
  const Result<std::size_t> most = most_at_once(workspace, request, gates);
  if (!most) return fail(most.error());
  const LandingTurn turn =
      *most > 1 ? LandingTurn::offering(workspace, landable) : LandingTurn::alone(workspace);
  if (turn.was_taken_along()) return fail(lease_ended(landable));
  Result<MergePlan> plan = merge_plan(workspace, request, gates.trailer);
  if (!plan) return fail(plan.error());
  // Nobody sees what is merged before the step. Where gates are to pass, a work tree stands on it.
  if (plan->target.remote.empty()) plan->flushing = Flushing::none;
  Result<MergedWork> merged = merge_own(workspace, landable, *plan, plan->target.commit);
  if (!merged) return fail(merged.error());
  const std::vector<Stacked> stack =
      stack_up(workspace, {.landable = landable, .commit = std::move(merged->commit)},
               turn.offered(*most - 1), *plan, gates);
  const Result<LandingStep> step = land_step(workspace, *plan, stack);
  if (!step) return fail(step.error());
  turn.took_along(stack);
  return Attempt{.target = plan->target,
                 .target_at = step->target_at,
                 .commit = step->commit,
                 .work = landable.work,
                 .item_state = step->item_states.front(),
                 .notes = std::move(merged->notes)};
}

Result<Attempt> land_gated(Workspace& workspace, const Landable& landable, const Land& request,
                           const LandingGates& gates, std::optional<Passed>& passed) {
  Result<GatedLanding> landed = land_through_gates(workspace, landable, request, gates, passed);
  if (!landed) return fail(landed.error());
  Attempt attempt{.target = landed->target,
                  .target_at = landed->target_at,
                  .commit = landed->commit,
                  .work = landable.work,
                  .item_state = landed->item_state,
                  .notes = std::move(landed->notes)};
  for (const std::string& name : landed->along)
    attempt.notes.push_back(fmt::format("{} landed with it", printable(name)));
  return attempt;
}

Result<Attempt> land_site(Workspace& workspace, const WorkSite& site, const Land& request,
                          const std::string& head) {
  const Result<LandingGates> gates = landing_gates(workspace, request);
  if (!gates) return fail(gates.error());
  const Landable landable = verbs::landable(site, head);
  if (Done on_disk = bring_to_disk(workspace, landable); !on_disk) return fail(on_disk.error());
  std::optional<Passed> passed;
  Error last;
  for (int tries = 0; tries < kLandingTriesMax; ++tries) {
    Result<Attempt> attempt = gates->to_pass.empty()
                                  ? land_at_once(workspace, landable, request, *gates)
                                  : land_gated(workspace, landable, request, *gates, passed);
    if (attempt || attempt.error().kind != ErrorKind::contended) return attempt;
    last = attempt.error();
  }
  last.message = fmt::format("it could not land in {} tries: {}", kLandingTriesMax, last.message);
  return fail(last);
}

// "COMMIT on BRANCH from WORK", as the rule writes it; none of them holds a space.
Attempt landed_before(const PastEvent& past) {
  const std::vector<std::string_view> words = split(past.event.reason, ' ');
  constexpr std::size_t kWords = 5;
  Attempt attempt;
  attempt.commit = words.front();
  if (words.size() != kWords) return attempt;
  attempt.target.branch = words[2];
  attempt.work = words[4];
  return attempt;
}

Result<Landed> clear_up(Workspace& workspace, const Surroundings& around, const WorkSite& site,
                        const Land& request, const std::string& work, Landed landed) {
  if (request.afterwards == Land::Afterwards::keep_worktree) return landed;
  if (is_ours(workspace, site)) {
    if (const Done free = check_no_lease_in(workspace, site.worktree.repository); !free) {
      landed.notes.push_back(fmt::format("the worktree stays: {}", free.error().message));
      return landed;
    }
  }
  if (site.branch.empty() && !site.worktree.is_main()) {
    const std::string& place = site.worktree.repository.root;
    landed.notes.push_back(fmt::format(
        "the worktree stays: {} is on no branch, so it cannot be told whether dibs made "
        "it; remove it with: dibs worktree remove {}",
        printable(place), shell_word(place)));
    return landed;
  }
  KeepRequest keep = keep_of(site, "what was left after landing");
  // That much and no more: what was committed afterwards has not landed.
  if (!work.empty()) keep.landed.push_back(work);
  Result<std::optional<RemovedWorktree>> removed = remove_site(workspace, around, site, keep);
  if (!removed) {
    landed.notes.push_back(fmt::format("the worktree stays: {}", removed.error().message));
  } else if (removed->has_value()) {
    landed.worktree_removed = true;
    landed.leftovers = std::move((*removed)->rescue);
  }
  return landed;
}

// The push that landed has moved the items on the remote; ours may not have followed.
void hear_of_items(Workspace& workspace) {
  std::optional<ItemSync> sync = automatic_sync(workspace);
  if (!sync) return;
  if (const Result<ItemSyncEnd> end = sync->run(ItemSync::Begin::fetch); !end)
    workspace.warn(end.error().message);
}

/// Who brings the user's own checkout of the target along.
enum class CheckoutIs { ours_to_bring_along, anothers };

// The lease has ended: because this landed before, and then the rest is done that a crash may have
// left, or it was lost.
Result<Landed> land_again(Workspace& workspace, const Surroundings& around, const WorkSite& site,
                          const Land& request, CheckoutIs checkout) {
  if (!site.last || site.last->event.op != Op::land) {
    const Result<Ledger*> ledger = workspace.ledger();
    if (!ledger) return fail(ledger.error());
    const LeaseRef ref = site.item;
    return fail(lost(
        workspace, around, site,
        explained(**ledger, {.kind = ErrorKind::not_found, .message = {}, .hint = {}, .fields = {}},
                  site.who, ref)));
  }
  const Attempt before = landed_before(*site.last);
  Landed landed{.item = site.item.key(),
                .lease = site.last->event.lease,
                .commit = before.commit,
                .target = before.target.branch,
                .path = site.worktree.repository.root,
                .already = true};
  if (checkout == CheckoutIs::ours_to_bring_along) {
    const Result<Target> target = find_target(workspace);
    if (target && target->branch == before.target.branch) {
      if (auto note = bring_checkout_along(around, *target, target->commit))
        landed.notes.push_back(*std::move(note));
    }
  }
  if (!site.worktree.missing)
    return clear_up(workspace, around, site, request, before.work, std::move(landed));
  // Its branch may have outlived it, if it is still where it landed, and so may git's notes on it.
  const Result<std::vector<std::string>> branches = branches_of_item(workspace, site.item.name);
  if (!branches || before.work.empty()) return landed;
  for (const std::string& branch : *branches) {
    const auto left = Worktrees(around).on_branch(branch);
    if (left && left->has_value() && (*left)->missing) (void)Worktrees(around).forget(**left);
    (void)GitLocalRefs(around.files, around.git, around.common_dir)
        .move({{.name = "refs/heads/" + branch, .from = before.work, .to = ""}}, "dibs");
  }
  return landed;
}

// Whoever had the branch before may have landed it together with its own.
Result<Landed> lost_or_landed(Workspace& workspace, const Surroundings& around,
                              const WorkSite& site, const Land& request, const Error& error) {
  const Result<WorkSite> now = find_work_site(workspace, site.item.key().text);
  const bool landed = now && now->last && now->last->event.op == Op::land &&
                      now->last->event.lease == site.lease->id;
  if (!landed && now && now->lease && now->lease->id == site.lease->id)
    return fail(ErrorKind::contended, "it has not landed, though another landing said so",
                "run the command again");
  if (!landed) return fail(lost(workspace, around, site, error));
  Result<Landed> again = land_again(workspace, around, *now, request, CheckoutIs::anothers);
  if (again) again->already = false;  // it is by this very command that it did
  if (again) again->notes.emplace_back("it landed together with others that waited");
  (void)forget_gate_results(workspace, site.item.name);
  return again;
}

}  // namespace

Result<LandingPreview> preview_landing(Workspace& workspace, const WorkSite& site) {
  const Result<std::string> head =
      Commits(workspace.system().files, workspace.system().git, site.worktree.repository.git_dir)
          .resolve("HEAD");
  if (!head) return fail(head.error());
  const Landable own = landable(site, *head);
  if (Done on_disk = bring_to_disk(workspace, own); !on_disk) return fail(on_disk.error());
  const Result<MergePlan> plan = merge_plan(workspace, {}, {});
  if (!plan) return fail(plan.error());
  Result<MergedWork> merged = merge_own(workspace, own, *plan, plan->target.commit);
  if (!merged) return fail(merged.error());
  return LandingPreview{
      .target = plan->target.branch, .commit = std::move(merged->commit), .work = *head};
}

Result<Landed> land(Workspace& workspace, const Land& request) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<WorkSite> site = find_work_site(workspace, request.item);
  if (!site) return fail(site.error());
  if (!site->lease) {
    hear_of_items(workspace);
    return land_again(workspace, *around, *site, request, CheckoutIs::ours_to_bring_along);
  }
  const Result<std::string> head =
      Commits(around->files, around->git, site->worktree.repository.git_dir).resolve("HEAD");
  if (!head) return fail(head.error());
  Landed landed{.item = site->item.key(), .path = site->worktree.repository.root};
  const Result<Uncommitted> left =
      uncommitted_in(around->files, around->git, site->worktree.repository);
  if (!left) return fail(left.error());
  if (left->tracked.count > 0) return fail(uncommitted(*site, left->tracked));
  const Result<Attempt> attempt = land_site(workspace, *site, request, *head);
  if (!attempt && is_about_the_lease(attempt.error().kind))
    return lost_or_landed(workspace, *around, *site, request, attempt.error());
  if (!attempt) return fail(attempt.error());
  landed.lease = site->lease->id;
  landed.commit = attempt->commit;
  landed.target = attempt->target.branch;
  landed.item_state = attempt->item_state;
  landed.notes = attempt->notes;
  if (const Done forgot = forget_gate_results(workspace, site->item.name); !forgot)
    workspace.warn(forgot.error().message);
  if (auto note = bring_checkout_along(*around, attempt->target, attempt->target_at))
    landed.notes.push_back(*std::move(note));
  return clear_up(workspace, *around, *site, request, *head, std::move(landed));
}

Result<Abandoned> abandon(Workspace& workspace, const Abandon& request) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<WorkSite> site = find_work_site(workspace, request.item);
  if (!site) return fail(site.error());
  if (site->worktree.missing) {
    return fail(ErrorKind::refused,
                fmt::format("{} has landed already", printable(site->item.key().text)));
  }
  Abandoned abandoned{.item = site->item.key(), .path = site->worktree.repository.root};
  if (site->lease) {
    const Result<Ledger*> ledger = workspace.ledger();
    if (!ledger) return fail(ledger.error());
    const LeaseRef lease = site->lease->id;
    const auto settled = (*ledger)->settle<Grants>(
        Selection::of({site->item.key()}),
        [&](const Board& board) { return dibs::release(board, site->who, lease, request.reason); });
    if (!settled && !is_about_the_lease(settled.error().kind)) return fail(settled.error());
    abandoned.released = settled.has_value();
  }
  const KeepRequest keep =
      keep_of(*site, request.reason.empty() ? "the item was given up" : request.reason);
  // A worktree that is somebody's for another reason stays, and so does the work in it.
  if (!is_ours(workspace, *site) || !check_no_lease_in(workspace, site->worktree.repository)) {
    Rescue rescue(*around);
    Result<std::optional<Rescued>> kept = rescue.snapshot(site->worktree.repository, keep);
    if (!kept) return fail(kept.error());
    abandoned.rescue = *std::move(kept);
    return abandoned;
  }
  Result<std::optional<RemovedWorktree>> removed = remove_site(workspace, *around, *site, keep);
  if (!removed) return fail(removed.error());
  abandoned.worktree_removed = removed->has_value();
  if (removed->has_value()) abandoned.rescue = std::move((*removed)->rescue);
  return abandoned;
}

}  // namespace dibs::verbs
