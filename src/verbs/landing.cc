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
#include "verbs/item_branch.h"
#include "verbs/item_landing.h"
#include "verbs/landing_gates.h"
#include "verbs/target.h"
#include "verbs/work_site.h"
#include "verbs/worktree.h"

namespace dibs::verbs {

namespace {

constexpr int kLandingTriesMax = 8;
constexpr std::size_t kPathsShownMax = 10;

std::string shown(const std::vector<std::string>& paths, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kPathsShownMax); ++i)
    text += (text.empty() ? "" : ", ") + printable(paths[i]);
  const std::size_t rest = count - std::min(paths.size(), kPathsShownMax);
  return rest == 0 ? text : fmt::format("{} and {} more", text, rest);
}

std::string json_list(const std::vector<std::string>& texts) {
  JsonArray list;
  for (const std::string& text : texts) list.add(text);
  return list.text();
}

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
                  shown(paths.first, paths.count)),
              .hint = fmt::format("commit them first: git -C {} commit -a",
                                  shell_word(site.worktree.repository.root)),
              .fields = {{"files", json_list(paths.first)}}};
  return error;
}

Error nothing_to_land(const WorkSite& site, const Target& target) {
  return {.kind = ErrorKind::refused,
          .message = fmt::format("there is nothing to land: {} has no commit that {} lacks",
                                 site.branch.empty() ? "HEAD" : printable(site.branch),
                                 printable(target.branch)),
          .hint = fmt::format("commit your work, or give the item back: dibs abandon {}",
                              shell_word(site.item.name)),
          .fields = {}};
}

Error conflict(const WorkSite& site, const Target& target, const MergeEnd& end) {
  const std::string place = shell_word(site.worktree.repository.root);
  const std::string name =
      target.remote.empty() ? target.branch : target.remote + "/" + target.branch;
  return {.kind = ErrorKind::refused,
          .message = fmt::format("it conflicts with {} in {}{}", printable(target.branch),
                                 shown(end.conflicts, end.conflicts.size()),
                                 end.at.empty() ? "" : fmt::format(" (at commit {})", end.at)),
          .hint = fmt::format("mend that in your branch, then run dibs done again: git -C {} {} {}",
                              place, end.at.empty() ? "merge" : "rebase", shell_word(name)),
          .fields = {{"conflicts", json_list(end.conflicts)}}};
}

bool is_about_the_lease(ErrorKind kind) {
  return kind == ErrorKind::lease_lost || kind == ErrorKind::held || kind == ErrorKind::not_found;
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
  std::string commit;                   // that the target would stand at
  std::string work;                     // the commit that lands
  std::string item_state = {};          // what the item became; empty when dibs does not know it
  std::vector<std::string> notes = {};  // about gates
};

Result<LandMode> mode_of(Workspace& workspace, const Land& request) {
  if (request.mode) return *request.mode;
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  return parse_land_mode((*settings)->text("landing.mode")).value_or(LandMode::merge);
}

// Where the target has moved an item's folder, what the work put into it is no conflict: the item
// brings it along (ItemLanding).
Result<MergeEnd> merged(Workspace& workspace, const WorkSite& site, const MergeRequest& request) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const GitProgram& git = workspace.system().git;
  const std::string& git_dir = site.worktree.repository.common_dir;
  Result<MergeEnd> end = Merging(git, git_dir).merge(request);
  const std::optional<std::string> folder = work_folder(**settings);
  if (!end || !folder || !end->commit.empty()) return end;
  const bool all_there = std::ranges::all_of(
      end->conflicts, [&](const std::string& path) { return path.starts_with(*folder + "/"); });
  return all_there ? Merging(git, git_dir, MovedFolders::stay).merge(request) : end;
}

