// The store on a git remote. One atomic push, with an expected old value for every ref it moves, is
// the compare-and-swap; which refs those are is the layout's business (git_layout.h).
//
// What was last seen of the remote is kept in a private repository (git/remote_refs.h). A change is
// tried on what was last seen, and only if that fails is the remote looked at again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "git/remote_refs.h"
#include "store/git_layout.h"
#include "store/store.h"
#include "store/upkeep.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/machine.h"
#include "sys/randomness.h"

namespace dibs {

inline constexpr std::string_view kLockBranch = "lock-branch";
inline constexpr std::string_view kBranches = "branches";

/// Where such a store is: which remote of which repository, and how records lie there.
struct GitStorePlace {
  std::string directory;   // .git/dibs
  std::string common_dir;  // .git
  std::string remote;
  std::string prefix;
  std::string layout = "refs";
  std::string claim_state = "indevelopment";  // of the layout with a branch a claim
  std::string target;                         // the branch that those start from; empty: the usual
  std::string lock_branch = "aitask-locks";   // of the layout that has one
  std::int64_t skew_margin_ms = 30'000;       // how far the clocks of two machines may be apart
  unsigned directory_mode = kPrivateDirectory;
};

/// What it uses of the world.
struct GitStoreParts {
  FileSystem& files;
  Clock& clock;
  Random& random;
  Machine& machine;
  const GitProgram& git;
};

class GitStore final : public Store, public Upkeep {
 public:
  using Notice = std::function<void(const std::string&)>;  // hears what was passed over

  // What `dibs init` does: looks whether the remote is there and can be read and written.
  [[nodiscard]] static Done create(const GitStoreParts& parts, const GitStorePlace& place);
  // Whether the repository knows any remote at all.
  [[nodiscard]] static bool has_remotes(const GitProgram& git, const std::string& common_dir);
  [[nodiscard]] static Result<std::unique_ptr<GitStore>> open(const GitStoreParts& parts,
                                                              const GitStorePlace& place,
                                                              const Notice& notice);

  GitStore(const GitStoreParts& parts, GitStorePlace place, std::unique_ptr<RemoteRefs> remote,
           std::unique_ptr<GitLayout> layout);

  [[nodiscard]] Result<View> read(const Selection& selection) override;
  [[nodiscard]] Result<Outcome> commit(const Transaction& transaction) override;
  [[nodiscard]] Result<Cursor> wait(Cursor since, std::int64_t most_ms) override;
  [[nodiscard]] Result<History> history(const HistoryQuery& query) override;
  [[nodiscard]] Promises promises() const override;

  [[nodiscard]] Result<RepairReport> repair() override;
  [[nodiscard]] Result<RepairReport> salvage() override;
  [[nodiscard]] std::vector<Finding> inspect() override;
  [[nodiscard]] Result<std::size_t> tidy() override;

 private:
  // Keeps this machine's processes from contending on the remote.
  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock();
  [[nodiscard]] View view_of(const Selection& selection, const Sight& sight);
  /// How the tries of one change go.
  struct Tries {
    int made = 0;
    int troubles = 0;  // of the remote itself
    // Losses in a row while nothing moved there: whoever is in the way is not at work.
    int unmoved = 0;
    std::string where;

    void saw(std::string now) {
      unmoved = now == where ? unmoved + 1 : 0;
      where = std::move(now);
    }
  };

  [[nodiscard]] Result<Outcome> commit_locked(const Transaction& transaction);
  // Under the lock: whoever changes something relies on what was seen last.
  [[nodiscard]] Result<Sight> look_at_all();
  [[nodiscard]] Done after_loss(Tries& tries);
  [[nodiscard]] Error not_taken(const Tries& tries) const;
  // `fresh`: the sight is one of now.
  [[nodiscard]] Result<Outcome> try_once(const Transaction& transaction, const Sight& sight,
                                         bool fresh);
  [[nodiscard]] Result<Outcome> refs_or_race(const Transaction& transaction);
  [[nodiscard]] Result<Turn> next_turn(const Sight& sight);
  [[nodiscard]] std::uint64_t highest_seen();
  void remember_highest(std::uint64_t seq);

  FileSystem& files_;
  Clock& clock_;
  Random& random_;
  const GitProgram& git_;
  GitStorePlace place_;
  std::unique_ptr<RemoteRefs> remote_;
  std::unique_ptr<GitLayout> layout_;  // uses *remote_
  std::string lost_by_;                // what git said when a push last lost
  std::string where_refs_are_;         // at the last look at all of them
};

[[nodiscard]] Promises git_promises();
[[nodiscard]] Error unwritable_remote(const std::string& remote, const std::string& why);

}  // namespace dibs
