#include "verbs/demo_evidence.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "sys/processes.h"
#include "verbs/claim.h"
#include "verbs/item_view.h"
#include "verbs/observe.h"
#include "verbs/worktree.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kItemsMax = 10'000;
constexpr std::size_t kSaidMax = 64UL * 1024;
constexpr std::int64_t kLookMs = 50;
constexpr int kLooksMax = 40;  // what is being killed may take a moment

Result<std::string> git(DemoSite& site, std::vector<std::string> arguments) {
  return site.workspace().system().git.output_of({.git_dir = site.directory() + "/repository/.git",
                                                  .arguments = std::move(arguments),
                                                  .input = {}},
                                                 ErrorKind::internal);
}

// A landing has the lease in its message; whatever else is on the target landed nothing.
Result<std::vector<DemoLanding>> landings(DemoSite& site) {
  const Result<std::string> log =
      git(site, {"log", "--first-parent", "--reverse",
                 "--format=%s%x09%(trailers:key=Dibs-Lease,valueonly,separator=)", "main"});
  if (!log) return fail(log.error());
  constexpr std::string_view kSubject = "Land item:";
  std::vector<DemoLanding> found;
  for (const std::string_view line : split(*log, '\n')) {
    const std::vector<std::string_view> parts = split(line, '\t');
    if (parts.size() != 2 || !parts[0].starts_with(kSubject)) continue;
    found.push_back({.item = std::string(parts[0].substr(kSubject.size())),
                     .lease = std::string(trim(parts[1]))});
  }
  return found;
}

Result<std::vector<std::string>> open_items(DemoSite& site) {
  const Result<ItemListing> listing =
      list_items(site.workspace(), {.state = std::nullopt, .labels = {}, .most = kItemsMax});
  if (!listing) return fail(listing.error());
  std::vector<std::string> open;
  for (const ShownItem& shown : listing->items) open.push_back(shown.item.id.text);
  return open;
}

Done add_git_leftovers(DemoSite& site, std::vector<std::string>& left) {
  const Result<std::string> worktrees = git(site, {"worktree", "list", "--porcelain"});
  if (!worktrees) return fail(worktrees.error());
  constexpr std::string_view kWorktree = "worktree ";
  std::size_t seen = 0;
  for (const std::string_view line : split(*worktrees, '\n')) {
    // The first is the repository itself.
    if (line.starts_with(kWorktree) && seen++ > 0)
      left.push_back("worktree " + std::string(line.substr(kWorktree.size())));
  }
  const Result<std::string> branches =
      git(site, {"for-each-ref", "--format=%(refname:short)", "refs/heads/"});
  if (!branches) return fail(branches.error());
  for (const std::string_view branch : split(*branches, '\n'))
    if (!branch.empty() && branch != "main") left.push_back("branch " + std::string(branch));
  return {};
}

Done add_leases(DemoSite& site, std::vector<std::string>& left) {
  const Result<std::vector<ListedLease>> held = list(site.workspace(), {.agent_id = {}});
  if (!held) return fail(held.error());
  for (const ListedLease& one : *held) left.push_back("lease on " + one.resource.text);
  return {};
}

std::size_t living(DemoSite& site, const std::vector<std::string>& runs) {
  std::size_t count = processes_with(site.mark()).size();
  for (const std::string& run : runs) {
    count += processes_with("DIBS_RUN=" + run).size();
    count += processes_with("DIBS_RUN_STEP=" + run).size();
  }
  return count;
}

void add_processes(DemoSite& site, const std::vector<std::string>& runs,
                   std::vector<std::string>& left) {
  std::size_t count = living(site, runs);
  for (int look = 0; look < kLooksMax && count > 0; ++look) {
    site.workspace().system().clock.sleep_ms(kLookMs);
    count = living(site, runs);
  }
  if (count > 0) left.push_back(fmt::format("{} processes", count));
}

Result<std::vector<std::string>> rescued_items(DemoSite& site) {
  const Result<std::vector<Rescued>> rescued = rescue_list(site.workspace());
  if (!rescued) return fail(rescued.error());
  std::vector<std::string> items;
  for (const Rescued& one : *rescued) items.push_back(one.name.substr(0, one.name.find('/')));
  return items;
}

// In the checkout of the target, which landings bring along.
Result<std::string> own_check(DemoSite& site) {
  const Result<int> ended =
      run_shell(site.directory() + "/repository", "sh check.sh > ../check.out 2>&1");
  if (!ended) return fail(ended.error());
  const auto said =
      site.workspace().system().files.read_file(site.directory() + "/check.out", kSaidMax);
  if (!said) return fail(said.error());
  return said->value_or("");
}

}  // namespace

Result<DemoEvidence> look_at(DemoSite& site, const DemoPlan& plan,
                             const std::vector<std::string>& runs) {
  DemoEvidence evidence{.plan = plan};
  Result<std::vector<DemoLanding>> landed = landings(site);
  if (!landed) return fail(landed.error());
  Result<History> history =
      events(site.workspace(), {.since = 0, .resource = {}, .limit = SIZE_MAX});
  if (!history) return fail(history.error());
  Result<std::vector<std::string>> open = open_items(site);
  if (!open) return fail(open.error());
  Result<std::vector<std::string>> rescued = rescued_items(site);
  if (!rescued) return fail(rescued.error());
  Result<std::string> said = own_check(site);
  if (!said) return fail(said.error());
  if (Done looked = add_git_leftovers(site, evidence.left_behind); !looked)
    return fail(looked.error());
  if (Done looked = add_leases(site, evidence.left_behind); !looked) return fail(looked.error());
  add_processes(site, runs, evidence.left_behind);
  evidence.landings = *std::move(landed);
  evidence.history = std::move(history->events);
  evidence.open_items = *std::move(open);
  evidence.rescued = *std::move(rescued);
  evidence.check_said = *std::move(said);
  return evidence;
}

}  // namespace dibs::verbs