Result<Attempt> prepare(Workspace& workspace, const WorkSite& site, const Land& request,
                        const std::string& head, const LandingGates& gates) {
  const Result<LandMode> mode = mode_of(workspace, request);
  if (!mode) return fail(mode.error());
  const Result<Target> target = find_target(workspace);
  if (!target) return fail(target.error());
  const Merging merging(workspace.system().git, site.worktree.repository.common_dir);
  MergeRequest merge{
      .mode = *mode,
      .target = target->commit,
      .branch = head,
      .subject = fmt::format("Land {}", site.item.key().text),
      .trailers = {"Dibs-Lease: " + site.lease->id.text, "Dibs-Agent: " + site.lease->agent.text,
                   "Dibs-Worktree: " + site.lease->worktree.text,
                   fmt::format("Dibs-Fence: {}", site.lease->fence.value)}};
  if (!gates.trailer.empty()) merge.trailers.push_back(gates.trailer);
  const Result<std::vector<std::string>> commits = merging.commits_to_land(merge);
  if (!commits) return fail(commits.error());
  if (commits->empty()) return fail(nothing_to_land(site, *target));
  const Result<MergeEnd> end = merged(workspace, site, merge);
  if (!end) return fail(end.error());
  if (end->commit.empty()) return fail(conflict(site, *target, *end));
  if (end->commit == target->commit) return fail(nothing_to_land(site, *target));
  return Attempt{.target = *target, .commit = end->commit, .work = head};
}

Result<RefMove> target_move(Workspace& workspace, const WorkSite& site, const Attempt& attempt) {
  const std::string branch = "refs/heads/" + attempt.target.branch;
  // A fresh clone may have the remote's branch alone, and its own begins with this.
  const Result<std::optional<std::string>> own =
      Commits(workspace.system().files, workspace.system().git, site.worktree.repository.common_dir)
          .find(branch);
  if (!own) return fail(own.error());
  const bool begins = attempt.target.remote.empty() && !own->has_value();
  return RefMove{
      .name = branch, .from = begins ? std::string() : attempt.target.commit, .to = attempt.commit};
}

// The step that counts.
Done settle(Workspace& workspace, const WorkSite& site, const Attempt& attempt,
            std::vector<RefMove> refs) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const LeaseRef lease = site.lease->id;
  const Landing landing{.target = attempt.target.branch,
                        .commit = attempt.commit,
                        .work = attempt.work,
                        .refs = std::move(refs)};
  const auto settled = (*ledger)->settle<Grants>(
      Selection::of({site.item.key()}),
      [&](const Board& board) { return dibs::land(board, site.who, lease, landing); });
  if (settled) return {};
  if (!is_about_the_lease(settled.error().kind)) return fail(settled.error());
  return fail(explained(**ledger, settled.error(), site.who, lease));
}

// The work is on the target by now; an item that stayed behind is worth a word, no more.
void finish_item(Workspace& workspace, const WorkSite& site, ItemLanding& item, Attempt& attempt) {
  if (const Done finished = item.finish(workspace); !finished) {
    workspace.warn(fmt::format("{} landed, but did not become {}: {}", printable(site.item.name),
                               item.state(), finished.error().message));
    return;
  }
  attempt.item_state = item.state();
}

// On the very commit that would land, with all that it brings.
Done pass_landing_gates(Workspace& workspace, const WorkSite& site, const LandingGates& gates,
                        Attempt& attempt) {
  Result<std::vector<std::string>> notes = pass_gates(workspace, gates.to_pass,
                                                      {.item = site.item.name,
                                                       .branch = site.branch,
                                                       .target = attempt.target.branch,
                                                       .commit = attempt.commit,
                                                       .work = attempt.work,
                                                       .directory = {},
                                                       .who = site.who,
                                                       .lease = *site.lease});
  if (!notes) return fail(notes.error());
  attempt.notes = *std::move(notes);
  return {};
}

