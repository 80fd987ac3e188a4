// The layout with one branch that other tools lock on too: a file a lock, a commit a change. Every
// change moves the same branch, so changes of different records meet, and the one that was slower
// looks again. That is the price of excluding, and being excluded by, tools that know no dibs.
//
// Which file says what is lock_file.h's. Numbers are kept in the name of an empty file, dibs/seq/N,
// so that listing the branch is enough to know the next one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "git/branch_files.h"
#include "git/remote_refs.h"
#include "store/git_layout.h"
#include "store/lock_file.h"

namespace dibs {

class GitLockBranch final : public GitLayout {
 public:
  using Notice = std::function<void(const std::string&)>;
  using Holder = std::function<LockHolder()>;  // who writes the locks that are made here
  // The place's prefix is the branch's ref.
  GitLockBranch(RemoteRefs& remote, BranchFiles branch, Holder holder, Notice notice)
      : remote_(remote),
        branch_(std::move(branch)),
        holder_(std::move(holder)),
        notice_(std::move(notice)) {}

  [[nodiscard]] Result<std::optional<RefMove>> beginning(std::int64_t now_ms) override;
  [[nodiscard]] Result<Sight> seen(const std::vector<Key>& keys) override;
  [[nodiscard]] Result<Sight> look(const std::vector<Key>& keys) override;
  [[nodiscard]] Result<std::uint64_t> floor() override;
  [[nodiscard]] Result<std::vector<RefMove>> prepare(const Transaction& transaction,
                                                     const Sight& sight, Turn turn) override;
  [[nodiscard]] Result<std::vector<std::string>> messages() override;
  [[nodiscard]] bool wants_tidying() override { return false; }
  [[nodiscard]] Result<Tidying> tidying(const Sight& all, Turn turn) override;
  [[nodiscard]] std::vector<Finding> inspect(const Sight& all) override;

 private:
  /// Where the branch was last seen.
  struct Tip {
    std::string commit;  // empty: it never was
    bool gone = false;   // it was there, and is not any more
  };
  /// What was found at some paths, and the numbers, in one commit.
  struct Listing {
    std::string commit;
    std::vector<std::string> paths;  // none: all
    std::map<std::string, BranchEntry> entries;
    std::uint64_t seq = 0;  // zero: there is no number
  };

  [[nodiscard]] const std::string& ref() const { return remote_.place().prefix; }
  [[nodiscard]] Result<Tip> last_tip();
  [[nodiscard]] Result<const Listing*> list(const std::string& commit,
                                            const std::vector<Key>& keys);
  [[nodiscard]] Done read_files(const Listing& listing);
  [[nodiscard]] Result<Record> record_at(const BranchEntry& entry) const;
  [[nodiscard]] std::string text_before(const Key& key) const;
  [[nodiscard]] Result<std::uint64_t> seq_in_history(const std::string& commit);
  [[nodiscard]] Error unreadable(const std::string& path, const std::string& why) const;

  RemoteRefs& remote_;
  BranchFiles branch_;
  Holder holder_;
  Notice notice_;
  // Of the last sight. A change builds on what its sight showed, even if another process of this
  // clone has seen more since: its push is turned down then.
  Tip tip_;
  std::optional<Listing> listing_;            // the last one: a claim asks for it three times
  std::map<std::string, std::string> texts_;  // of files, by object: what they say never changes
  std::vector<std::string> passed_over_;      // files that the last look at all could not read
};

}  // namespace dibs
