// `start`: the lease first, because whoever does not get it has nothing to clear up; then the
// worktree, under the name that the lease says.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "git/commits.h"
#include "git/local_refs.h"
#include "verbs/gate_tree.h"
#include "verbs/gates.h"
#include "verbs/item_branch.h"
#include "verbs/item_names.h"
#include "verbs/landing.h"
#include "verbs/target.h"
#include "verbs/work_site.h"

namespace dibs::verbs {

namespace {

constexpr int kBranchesMax = 100;
constexpr int kPlacesMax = 100;

// What is left of an earlier try keeps its branch; this one gets the next.
Result<std::string> free_branch(const Commits& commits, const std::string& wanted) {
  for (int n = 1; n <= kBranchesMax; ++n) {
    std::string name = n == 1 ? wanted : fmt::format("{}-{}", wanted, n);
    const Result<std::optional<std::string>> there = commits.find("refs/heads/" + name);
    if (!there) return fail(there.error());
    if (!there->has_value()) return name;
  }
  return fail(ErrorKind::refused,
              fmt::format("there are {} branches like {} already", kBranchesMax, wanted),
              fmt::format("delete those that are not needed: git branch --list {}",
                          shell_word(wanted + "*")));
}

bool is_taken(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileStatus>> there = files.status(path);
  if (!there || !there->has_value()) return false;  // whatever it is shows when it is made
  if ((*there)->kind != FileKind::directory) return true;
  const Result<std::vector<std::string>> inside = files.list(path);
  return !inside || !inside->empty();
}

// Whoever lost the item may still have a worktree in the usual place, with work in it.
std::string free_place(FileSystem& files, const std::string& usual) {
  for (int n = 2; n <= kPlacesMax && is_taken(files, usual); ++n) {
    if (std::string place = fmt::format("{}-{}", usual, n); !is_taken(files, place)) return place;
  }
  return usual;
}

// The lease that this agent has on the item already, from whichever worktree.
Result<std::optional<ListedLease>> own_lease(Workspace& workspace, const Resource& item) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  const Result<Status> now = status(workspace, item.key().text);
  if (!now) return fail(now.error());
  for (const ListedLease& entry : now->leases) {
    if (entry.lease.agent == *agent) return entry;
  }
  return std::nullopt;
}

/// What is decided before anything is taken.
struct Plan {
  Resource item;
  Target target;
  std::string path;
  std::string branch;
  WorktreeId worktree;
};

// What it is held with already counts: its branch is there.
Result<std::string> planned_branch(Workspace& workspace, const Resource& item,
                                   const std::optional<ListedLease>& own) {
  if (own && !own->lease.claim_state.empty()) return item_branch(own->lease.claim_state, item.name);
  return branch_for_item(workspace, item.name);
}

Result<Plan> plan_for(Workspace& workspace, const Start& request, const Resource& item,
                      const std::optional<ListedLease>& own) {
  const Result<Target> target = find_target(workspace);
  if (!target) return fail(target.error());
  const Result<const Repository*> repository = workspace.repository();
  if (!repository) return fail(repository.error());
  const Result<std::string> usual = default_worktree_path(workspace, item.name);
  if (!usual) return fail(usual.error());
  const Result<std::string> wanted = planned_branch(workspace, item, own);
  if (!wanted) return fail(wanted.error());
  const Result<std::string> branch = free_branch(
      Commits(workspace.system().files, workspace.system().git, (*repository)->common_dir),
      *wanted);
  if (!branch) return fail(branch.error());
  Plan plan{.item = item,
            .target = *target,
            .path = request.path.value_or(free_place(workspace.system().files, *usual)),
            .branch = *branch,
            .worktree = new_worktree_id(workspace.system().random)};
  if (!plan.path.starts_with('/'))
    plan.path = workspace.system().current_directory + "/" + plan.path;
  // Looked at again when it is made; but whoever typed a wrong path should not hold the item.
  if (is_taken(workspace.system().files, plan.path)) {
    return fail(ErrorKind::refused,
                fmt::format("there is something at {} already", printable(plan.path)),
                "choose another place with --path");
  }
  return plan;
}

Result<HeldLease> take(Workspace& workspace, const Start& request, const Plan& plan) {
  Acquire acquire_request;
  acquire_request.resources = {plan.item.key().text};
  acquire_request.ttl_secs = request.ttl_secs;
  acquire_request.strategy = request.strategy;
  acquire_request.pid = request.pid;
  acquire_request.reason = request.reason;
  acquire_request.elsewhere = {.worktree = plan.worktree, .branch = plan.branch};
  const Result<Grants> grants = acquire(workspace, acquire_request);
  if (!grants) return fail(grants.error());
  return grants->front();
}

// Nobody should have to wait for an item that nobody works on.
void give_back(Workspace& workspace, const Plan& plan, const HeldLease& held,
               const std::string& why) {
  const Result<Ledger*> ledger = workspace.ledger();
  const Result<Claimant> who = workspace.claimant_in(plan.worktree, plan.branch);
  if (!ledger || !who) return;
  const LeaseRef lease = held.lease.id;
  const auto settled = (*ledger)->settle<Grants>(selection_of(lease), [&](const Board& board) {
    return dibs::release(board, *who, lease, why);
  });
  if (!settled) workspace.warn(settled.error().message);
}

Result<Repository> make_worktree(Workspace& workspace, const Surroundings& around, const Plan& plan,
                                 const Lease& lease) {
  const Result<std::string> base =
      work_base(workspace, plan.target, lease.claim_state, plan.item.name);
  if (!base) return fail(base.error());
  return Worktrees(around).add(
      {.path = plan.path, .branch = plan.branch, .base = *base, .id = plan.worktree});
}

Result<std::optional<Started>> started_before(Workspace& workspace, const ListedLease& own) {
  const Result<std::optional<FoundWorktree>> worktree =
      worktree_called(workspace, own.lease.worktree);
  if (!worktree) return fail(worktree.error());
  if (!worktree->has_value() || (*worktree)->is_main()) return std::nullopt;
  const Repository& repository = (*worktree)->repository;
  return Started{.held = {.resource = own.resource, .lease = own.lease, .already_held = true},
                 .path = repository.root,
                 .branch = current_branch(workspace.system().files, repository),
                 .target = {},
                 .base = {}};
}

Result<std::vector<std::string>> pass_prechecks(Workspace& workspace,
                                                const std::vector<Gate>& gates,
                                                const Started& started, const Resource& item) {
  const Lease& lease = started.held.lease;
  const Result<Claimant> who = workspace.claimant_in(lease.worktree, started.branch);
  if (!who) return fail(who.error());
  return pass_gates(workspace, gates,
                    {.item = item.name,
                     .branch = started.branch,
                     .target = started.target,
                     .commit = started.base,
                     .work = {},
                     .directory = started.path,
                     .who = *who,
                     .lease = lease});
}

// Of a worktree that was made before: a dibs that was killed may not have come to its prechecks. If
// they fail now, it stays, because there may be work in it.
Result<Started> with_prechecks(Workspace& workspace, const std::vector<Gate>& gates,
                               const Resource& item, Started started) {
  const Result<bool> passed =
      all_passed_since(workspace, gates, item.name, started.held.lease.acquired_unix_ms);
  if (!passed) return fail(passed.error());
  if (*passed) return started;
  const Result<Target> target = known_target(workspace);
  if (!target) return fail(target.error());
  Started now = started;
  now.target = target->branch;
  now.base = target->commit;
  const Result<std::vector<std::string>> notes = pass_prechecks(workspace, gates, now, item);
  if (!notes) return fail(notes.error());
  return started;
}

// Only dibs and the gates have been in it.
void take_down(Workspace& workspace, const Surroundings& around, const Repository& made,
               const std::string& branch) {
  const Result<std::string> head = Commits(around.files, around.git, made.git_dir).resolve("HEAD");
  if (Done gone = discard_worktree(around, made.root); !gone) workspace.warn(gone.error().message);
  if (!head) return;
  (void)GitLocalRefs(around.files, around.git, around.common_dir)
      .move({{.name = "refs/heads/" + branch, .from = *head, .to = ""}}, "dibs");
}

}  // namespace