Result<Attempt> land_site(Workspace& workspace, const Surroundings& around, const WorkSite& site,
                          const Land& request, const std::string& head) {
  const Result<LandingGates> gates = landing_gates(workspace, request);
  if (!gates) return fail(gates.error());
  Error last;
  for (int tries = 0; tries < kLandingTriesMax; ++tries) {
    Result<Attempt> attempt = prepare(workspace, site, request, head, *gates);
    if (!attempt) return attempt;
    const Result<RefMove> target = target_move(workspace, site, *attempt);
    if (!target) return fail(target.error());
    Result<std::optional<ItemLanding>> item =
        ItemLanding::prepare(workspace, site.item.name, *target);
    if (!item) return fail(item.error());
    std::vector<RefMove> refs{*target};
    if (item->has_value()) (*item)->join(refs);
    attempt->commit = refs.front().to;
    Done settled = pass_landing_gates(workspace, site, *gates, *attempt);
    if (settled) settled = settle(workspace, site, *attempt, std::move(refs));
    if (settled) {
      if (item->has_value()) finish_item(workspace, site, **item, *attempt);
      return attempt;
    }
    last = settled.error();
    if (is_about_the_lease(last.kind)) return fail(lost(workspace, around, site, last));
    if (last.kind != ErrorKind::contended) return fail(last);
  }
  last.message = fmt::format("it could not land in {} tries: {}", kLandingTriesMax, last.message);
  return fail(last);
}

// "COMMIT on BRANCH from WORK", as the rule writes it; none of them holds a space.
Attempt landed_before(const PastEvent& past) {
  const std::vector<std::string_view> words = split(past.event.reason, ' ');
  constexpr std::size_t kWords = 5;
  Attempt attempt{.target = {}, .commit = std::string(words.front()), .work = {}};
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

// The lease has ended: because this landed before, and then the rest is done that a crash may have
// left, or it was lost.
Result<Landed> land_again(Workspace& workspace, const Surroundings& around, const WorkSite& site,
                          const Land& request) {
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
  const Result<Target> target = find_target(workspace);
  if (target && target->branch == before.target.branch) {
    if (auto note = bring_checkout_along(around, *target, target->commit))
      landed.notes.push_back(*std::move(note));
  }
  if (!site.worktree.missing)
    return clear_up(workspace, around, site, request, before.work, std::move(landed));
  // Its branch may have outlived it, if it is still where it landed.
  const Result<std::vector<std::string>> branches = branches_of_item(workspace, site.item.name);
  if (!branches || before.work.empty()) return landed;
  for (const std::string& branch : *branches) {
    (void)GitLocalRefs(around.files, around.git, around.common_dir)
        .move({{.name = "refs/heads/" + branch, .from = before.work, .to = ""}}, "dibs");
  }
  return landed;
}

}  // namespace

Result<LandingPreview> preview_landing(Workspace& workspace, const WorkSite& site) {
  const Result<std::string> head =
      Commits(workspace.system().files, workspace.system().git, site.worktree.repository.git_dir)
          .resolve("HEAD");
  if (!head) return fail(head.error());
  const Result<Attempt> attempt = prepare(workspace, site, {}, *head, {});
  if (!attempt) return fail(attempt.error());
  return LandingPreview{
      .target = attempt->target.branch, .commit = attempt->commit, .work = attempt->work};
}

Result<Landed> land(Workspace& workspace, const Land& request) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<WorkSite> site = find_work_site(workspace, request.item);
  if (!site) return fail(site.error());
  if (!site->lease) return land_again(workspace, *around, *site, request);
  const Result<std::string> head =
      Commits(around->files, around->git, site->worktree.repository.git_dir).resolve("HEAD");
  if (!head) return fail(head.error());
  Landed landed{.item = site->item.key(), .path = site->worktree.repository.root};
  const Result<Uncommitted> left =
      uncommitted_in(around->files, around->git, site->worktree.repository);
  if (!left) return fail(left.error());
  if (left->tracked.count > 0) return fail(uncommitted(*site, left->tracked));
  const Result<Attempt> attempt = land_site(workspace, *around, *site, request, *head);
  if (!attempt) return fail(attempt.error());
  landed.lease = site->lease->id;
  landed.commit = attempt->commit;
  landed.target = attempt->target.branch;
  landed.item_state = attempt->item_state;
  landed.notes = attempt->notes;
  if (const Done forgot = forget_gate_results(workspace, site->item.name); !forgot)
    workspace.warn(forgot.error().message);
  if (auto note = bring_checkout_along(*around, attempt->target, attempt->commit))
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
