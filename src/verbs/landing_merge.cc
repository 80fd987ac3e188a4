#include "verbs/landing_merge.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "git/work_flush.h"
#include "verbs/conflict_resolution.h"
#include "verbs/item_landing.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kPathsShownMax = 10;

Error nothing_to_land(const Landable& landable, const Target& target) {
  return {.kind = ErrorKind::refused,
          .message = fmt::format("there is nothing to land: {} has no commit that {} lacks",
                                 landable.branch.empty() ? "HEAD" : printable(landable.branch),
                                 printable(target.branch)),
          .hint = fmt::format("commit your work, or give the item back: dibs abandon {}",
                              shell_word(landable.item.name)),
          .fields = {}};
}

Error conflict(const Landable& landable, const Target& target, const MergeEnd& end) {
  const std::string name =
      target.remote.empty() ? target.branch : target.remote + "/" + target.branch;
  return {.kind = ErrorKind::refused,
          .message = fmt::format("it conflicts with {} in {}{}", printable(target.branch),
                                 shown_paths(end.conflicts, end.conflicts.size()),
                                 end.at.empty() ? "" : fmt::format(" (at commit {})", end.at)),
          .hint = fmt::format("mend that in your branch, then run dibs done again: git -C {} {} {}",
                              shell_word(landable.root), end.at.empty() ? "merge" : "rebase",
                              shell_word(name)),
          .fields = {{"conflicts", json_list(end.conflicts)}}};
}

// Where the target has moved an item's folder, what the work put into it is no conflict: the item
// brings it along (ItemLanding).
Result<MergeEnd> merged(Workspace& workspace, const std::string& git_dir,
                        const MergeRequest& request, Flushing flushing) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const GitProgram& git = workspace.system().git;
  Result<MergeEnd> end = Merging(git, git_dir, flushing).merge(request);
  const std::optional<std::string> folder = work_folder(**settings);
  if (!end || !folder || !end->commit.empty()) return end;
  const bool all_there = std::ranges::all_of(
      end->conflicts, [&](const std::string& path) { return path.starts_with(*folder + "/"); });
  return all_there ? Merging(git, git_dir, flushing, MovedFolders::stay).merge(request) : end;
}

MergeRequest merge_request(const Landable& landable, const MergePlan& plan,
                           const std::string& onto) {
  const Lease& lease = landable.lease;
  MergeRequest request{
      .mode = plan.mode,
      .target = onto,
      .branch = landable.work,
      .subject = fmt::format("Land {}", landable.item.key().text),
      .trailers = {"Dibs-Lease: " + lease.id.text, "Dibs-Agent: " + lease.agent.text,
                   "Dibs-Worktree: " + lease.worktree.text,
                   fmt::format("Dibs-Fence: {}", lease.fence.value)}};
  if (!plan.trailer.empty()) request.trailers.push_back(plan.trailer);
  return request;
}

// What conflicts has no commit.
Result<MergeEnd> merge(Workspace& workspace, const Landable& landable, const MergePlan& plan,
                       const std::string& onto) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const std::string& git_dir = (*repository)->common_dir;
  const MergeRequest request = merge_request(landable, plan, onto);
  Result<MergeEnd> end = merged(workspace, git_dir, request, plan.flushing);
  if (end && end->commit == onto) return fail(nothing_to_land(landable, plan.target));
  return end;
}

}  // namespace

std::string shown_paths(const std::vector<std::string>& paths, std::size_t count) {
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

Error lease_ended(const Landable& landable) {
  return {.kind = ErrorKind::lease_lost,
          .message = fmt::format("the lease on {} has ended", landable.item.key().text),
          .hint = {},
          .fields = {}};
}

std::optional<Landable> offered_work(const Offer& offer, const Board& board) {
  const std::optional<Resource> item = resource_of(offer.item);
  const std::vector<Lease>& leases = board.seat(offer.item).holding.leases;
  const auto lease = std::ranges::find(leases, offer.lease, &Lease::id);
  if (!item || lease == leases.end() || !holder_may_act(*lease, board)) return std::nullopt;
  if (lease->mode == Mode::shared) return std::nullopt;
  return Landable{.item = *item,
                  .lease = *lease,
                  .who = {.agent = lease->agent,
                          .session = lease->session,
                          .worktree = lease->worktree,
                          .branch = lease->branch,
                          .process = lease->process},
                  .work = offer.work,
                  .branch = lease->branch,
                  .root = {}};
}

Landable landable(const WorkSite& site, std::string work) {
  return {.item = site.item,
          .lease = *site.lease,
          .who = site.who,
          .work = std::move(work),
          .branch = site.branch,
          .root = site.worktree.repository.root};
}

Done bring_to_disk(Workspace& workspace, const Landable& landable) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<Target> target = known_target(workspace);
  if (!target) return fail(target.error());
  const System& system = workspace.system();
  const std::string& common_dir = (*repository)->common_dir;
  const Result<BroughtWork> brought =
      brought_by(system.files, system.git, common_dir, landable.work, {target->commit});
  if (!brought) return fail(brought.error());
  if (brought->commits == 0) return fail(nothing_to_land(landable, *target));
  if (!target->remote.empty()) return {};
  return flush_objects(system.files, common_dir, brought->objects);
}

Result<MergePlan> merge_plan(Workspace& workspace, const Land& request,
                             const std::string& trailer) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  Result<Target> target = find_target(workspace);
  if (!target) return fail(target.error());
  const LandMode usual =
      parse_land_mode((*settings)->text("landing.mode")).value_or(LandMode::merge);
  return MergePlan{
      .target = *std::move(target), .mode = request.mode.value_or(usual), .trailer = trailer};
}

Result<std::string> merge_onto(Workspace& workspace, const Landable& landable,
                               const MergePlan& plan, const std::string& onto) {
  const Result<MergeEnd> end = merge(workspace, landable, plan, onto);
  if (!end) return fail(end.error());
  if (end->commit.empty()) return fail(conflict(landable, plan.target, *end));
  return end->commit;
}

Result<MergedWork> merge_own(Workspace& workspace, const Landable& landable, const MergePlan& plan,
                             const std::string& onto) {
  const Result<MergeEnd> end = merge(workspace, landable, plan, onto);
  if (!end) return fail(end.error());
  if (!end->commit.empty()) return MergedWork{.commit = end->commit, .notes = {}};
  if (plan.mode == LandMode::rebase) return fail(conflict(landable, plan.target, *end));
  Result<std::optional<ResolvedMerge>> resolved = resolve_conflicts(workspace, landable, onto);
  if (!resolved) return fail(resolved.error());
  if (!resolved->has_value()) return fail(conflict(landable, plan.target, *end));
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  MergeRequest request = merge_request(landable, plan, onto);
  request.tree = (*resolved)->tree;
  request.trailers.push_back((*resolved)->trailer);
  const Result<MergeEnd> made =
      Merging(workspace.system().git, (*repository)->common_dir, plan.flushing).merge(request);
  if (!made) return fail(made.error());
  if (made->commit == onto) return fail(nothing_to_land(landable, plan.target));
  return MergedWork{.commit = made->commit, .notes = std::move((*resolved)->notes)};
}

}  // namespace dibs::verbs
