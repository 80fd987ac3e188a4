#include "verbs/worktree.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/commits.h"
#include "git/restore.h"
#include "git/worktrees.h"
#include "verbs/claim.h"
#include "verbs/item_branch.h"
#include "verbs/target.h"

namespace dibs::verbs {

namespace {

Result<WorktreeInfo> info_for(Workspace& workspace, const Repository& worktree,
                              const std::vector<ListedLease>& leases) {
  const Result<const Repository*> here = workspace.repository();
  if (!here) return fail(here.error());
  const Result<std::optional<WorktreeIdentity>> identity =
      find_worktree_identity(workspace.system().files, worktree);
  if (!identity) return fail(identity.error());
  WorktreeInfo info{.identity = *identity,
                    .root = worktree.root,
                    .branch = current_branch(workspace.system().files, worktree),
                    .current = worktree.root == (*here)->root,
                    .main = !worktree.is_linked(),
                    .held = {}};
  for (const ListedLease& entry : leases) {
    if (info.identity && entry.lease.worktree == info.identity->id)
      info.held.push_back(entry.resource);
  }
  return info;
}

std::string absolute(Workspace& workspace, const std::string& path) {
  if (path.starts_with('/')) return path;
  return workspace.system().current_directory + "/" + path;
}

// The branch, and the name that its directory gets.
struct Wanted {
  std::string branch;
  std::string name;
};

Result<Wanted> wanted_by(Workspace& workspace, const WorktreeAdd& request) {
  if (request.item.has_value() == request.branch.has_value()) {
    return fail(ErrorKind::usage, "name either an item or a branch",
                "for example: dibs worktree add 42, or: dibs worktree add --branch topic");
  }
  if (request.branch) return Wanted{.branch = *request.branch, .name = *request.branch};
  const Result<Resource> resource = parse_resource(*request.item);
  if (!resource) return fail(resource.error());
  if (resource->kind != ResourceKind::item) {
    return fail(ErrorKind::usage, fmt::format("{} is no item", printable(*request.item)),
                "name a branch instead: dibs worktree add --branch NAME");
  }
  const Result<std::string> branch = branch_for_item(workspace, resource->name);
  if (!branch) return fail(branch.error());
  return Wanted{.branch = *branch, .name = resource->name};
}

// What a branch that is there is at; with no such branch, the target it will start from.
Result<Target> start_of(Workspace& workspace, const Surroundings& around,
                        const std::string& branch) {
  const Result<std::optional<std::string>> there =
      Commits(around.files, around.git, around.common_dir).find("refs/heads/" + branch);
  if (!there) return fail(there.error());
  if (there->has_value()) return Target{.branch = {}, .commit = **there, .remote = {}};
  return find_target(workspace);
}

// What the rescue of a worktree is found under.
std::string label_of(FileSystem& files, const Repository& worktree) {
  constexpr std::string_view kItem = "dibs/";
  std::string branch = current_branch(files, worktree);
  if (branch.starts_with(kItem)) return branch.substr(kItem.size());
  if (!branch.empty()) return branch;
  return worktree.root.substr(worktree.root.rfind('/') + 1);
}

}  // namespace

Result<WorktreeInfo> worktree_info(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<std::vector<ListedLease>> leases = list(workspace, {});
  if (!leases) return fail(leases.error());
  return info_for(workspace, **repository, *leases);
}

Result<std::vector<WorktreeInfo>> worktree_list(Workspace& workspace) {
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<std::vector<ListedLease>> leases = list(workspace, {});
  if (!leases) return fail(leases.error());
  const Result<std::vector<Repository>> worktrees =
      all_worktrees(workspace.system().files, **repository);
  if (!worktrees) return fail(worktrees.error());
  std::vector<WorktreeInfo> infos;
  for (const Repository& worktree : *worktrees) {
    Result<WorktreeInfo> info = info_for(workspace, worktree, *leases);
    if (!info) return fail(info.error());
    infos.push_back(*std::move(info));
  }
  return infos;
}

Result<WorktreeInfo> worktree_init(Workspace& workspace) {
  if (const Result<std::string> directory = workspace.directory(); !directory)
    return fail(directory.error());
  if (const Result<WorktreeIdentity> identity = workspace.worktree(); !identity)
    return fail(identity.error());
  return worktree_info(workspace);
}

Result<WorktreeAdded> worktree_add(Workspace& workspace, const WorktreeAdd& request) {
  const Result<Wanted> wanted = wanted_by(workspace, request);
  if (!wanted) return fail(wanted.error());
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<std::string> usual = default_worktree_path(workspace, wanted->name);
  if (!usual) return fail(usual.error());
  const Result<Target> start = start_of(workspace, *around, wanted->branch);
  if (!start) return fail(start.error());
  const bool is_new = !start->branch.empty();
  const Result<Repository> made =
      Worktrees(*around).add({.path = request.path ? absolute(workspace, *request.path) : *usual,
                              .branch = wanted->branch,
                              .base = is_new ? start->commit : std::string(),
                              .id = new_worktree_id(workspace.system().random)});
  if (!made) return fail(made.error());
  const Result<std::optional<WorktreeIdentity>> identity =
      find_worktree_identity(around->files, *made);
  if (!identity) return fail(identity.error());
  return WorktreeAdded{.identity = identity->value_or(WorktreeIdentity{}),
                       .path = made->root,
                       .branch = wanted->branch,
                       .commit = start->commit,
                       .base = start->branch};
}

Done check_no_lease_in(Workspace& workspace, const Repository& worktree) {
  const Result<std::optional<WorktreeIdentity>> identity =
      find_worktree_identity(workspace.system().files, worktree);
  if (!identity) return fail(identity.error());
  if (!identity->has_value()) return {};
  const Result<std::vector<ListedLease>> leases = list(workspace, {});
  if (!leases) return fail(leases.error());
  const auto held = std::ranges::find_if(
      *leases, [&](const ListedLease& entry) { return entry.lease.worktree == (*identity)->id; });
  if (held == leases->end()) return {};
  Error error{.kind = ErrorKind::refused,
              .message = fmt::format("{} holds {} from {}", printable(held->lease.agent.text),
                                     printable(held->resource.text), printable(worktree.root)),
              .hint = fmt::format("release it there first: dibs -C {} claim release {}",
                                  shell_word(worktree.root), shell_word(held->resource.text)),
              .fields = {}};
  error.fields.push_back({.name = "resource", .json = json_string(held->resource.text)});
  error.fields.push_back({.name = "holder", .json = json_string(held->lease.agent.text)});
  return fail(error);
}

Result<WorktreeRemoved> worktree_remove(Workspace& workspace, const std::string& path) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  Worktrees worktrees(*around);
  const Result<FoundWorktree> found = worktrees.find(absolute(workspace, path));
  if (!found) return fail(found.error());
  if (!found->is_main()) {
    if (Done free = check_no_lease_in(workspace, found->repository); !free)
      return fail(free.error());
  }
  Rescue rescue(*around);
  const Result<AgentId> agent = workspace.agent();
  Result<RemovedWorktree> removed =
      worktrees.remove(*found, rescue,
                       {.label = label_of(around->files, found->repository),
                        .why = "the worktree was removed",
                        .agent = agent ? agent->text : std::string()});
  if (!removed) return fail(removed.error());
  return WorktreeRemoved{.path = found->repository.root,
                         .branch = std::move(removed->branch),
                         .rescue = std::move(removed->rescue)};
}

Result<std::vector<Rescued>> rescue_list(Workspace& workspace) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  return Rescue(*around).list();
}

Result<RescueRestored> rescue_restore(Workspace& workspace, const std::string& name,
                                      const std::optional<std::string>& path) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  Result<Rescued> rescued = Rescue(*around).find(name);
  if (!rescued) return fail(rescued.error());
  Worktrees worktrees(*around);
  Result<Restored> restored = restore_worktree(
      *around, worktrees, *rescued, path ? absolute(workspace, *path) : rescued->note.path);
  if (!restored) return fail(restored.error());
  return RescueRestored{.rescued = *std::move(rescued),
                        .path = std::move(restored->worktree.root),
                        .branch = std::move(restored->branch)};
}

Result<Rescued> rescue_drop(Workspace& workspace, const std::string& name) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  return Rescue(*around).drop(name);
}

}  // namespace dibs::verbs
