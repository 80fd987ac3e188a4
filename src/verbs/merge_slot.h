// The right to land on a branch, one at a time: a lease on `branch:NAME` with its line. Landing is
// safe without it; it keeps those who have gates to pass from passing them in vain, because
// somebody else landed meanwhile.
#pragma once

#include <vector>

#include "base/result.h"
#include "verbs/landing_merge.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

class MergeSlot {
 public:
  // Waits in line, and offers its work there: whoever comes before may land it, too. `lease_lost`
  // when the work's own lease has ended meanwhile, which may be because it has landed.
  [[nodiscard]] static Result<MergeSlot> wait_for(Workspace& workspace, const Landable& landable,
                                                  const std::string& branch);

  MergeSlot(MergeSlot&& other) noexcept;
  MergeSlot& operator=(MergeSlot&&) = delete;
  MergeSlot(const MergeSlot&) = delete;
  MergeSlot& operator=(const MergeSlot&) = delete;
  ~MergeSlot();

  // What those in line have ready, the next one first: as far as this clone has the commits.
  [[nodiscard]] Result<std::vector<Landable>> offered(std::size_t most);

 private:
  MergeSlot(Workspace& workspace, Resource branch, Claimant who, HeldLease held)
      : workspace_(&workspace),
        branch_(std::move(branch)),
        who_(std::move(who)),
        held_(std::move(held)) {}

  Workspace* workspace_;  // null: another has it now
  Resource branch_;
  Claimant who_;
  HeldLease held_;
};

}  // namespace dibs::verbs
