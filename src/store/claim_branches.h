// A visible branch for every claimed item, `STATE-ITEM`, beside the refs that say who holds it: so
// that people see what is worked on and builds can start on `indevelopment-*`. It is made, started
// anew and removed in the same pushes as the lease, and the work is done on it.
//
// It begins with a commit that is unlike any other, on top of the target: two claims never are the
// same commit, and whoever lost the item cannot push on, because its commits do not follow the new
// holder's. What somebody pushed there and nobody landed is never lost: it gets a ref of its own in
// the push that takes the branch away.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/remote_refs.h"
#include "model/record.h"
#include "model/resource.h"
#include "store/git_layout.h"

namespace dibs {

class ClaimBranches {
 public:
  struct Names {
    std::string state;   // "indevelopment": for leases that do not say what theirs begins with
    std::string target;  // a branch of the remote; empty: the one it calls its own
  };
  ClaimBranches(const GitProgram& git, RemoteRefs& remote, Names names)
      : git_(git), remote_(remote), names_(std::move(names)) {}

  // How branches move with this change. Refused when a branch is there that no lease stands behind.
  [[nodiscard]] Result<std::vector<RefMove>> moves_for(const Transaction& transaction,
                                                       const Sight& sight, const Turn& turn);

 private:
  enum class Step { none, begin, begin_anew, end };
  /// What has to happen to the branch of one item.
  struct Plan {
    Resource item;
    Step step = Step::none;
    std::string old_ref;  // what the branch is called that there is; empty: there is none
    std::string new_ref;  // what it will be called; empty: it goes
    LeaseId lease;
    bool lands = false;
  };

  [[nodiscard]] Plan plan_for(const Resource& item, const Transaction& transaction,
                              const Sight& sight) const;
  [[nodiscard]] std::string ref_of(const Resource& item, const Record& record) const;
  using Tips = std::map<std::string, std::string>;  // by ref; what is not there is left out
  [[nodiscard]] Result<Tips> tips_for(const std::vector<Plan>& plans, const Turn& turn);
  [[nodiscard]] Result<std::vector<RefMove>> moves_of(const Plan& plan, const Tips& tips,
                                                      const Turn& turn) const;
  [[nodiscard]] Result<std::string> claim_commit(const Plan& plan, const Turn& turn) const;
  [[nodiscard]] Result<std::string> target_commit() const;
  [[nodiscard]] Result<std::optional<RefMove>> rescue(const Plan& plan, const std::string& tip,
                                                      const Turn& turn) const;
  [[nodiscard]] bool is_claim_commit(const std::string& commit) const;
  [[nodiscard]] bool have(const std::string& commit) const;
  [[nodiscard]] Result<std::string> ask(std::vector<std::string> arguments) const;

  const GitProgram& git_;
  RemoteRefs& remote_;
  Names names_;
};

}  // namespace dibs
