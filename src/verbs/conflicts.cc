#include "verbs/conflicts.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/commits.h"
#include "git/known_collisions.h"
#include "git/ref_files.h"
#include "model/resource.h"
#include "sys/replacement.h"
#include "verbs/claim.h"
#include "verbs/target.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kHeadMax = 4096;

bool is_commit(std::string_view text) {
  constexpr std::size_t kSha1 = 40;
  constexpr std::size_t kSha256 = 64;
  return (text.size() == kSha1 || text.size() == kSha256) &&
         std::ranges::all_of(text, [](char c) { return hex_digit(c) >= 0; });
}

// Where a worktree stands; empty when it has no commit. From git's files: a git for each would cost
// more than all the rest.
Result<std::string> tip_of(Workspace& workspace, RefFiles& refs, const Repository& worktree) {
  constexpr std::string_view kRef = "ref: ";
  FileSystem& files = workspace.system().files;
  const Result<std::optional<std::string>> head =
      files.read_file(worktree.git_dir + "/HEAD", kHeadMax);
  if (!head) return fail(head.error());
  const std::string text(trim(head->value_or("")));
  if (is_commit(text)) return text;
  if (text.starts_with(kRef)) {
    Result<std::string> commit = refs.commit_at(text.substr(kRef.size()));
    if (!commit || commit->empty() || is_commit(*commit)) return commit;
  }
  const Result<std::optional<std::string>> found =
      Commits(workspace.system().files, workspace.system().git, worktree.git_dir).find("HEAD");
  if (!found) return fail(found.error());
  return found->value_or("");
}

// The items that are held, by the worktree that they are held from.
Result<std::vector<ListedLease>> held_items(Workspace& workspace) {
  Result<std::vector<ListedLease>> leases = list(workspace, {});
  if (!leases) return leases;
  std::erase_if(*leases, [](const ListedLease& entry) {
    const std::optional<Resource> resource = resource_of(entry.resource);
    return !resource || resource->kind != ResourceKind::item;
  });
  return leases;
}

// The branch of one worktree, with the items that are held from it; those are taken off the list.
Result<LiveBranch> live_branch(Workspace& workspace, RefFiles& refs, const Repository& worktree,
                               std::vector<ListedLease>& leases) {
  LiveBranch live{.branch = current_branch(workspace.system().files, worktree),
                  .commit = {},
                  .items = {},
                  .path = worktree.root,
                  .agent = {}};
  const Result<std::optional<WorktreeIdentity>> identity =
      find_worktree_identity(workspace.system().files, worktree);
  if (!identity) return fail(identity.error());
  if (!identity->has_value()) return live;
  std::erase_if(leases, [&](const ListedLease& entry) {
    if (entry.lease.worktree != (*identity)->id) return false;
    live.items.push_back(entry.resource);
    live.agent = entry.lease.agent;
    return true;
  });
  if (live.items.empty()) return live;
  Result<std::string> commit = tip_of(workspace, refs, worktree);
  if (!commit) return fail(commit.error());
  live.commit = *std::move(commit);
  return live;
}

Result<Conflicts> all_branches(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  Result<std::vector<ListedLease>> leases = held_items(workspace);
  if (!leases) return fail(leases.error());
  const Result<std::vector<Repository>> worktrees =
      all_worktrees(workspace.system().files, **repository);
  if (!worktrees) return fail(worktrees.error());
  RefFiles refs(workspace.system().files, (*repository)->common_dir);
  Conflicts found;
  for (const Repository& worktree : *worktrees) {
    Result<LiveBranch> live = live_branch(workspace, refs, worktree, *leases);
    if (!live) return fail(live.error());
    if (!live->commit.empty()) found.branches.push_back(*std::move(live));
  }
  for (const ListedLease& entry : *leases) found.elsewhere.push_back(entry.resource);
  const Result<Target> target = known_target(workspace);
  if (!target) return fail(target.error());
  found.branches.push_back(
      {.branch = target->branch, .commit = target->commit, .items = {}, .path = {}, .agent = {}});
  return found;
}

Done check_few_enough(const Conflicts& found) {
  if (found.branches.size() <= kTipsMax) return {};
  return fail(ErrorKind::refused,
              fmt::format("{} branches are more than can be compared with each other ({})",
                          found.branches.size(), kTipsMax),
              "land or abandon some; see them with: dibs worktree list");
}

KnownCollisions read_known(Workspace& workspace, const std::string& path) {
  const Result<std::optional<std::string>> text =
      workspace.system().files.read_file(path, kKnownCollisionsBytesMax);
  return KnownCollisions::of(text && text->has_value() ? **text : std::string());
}

// Without it the next look takes longer, no more. So it is not flushed, either: its checksum tells
// what a loss of power made of it.
void keep(Workspace& workspace, const std::string& path, const std::string& text) {
  Result<Replacement> made =
      Replacement::begin(workspace.system().files, path, workspace.file_mode());
  if (made && made->file().append(text)) (void)made->put_in_place(Replacement::Keep::until_reboot);
}

// What is known goes into `found`; the others are to be compared.
std::vector<TipPair> unknown_pairs(const KnownCollisions& known,
                                   const std::vector<std::string>& tips, Conflicts& found) {
  std::vector<TipPair> unknown;
  for (std::size_t a = 0; a < tips.size(); ++a) {
    for (std::size_t b = a + 1; b < tips.size(); ++b) {
      ++found.pairs;
      if (!known.compared(tips[a], tips[b])) {
        unknown.push_back({.first = a, .second = b});
        continue;
      }
      ++found.known;
      if (const std::vector<std::string>* files = known.files(tips[a], tips[b]))
        found.collisions.push_back({.pair = {.first = a, .second = b}, .files = *files});
    }
  }
  return unknown;
}

}  // namespace

Result<Conflicts> conflicts(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  Result<Conflicts> found = all_branches(workspace);
  if (!found) return fail(found.error());
  if (Done few = check_few_enough(*found); !few) return fail(few.error());
  std::vector<std::string> tips;
  for (const LiveBranch& live : found->branches) tips.push_back(live.commit);
  const std::string cache = *directory + "/conflicts.cache";
  const KnownCollisions known = read_known(workspace, cache);
  const std::vector<TipPair> unknown = unknown_pairs(known, tips, *found);
  if (unknown.empty()) return found;
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const TipMerges merges(workspace.system().git, (*repository)->common_dir, *directory);
  BranchPast past = known.past();
  Result<TipSurvey> survey = merges.survey(tips, unknown, past);
  if (!survey) return fail(survey.error());
  found->merged = survey->merged;
  std::ranges::move(survey->collisions, std::back_inserter(found->collisions));
  std::ranges::sort(found->collisions, {}, &Collision::pair);
  keep(workspace, cache, encode_collisions(tips, found->collisions, past));
  return found;
}

}  // namespace dibs::verbs
