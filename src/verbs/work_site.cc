#include "verbs/work_site.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "verbs/claim.h"
#include "verbs/item_names.h"
#include "verbs/target.h"

namespace dibs::verbs {

namespace {

Error nothing_held(const FoundWorktree& worktree) {
  return {.kind = ErrorKind::refused,
          .message = fmt::format("no item is held from {}", printable(worktree.repository.root)),
          .hint = "begin with: dibs start ITEM",
          .fields = {}};
}

Result<FoundWorktree> this_worktree(Workspace& workspace) {
  const Result<const Repository*> here = workspace.repository();
  if (!here) return fail(here.error());
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  return Worktrees(*around).find((*here)->root);
}

enum class Whether { held, lapsed };

// The leases on items that this agent holds, or had and nobody took away.
Result<std::vector<ListedLease>> own_items(Workspace& workspace, Whether whether) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  const bool lapsed = whether == Whether::lapsed;
  Result<std::vector<ListedLease>> leases =
      list(workspace, {.agent_id = agent->text, .stale = lapsed});
  if (!leases) return leases;
  std::erase_if(*leases, [&](const ListedLease& entry) {
    const std::optional<Resource> resource = resource_of(entry.resource);
    return !resource || resource->kind != ResourceKind::item || entry.standing.held() == lapsed;
  });
  return leases;
}

// The last event that matches; about one item, or any.
Result<std::optional<PastEvent>> last_event(
    Workspace& workspace, const std::string& mentioning, const std::optional<Resource>& item,
    const std::function<bool(const Event& event)>& matches) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  HistoryQuery query;
  query.mentioning = mentioning;
  if (item) query.resource = item->key();
  const Result<History> history = (*ledger)->store().history(query);
  if (!history) return fail(history.error());
  std::optional<PastEvent> last;
  for (const PastEvent& past : history->events) {
    const std::optional<Resource> resource = resource_of(past.event.resource);
    if (matches(past.event) && resource && resource->kind == ResourceKind::item) last = past;
  }
  return last;
}

Result<WorkSite> site_in(Workspace& workspace, const FoundWorktree& worktree, const WorktreeId& id,
                         Resource item) {
  const std::string branch = current_branch(workspace.system().files, worktree.repository);
  Result<Claimant> who = workspace.claimant_in(id, branch);
  if (!who) return fail(who.error());
  return WorkSite{.item = std::move(item),
                  .worktree = worktree,
                  .branch = branch,
                  .who = *std::move(who),
                  .lease = std::nullopt,
                  .last = std::nullopt};
}

Result<WorkSite> held_site(Workspace& workspace, const ListedLease& entry) {
  const Result<std::optional<FoundWorktree>> worktree =
      worktree_called(workspace, entry.lease.worktree);
  if (!worktree) return fail(worktree.error());
  if (!worktree->has_value()) {
    return fail(
        ErrorKind::refused,
        fmt::format("you hold {} from {}, which is no worktree of this repository",
                    printable(entry.resource.text), entry.lease.worktree.text),
        fmt::format("go there, or give it back: dibs claim release {}", entry.lease.id.text));
  }
  Result<WorkSite> site =
      site_in(workspace, **worktree, entry.lease.worktree, *resource_of(entry.resource));
  if (site) site->lease = entry.lease;
  return site;
}

// Asked from another worktree than the one it was held from.
Result<WorkSite> ended_elsewhere(Workspace& workspace, const FoundWorktree& here,
                                 const Resource& item) {
  const Result<AgentId> agent = workspace.agent();
  if (!agent) return fail(agent.error());
  const Result<std::optional<PastEvent>> last = last_event(
      workspace, agent->text, item, [&](const Event& event) { return event.agent == *agent; });
  if (!last) return fail(last.error());
  if (!last->has_value()) return fail(nothing_held(here));
  const Event& event = (*last)->event;
  const Result<std::optional<FoundWorktree>> worktree = worktree_called(workspace, event.worktree);
  if (!worktree) return fail(worktree.error());
  if (!worktree->has_value() && event.op != Op::land) return fail(nothing_held(here));
  const FoundWorktree gone{.repository = {.git_dir = here.repository.common_dir,
                                          .common_dir = here.repository.common_dir,
                                          .root = {},
                                          .bare = true},
                           .missing = true,
                           .locked = std::nullopt};
  Result<WorkSite> site = site_in(workspace, worktree->value_or(gone), event.worktree, item);
  if (site) site->last = *last;
  return site;
}

