// The store of one machine: an append-only log in the repository's common git directory, shared by
// all its worktrees. A commit is one locked append and one flush; nothing else is on the way. In
// .git/dibs:
//
//   claims.jsonl        the truth: one transaction a line, checksummed, never rewritten
//   claims-NNN.jsonl    closed segments of it
//   claims.index.json   derived: the records after some line, so claims read little
//   locks/claims.lock   held while a line is appended; not empty until that is on disk
//   locks/index.lock    held while the index is replaced, never waited for by a claim
//   reserve             space that a release may use on a full disk
//   landing.json        a change under way that also moves refs (local_landing.cc)
//
// Readers take no lock. They see complete lines only; whatever looks wrong without the lock is
// looked at again with it, and only then called damage.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "git/local_refs.h"
#include "store/claims_index.h"
#include "store/landing_file.h"
#include "store/log_tail.h"
#include "store/segments.h"
#include "store/store.h"
#include "store/upkeep.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/randomness.h"

namespace dibs {

struct LocalLimits {
  std::uint64_t segment_bytes = 4ULL * 1024 * 1024;  // a longer log is closed and a new one begun
  // A longer tail makes the next commit write the index anew; an eighth of the index comes on top,
  // so that writing a large one stays a small part of what claims cost.
  std::uint64_t tail_bytes = 32ULL * 1024;
};

// What any local store promises, without opening one.
[[nodiscard]] Promises local_promises();

class LocalStore final : public Store, public Upkeep {
 public:
  using Notice = std::function<void(const std::string&)>;

  // `directory` is .git/dibs. `notice` hears of repairs that happen by themselves. Without `refs`,
  // changes that move refs are refused.
  LocalStore(FileSystem& files, Clock& clock, Random& random, std::string directory, Notice notice,
             LocalLimits limits = {}, std::unique_ptr<LocalRefs> refs = nullptr);

  // Makes the directory and an empty log; fine when they are there.
  [[nodiscard]] static Done create(FileSystem& files, const std::string& directory, unsigned mode);

  [[nodiscard]] Result<View> read(const Selection& selection) override;
  [[nodiscard]] Result<Outcome> commit(const Transaction& transaction) override;
  [[nodiscard]] Result<Cursor> wait(Cursor since, std::int64_t most_ms) override;
  [[nodiscard]] Result<History> history(const HistoryQuery& query) override;
  [[nodiscard]] Promises promises() const override { return local_promises(); }

  [[nodiscard]] Result<RepairReport> repair() override;
  [[nodiscard]] Result<RepairReport> salvage() override;
  [[nodiscard]] std::vector<Finding> inspect() override;
  [[nodiscard]] Result<std::size_t> tidy() override { return 0; }

 private:
  using Lock = std::shared_ptr<FileLock>;

  [[nodiscard]] std::string path(std::string_view name) const {
    return directory_ + "/" + std::string(name);
  }
  [[nodiscard]] Result<Lock> take_lock();

  // Bringing memory up to the log. `locked` says whether the log can change meanwhile.
  [[nodiscard]] Result<Halt> catch_up(bool locked);
  [[nodiscard]] Result<Halt> load(bool locked);
  [[nodiscard]] Result<Halt> rebuild();
  [[nodiscard]] Result<std::optional<LogPosition>> start_of_tail();
  [[nodiscard]] Result<std::optional<LogPosition>> start_without_index(
      std::optional<std::uint64_t> first_seq);
  [[nodiscard]] Result<std::optional<LogPosition>> start_of_empty_log();
  [[nodiscard]] Result<bool> has_line_ending_at(const LogPosition& position);
  [[nodiscard]] Done make_log();
  /// Which file has the log's name.
  struct LogName {
    std::uint64_t inode = 0;   // 0: none
    bool may_be_lost = false;  // a power loss could give the name back to the file before it
  };
  [[nodiscard]] Result<LogName> name_of_log();
  enum class Purpose { look, write };
  // Under the lock. For writing, the end of the log is mended and must be open for appending; so it
  // is where a landing was cut short, for that is finished first.
  [[nodiscard]] Done catch_up_locked(Purpose purpose);
  [[nodiscard]] Done mend();
  [[nodiscard]] Error stopped_by(Halt halt) const;
  [[nodiscard]] bool tail_is_long() const;
  void forget();

  // Looking things up in index and tail.
  [[nodiscard]] Result<std::optional<Record>> current(const Key& key);
  [[nodiscard]] Result<std::optional<Record>> look_up(const Key& key);
  [[nodiscard]] Result<std::vector<Record>> select(const Selection& selection);
  [[nodiscard]] Result<Records> all_records();

  // Writing.
  [[nodiscard]] Result<bool> expectations_hold(const Transaction& transaction);
  [[nodiscard]] Result<Outcome> append_durably(const std::string& line, bool gives_back);
  [[nodiscard]] bool ends_where_it_was_read();
  [[nodiscard]] Done flush_name_of_log();
  /// Says to whoever comes next that a change of the log may not be on disk.
  struct ChangeMark {
    std::unique_ptr<File> file;
    bool was_left = false;  // by a writer that died

    // One byte long, without a byte in it: that takes no room on a full disk.
    [[nodiscard]] Done set() const { return file->truncate(1); }
    // If it stays, the next one flushes once more.
    void clear() const { (void)file->truncate(0); }
  };
  [[nodiscard]] Result<ChangeMark> change_mark();
  [[nodiscard]] Result<ChangeMark> flush_what_may_be_lost();
  [[nodiscard]] Done replace_log(std::string_view text);
  [[nodiscard]] Done flush_log();
  [[nodiscard]] Done write_log_anew();
  [[nodiscard]] Done append_or_undo(const std::string& line, const ChangeMark& mark);
  [[nodiscard]] Result<Outcome> land(const Transaction& transaction, const std::string& line);
  [[nodiscard]] Result<bool> complete_refs(const PendingLanding& landing);
  [[nodiscard]] Done finish_landing();
  [[nodiscard]] static Error not_flushed();
  [[nodiscard]] Done rotate_if_long();
  void refresh_index(Patience patience);
  void restore_reserve();
  std::size_t remove_leftovers();  // temporary files of writers that died; how many there were
  [[nodiscard]] std::string restated(const Records& records, std::uint64_t last_seq);
  void inspect_index(const Replay& replay, std::vector<Finding>& findings);

  FileSystem& files_;
  Clock& clock_;
  Random& random_;
  std::string directory_;
  Notice notice_;
  LocalLimits limits_;
  std::unique_ptr<LocalRefs> refs_;
  unsigned file_mode_ = kPrivateFile;

  bool loaded_ = false;
  std::unique_ptr<File> log_;
  LogName log_name_;
  std::optional<Error> unwritable_;  // why the log is open for reading only
  std::uint64_t segment_first_seq_ = 1;
  std::unique_ptr<ClaimsIndex> index_;  // the records at tail_.start(); or else
  Records replayed_;                    // these, when the index could not be used
  LogTail tail_;
  // What current() found and where the tail ended then: a commit looks up again what its read did.
  struct LookedUp {
    std::optional<Record> record;
    LogPosition at;
  };
  std::map<Key, LookedUp> looked_up_;

  std::uint64_t flushed_seq_ = 0;  // up to here our own flush has put everything on disk
  std::weak_ptr<FileLock> held_;   // the lock, while a view or a commit keeps it
  bool lost_race_ = false;     // the next read keeps the lock, so that its commit cannot lose again
  bool flush_failed_ = false;  // what the page cache says is no longer what the disk has
};

}  // namespace dibs
