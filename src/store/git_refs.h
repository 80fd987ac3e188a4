// The layout with one ref a record. A change is a git commit that says what a line of the local log
// would say; each record it writes is a ref that moves to it, with the commits those refs stood on
// as its parents. So a ref's history is the record's history, and changes of different records
// never meet.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "git/remote_refs.h"
#include "store/claim_branches.h"
#include "store/git_layout.h"
#include "store/log_line.h"
#include "sys/file_system.h"

namespace dibs {

class GitRefs final : public GitLayout {
 public:
  using Notice = std::function<void(const std::string&)>;
  // With `branches`, every claimed item has a branch of its own too.
  GitRefs(FileSystem& files, RemoteRefs& remote, unsigned file_mode, Notice notice,
          std::unique_ptr<ClaimBranches> branches = nullptr)
      : files_(files),
        remote_(remote),
        file_mode_(file_mode),
        notice_(std::move(notice)),
        branches_(std::move(branches)) {}

  [[nodiscard]] Result<std::optional<RefMove>> beginning(std::int64_t now_ms) override;
  [[nodiscard]] Result<Sight> seen(const std::vector<Key>& keys) override;
  [[nodiscard]] Result<Sight> look(const std::vector<Key>& keys) override;
  [[nodiscard]] Result<std::uint64_t> floor() override;
  [[nodiscard]] Result<std::vector<RefMove>> prepare(const Transaction& transaction,
                                                     const Sight& sight, Turn turn) override;
  [[nodiscard]] Result<std::vector<std::string>> messages() override;
  [[nodiscard]] bool wants_tidying() override;
  [[nodiscard]] Result<Tidying> tidying(const Sight& all, Turn turn) override;
  [[nodiscard]] std::vector<Finding> inspect(const Sight& all) override;

 private:
  /// Where numbers go when their refs are removed: none that is given later may be below.
  struct Ledger {
    std::string commit;  // empty: there is none yet
    std::uint64_t floor = 0;
  };

  [[nodiscard]] std::string ref_of(const Key& key) const;
  [[nodiscard]] Result<std::vector<RefMove>> branch_moves(const Transaction& transaction,
                                                          const Sight& sight, const Turn& turn);
  [[nodiscard]] std::string ledger_ref() const;
  [[nodiscard]] std::vector<std::string> refs_of(const std::vector<Key>& keys) const;
  [[nodiscard]] static Result<LogLine> line_at(const SeenRef& ref);
  [[nodiscard]] Result<Ledger> ledger();  // as last seen
  [[nodiscard]] Result<Ledger> lost_ledger();
  [[nodiscard]] std::optional<std::pair<Key, Seen>> record_at(const SeenRef& ref) const;
  [[nodiscard]] Done look_once(const std::vector<std::string>& names);
  [[nodiscard]] std::string all_records() const;
  // Where the ledger stood when all refs that are remembered were there; empty: there was none.
  [[nodiscard]] Result<std::string> ledger_of_last_whole_look();
  [[nodiscard]] Done looked_at_all(const std::string& ledger);
  [[nodiscard]] Error unreadable(const std::string& ref) const;

  FileSystem& files_;
  RemoteRefs& remote_;
  unsigned file_mode_;
  Notice notice_;
  std::unique_ptr<ClaimBranches> branches_;
};

}  // namespace dibs