// A lease that ended by itself and is still on the board says where it was held from. History may
// not: one that was handed over is only named there by whoever gave it.
std::optional<WorkSite> lapsed_site(Workspace& workspace, const WorktreeId& here,
                                    const std::optional<Resource>& item) {
  const Result<std::vector<ListedLease>> lapsed = own_items(workspace, Whether::lapsed);
  if (!lapsed) return std::nullopt;
  const auto entry = std::ranges::find_if(*lapsed, [&](const ListedLease& one) {
    return item ? one.resource == item->key() : one.lease.worktree == here;
  });
  if (entry == lapsed->end()) return std::nullopt;
  Result<WorkSite> site = held_site(workspace, *entry);
  if (!site) return std::nullopt;
  site->lease.reset();
  return *std::move(site);
}

// Nothing is held any more; whose work is in this worktree?
Result<WorkSite> ended_site(Workspace& workspace, const std::optional<Resource>& item) {
  const Result<FoundWorktree> here = this_worktree(workspace);
  if (!here) return fail(here.error());
  const Result<Claimant> who = workspace.claimant();
  if (!who) return fail(who.error());
  if (std::optional<WorkSite> lapsed = lapsed_site(workspace, who->worktree, item))
    return *std::move(lapsed);
  const Result<std::optional<PastEvent>> last =
      last_event(workspace, who->worktree.text, item, [&](const Event& event) {
        return event.worktree == who->worktree && event.session == who->session;
      });
  if (!last) return fail(last.error());
  if (!last->has_value() && item) return ended_elsewhere(workspace, *here, *item);
  if (!last->has_value()) return fail(nothing_held(*here));
  Result<WorkSite> site =
      site_in(workspace, *here, who->worktree, *resource_of((*last)->event.resource));
  if (site) site->last = *last;
  return site;
}

}  // namespace

Result<Resource> parse_item(const std::string& text) {
  Result<Resource> resource = parse_resource(text);
  if (!resource || resource->kind == ResourceKind::item) return resource;
  return fail(ErrorKind::usage, fmt::format("{} is no item", printable(text)),
              "name an item, such as 42 or item:42");
}

Result<std::optional<FoundWorktree>> worktree_called(Workspace& workspace, const WorktreeId& id) {
  const Result<Surroundings> around = surroundings(workspace);
  if (!around) return fail(around.error());
  const Result<std::vector<FoundWorktree>> all = Worktrees(*around).all();
  if (!all) return fail(all.error());
  for (const FoundWorktree& worktree : *all) {
    if (worktree.missing) continue;
    const auto identity = find_worktree_identity(workspace.system().files, worktree.repository);
    if (identity && identity->has_value() && (*identity)->id == id) return worktree;
  }
  return std::nullopt;
}

Result<WorkSite> find_work_site(Workspace& workspace, const std::optional<std::string>& item) {
  std::optional<Resource> wanted;
  if (item) {
    const Result<Resource> parsed = parse_item(*item);
    if (!parsed) return fail(parsed.error());
    const Result<Resource> whole = resolved(workspace, *parsed);
    if (!whole) return fail(whole.error());
    wanted = *whole;
  }
  Result<std::vector<ListedLease>> leases = own_items(workspace, Whether::held);
  if (!leases) return fail(leases.error());
  if (wanted) {
    const auto held = std::ranges::find(*leases, wanted->key(), &ListedLease::resource);
    return held == leases->end() ? ended_site(workspace, wanted) : held_site(workspace, *held);
  }
  const Result<WorktreeIdentity> here = workspace.worktree();
  if (!here) return fail(here.error());
  std::erase_if(*leases,
                [&](const ListedLease& entry) { return entry.lease.worktree != here->id; });
  if (leases->empty()) return ended_site(workspace, std::nullopt);
  if (leases->size() == 1) return held_site(workspace, leases->front());
  return fail(ErrorKind::usage, fmt::format("you hold {} items from this worktree", leases->size()),
              fmt::format("say which: {}", printable(leases->front().resource.text)));
}

}  // namespace dibs::verbs
