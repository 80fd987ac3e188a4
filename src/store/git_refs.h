// The store on a git remote: one ref a record. A commit of the store is a git commit that says what
// a line of the local log would say; each record it writes is a ref that moves to it, with the
// commits those refs stood on as its parents. So a ref's history is the record's history, and one
// atomic push with an expected old value for every ref is the compare-and-swap.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "git/remote_refs.h"
#include "store/log_line.h"
#include "store/store.h"
#include "store/upkeep.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/randomness.h"

namespace dibs {

/// Where such a store is: which remote of which repository, and which refs there.
struct GitRefsSite {
  std::string directory;   // .git/dibs
  std::string common_dir;  // .git
  std::string remote;
  std::string prefix;
  unsigned directory_mode = kPrivateDirectory;
};

class GitRefsStore final : public Store, public Upkeep {
 public:
  using Notice = std::function<void(const std::string&)>;  // hears what was passed over

  // What `dibs init` does: looks whether the remote is there and can be read.
  [[nodiscard]] static Done create(FileSystem& files, Clock& clock, const GitProgram& git,
                                   const GitRefsSite& site);
  [[nodiscard]] static Result<std::unique_ptr<GitRefsStore>> open(FileSystem& files, Clock& clock,
                                                                  Random& random,
                                                                  const GitProgram& git,
                                                                  const GitRefsSite& site,
                                                                  Notice notice);

  // `lock` is a file that keeps this machine's processes from contending on the remote.
  GitRefsStore(FileSystem& files, Clock& clock, Random& random, RemoteRefs remote, std::string lock,
               unsigned file_mode, Notice notice)
      : files_(files),
        clock_(clock),
        random_(random),
        remote_(std::move(remote)),
        lock_path_(std::move(lock)),
        file_mode_(file_mode),
        notice_(std::move(notice)) {}

  [[nodiscard]] Result<View> read(const Selection& selection) override;
  [[nodiscard]] Result<Outcome> commit(const Transaction& transaction) override;
  [[nodiscard]] Result<Cursor> wait(Cursor since, std::int64_t most_ms) override;
  [[nodiscard]] Result<History> history(const HistoryQuery& query) override;
  [[nodiscard]] Promises promises() const override;

  [[nodiscard]] Result<RepairReport> repair() override;
  [[nodiscard]] Result<RepairReport> salvage() override;
  [[nodiscard]] std::vector<Finding> inspect() override;
  // Moves the numbers of records that were removed a while ago into the ledger, and their refs
  // away.
  [[nodiscard]] Result<std::size_t> tidy() override;

 private:
  /// A record's ref as last seen. A removed record still has its ref.
  struct Seen {
    std::string commit;
    std::uint64_t seq = 0;
    std::int64_t unix_ms = 0;
    std::optional<Record> record;
    std::vector<Key> along_with;  // what the same change wrote, this record included
  };
  using Sight = std::map<Key, Seen>;
  /// Where numbers go when their refs are removed: none that is given later may be below.
  struct Ledger {
    std::string commit;  // empty: there is none yet
    std::uint64_t floor = 0;
  };

  [[nodiscard]] static Done begin_ledger(RemoteRefs& refs, Clock& clock);
  [[nodiscard]] std::string ref_of(const Key& key) const;
  [[nodiscard]] std::string ledger_ref() const;
  [[nodiscard]] static Result<LogLine> line_at(const SeenRef& ref);
  [[nodiscard]] Result<Ledger> ledger();  // as last seen
  [[nodiscard]] std::optional<std::pair<Key, Seen>> record_at(const SeenRef& ref) const;
  // No keys: all of them.
  [[nodiscard]] Result<Sight> sight_of(const std::vector<Key>& keys);
  [[nodiscard]] Result<Sight> fresh_sight_of(const std::vector<Key>& keys);
  [[nodiscard]] static bool shows_half(const Sight& sight);
  [[nodiscard]] static bool expectations_hold(const Transaction& transaction, const Sight& sight);
  [[nodiscard]] View view_of(const Selection& selection, const Sight& sight);
  [[nodiscard]] Result<Outcome> commit_locked(const Transaction& transaction);
  [[nodiscard]] bool has_many_refs();
  [[nodiscard]] Result<Outcome> try_once(const Transaction& transaction, const Sight& sight);
  [[nodiscard]] std::uint64_t highest_seen();
  void remember_highest(std::uint64_t seq);

  FileSystem& files_;
  Clock& clock_;
  Random& random_;
  RemoteRefs remote_;
  std::string lock_path_;
  unsigned file_mode_;
  Notice notice_;
  std::string lost_by_;  // what git said when a push last lost
};

[[nodiscard]] Promises git_refs_promises();

}  // namespace dibs
