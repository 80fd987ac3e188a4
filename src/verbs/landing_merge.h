// Bringing work and its target together, on objects alone: no ref moves, no work tree is touched.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/merging.h"
#include "model/lease.h"
#include "model/line.h"
#include "model/resource.h"
#include "rules/board.h"
#include "rules/claim.h"
#include "verbs/landing.h"
#include "verbs/target.h"
#include "verbs/work_site.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// Work that can land, and the lease that it was done under.
struct Landable {
  Resource item;
  Lease lease;
  Claimant who;
  std::string work;    // the commit
  std::string branch;  // that it is on; empty: on none
  std::string root;    // the work tree, for people; empty: somebody else's
};
// `work` is what it has come to; the site has a lease.
[[nodiscard]] Landable landable(const WorkSite& site, std::string work);

// What somebody else offers, as its lease says: nobody but the holder could have offered it.
// Nothing when that lease does not stand any more.
[[nodiscard]] std::optional<Landable> offered_work(const Offer& offer, const Board& board);

// Perhaps because it has landed: whoever asks the history knows.
[[nodiscard]] Error lease_ended(const Landable& landable);

// Before anybody's turn, so that several do it at once: refused when there is nothing to land, and
// on disk when it lands here. A remote gets it by a push, and what is on disk there is its affair.
[[nodiscard]] Done bring_to_disk(Workspace& workspace, const Landable& landable);

struct MergePlan {
  Target target;
  LandMode mode = LandMode::merge;
  std::string trailer;                    // one more for the commits that are made; empty: none
  Flushing flushing = Flushing::at_once;  // none: the step that lands them does it (land_step)
};
[[nodiscard]] Result<MergePlan> merge_plan(Workspace& workspace, const Land& request,
                                           const std::string& trailer);

// The commit that there would be on top of `onto`. Refused, with what to type, when it conflicts.
[[nodiscard]] Result<std::string> merge_onto(Workspace& workspace, const Landable& landable,
                                             const MergePlan& plan, const std::string& onto);

/// What one's own work became, and what was done for that.
struct MergedWork {
  std::string commit;
  std::vector<std::string> notes;
};
// The same for one's own work. Where it conflicts, the configuration may say what becomes of that
// ([[conflicts]]). A rebase conflicts commit by commit, and is always for a person to mend.
[[nodiscard]] Result<MergedWork> merge_own(Workspace& workspace, const Landable& landable,
                                           const MergePlan& plan, const std::string& onto);

// "a, b and 3 more"
[[nodiscard]] std::string shown_paths(const std::vector<std::string>& paths, std::size_t count);
[[nodiscard]] std::string json_list(const std::vector<std::string>& texts);

}  // namespace dibs::verbs