Result<Started> start(Workspace& workspace, const Start& request) {
  Result<Resource> item = parse_item(request.item);
  if (!item) return fail(item.error());
  item = resolved(workspace, *std::move(item));
  if (!item) return fail(item.error());
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<std::vector<Gate>> gates = gates_of(workspace, GateStage::precheck);
  if (!gates) return fail(gates.error());
  const Result<std::optional<ListedLease>> own = own_lease(workspace, *item);
  if (!own) return fail(own.error());
  if (own->has_value()) {
    Result<std::optional<Started>> before = started_before(workspace, **own);
    if (!before) return fail(before.error());
    if (before->has_value()) return with_prechecks(workspace, *gates, *item, **std::move(before));
  }
  if (Done passed = check_passed_by_hand(workspace, *gates, item->name, {}); !passed)
    return fail(passed.error());
  const Result<Plan> plan = plan_for(workspace, request, *item, *own);
  if (!plan) return fail(plan.error());
  const Result<Claimant> here = workspace.claimant();
  if (!here) return fail(here.error());
  // Held from here, without a worktree of its own yet: it moves there.
  const bool moves = own->has_value() && (*own)->lease.session == here->session;
  Result<HeldLease> held = moves ? transfer(workspace, {.lease = (*own)->lease.id.text,
                                                        .to_agent = here->agent.text,
                                                        .to_worktree = plan->worktree.text,
                                                        .to_session = std::nullopt,
                                                        .to_branch = plan->branch})
                                 : take(workspace, request, *plan);
  if (!held) return fail(held.error());
  const Result<Repository> made = make_worktree(workspace, *around, *plan, held->lease);
  if (!made) {
    give_back(workspace, *plan, *held, "the worktree could not be made");
    return fail(made.error());
  }
  Started started{.held = *std::move(held),
                  .path = made->root,
                  .branch = plan->branch,
                  .target = plan->target.branch,
                  .base = plan->target.commit};
  const Result<std::vector<std::string>> notes = pass_prechecks(workspace, *gates, started, *item);
  if (!notes) {
    take_down(workspace, *around, *made, plan->branch);
    give_back(workspace, *plan, started.held, "a gate was not passed");
    return fail(notes.error());
  }
  for (const std::string& note : *notes) workspace.warn(note);
  return started;
}

}  // namespace dibs::verbs
