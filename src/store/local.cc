#include "store/local.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "store/local_files.h"

namespace dibs {

namespace {

constexpr int kLogCopiesMax = 3;

// Readers and writers of the store learn its state or nothing: an error on the way there means that
// nothing may be assumed, and above all not that a resource is free.
Error unknowable(Error error) {
  if (error.kind == ErrorKind::internal) error.kind = ErrorKind::unreachable;
  return error;
}

}  // namespace

Error LocalStore::not_flushed() {
  return {.kind = ErrorKind::unreachable,
          .message = "the disk refused to flush; what it holds is not known",
          .hint = "check the disk, then run: dibs doctor",
          .fields = {}};
}

LocalStore::LocalStore(FileSystem& files, Clock& clock, Random& random, std::string directory,
                       Notice notice, LocalLimits limits, std::unique_ptr<LocalRefs> refs)
    : files_(files),
      clock_(clock),
      random_(random),
      directory_(std::move(directory)),
      notice_(std::move(notice)),
      limits_(limits),
      refs_(std::move(refs)) {}

Done LocalStore::create(FileSystem& files, const std::string& directory, unsigned mode) {
  // The locks last: where they are, a killed `init` counts as done, and the rest mends itself.
  for (const char* below : {"", "/heartbeat", "/locks"}) {
    if (Done made = files.make_directory(directory + below, mode); !made) return made;
  }
  const unsigned file_mode = mode & 0666U;
  for (const std::string_view name : {kClaimsLock, kIndexLock, kLogName}) {
    const auto file =
        files.open(directory + "/" + std::string(name), Open::create_append, file_mode);
    if (!file) return fail(file.error());
  }
  const std::string reserve = directory + "/" + std::string(kReserveName);
  if (Done reserved = files.replace_file(reserve, std::string(kReserveBytes, '\0'), file_mode);
      !reserved) {
    return reserved;
  }
  if (Done synced = files.sync_directory(directory + "/locks"); !synced) return synced;
  if (Done synced = files.sync_directory(directory); !synced) return synced;
  // The directory's own name is an entry too: without it everything below is lost with the power.
  return files.sync_directory(directory.substr(0, directory.rfind('/')));
}

Result<LocalStore::Lock> LocalStore::take_lock() {
  if (Lock already = held_.lock()) return already;
  Result<std::unique_ptr<FileLock>> lock =
      files_.lock(path(kClaimsLock), Patience::wait, file_mode_);
  if (!lock) return fail(unknowable(lock.error()));
  Lock shared = *std::move(lock);
  held_ = shared;
  return shared;
}

Result<std::optional<Record>> LocalStore::current(const Key& key) {
  const auto known = looked_up_.find(key);
  if (known == looked_up_.end()) {
    Result<std::optional<Record>> record = look_up(key);
    if (record) looked_up_.emplace(key, LookedUp{*record, tail_.end()});
    return record;
  }
  // Only lines that came since can have changed it.
  LookedUp& seen = known->second;
  if (seen.at != tail_.end()) {
    Result<std::optional<LogTail::LastWrite>> last = tail_.last_write_of(key, seen.at);
    if (!last) return fail(last.error());
    if (last->has_value()) seen.record = std::move((*last)->record);
    seen.at = tail_.end();
  }
  return seen.record;
}

Result<std::optional<Record>> LocalStore::look_up(const Key& key) {
  Result<std::optional<LogTail::LastWrite>> last = tail_.last_write_of(key, tail_.start());
  if (!last) return fail(last.error());
  if (last->has_value()) return std::move((*last)->record);
  if (index_) return index_->find(key);
  const auto found = replayed_.find(key);
  return found == replayed_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<Record>> LocalStore::select(const Selection& selection) {
  std::set<Key> keys(selection.keys.begin(), selection.keys.end());
  if (selection.mentioning) {
    // Whatever mentions the text anywhere is looked at; what counts is each record's last write.
    Result<std::vector<Key>> in_tail = tail_.keys_mentioning(*selection.mentioning);
    if (!in_tail) return fail(in_tail.error());
    keys.insert(in_tail->begin(), in_tail->end());
    if (index_) {
      Result<std::vector<Record>> indexed = index_->mentioning(*selection.mentioning);
      if (!indexed) return fail(indexed.error());
      for (Record& record : *indexed) keys.insert(std::move(record.key));
    }
    for (const auto& [key, record] : replayed_) keys.insert(key);
  }
  std::vector<Record> records;
  for (const Key& key : keys) {
    Result<std::optional<Record>> record = current(key);
    if (!record) return fail(record.error());
    if (!record->has_value()) continue;
    const bool named = std::ranges::find(selection.keys, key) != selection.keys.end();
    const bool mentions =
        selection.mentioning && (*record)->value.find(*selection.mentioning) != std::string::npos;
    if (named || mentions) records.push_back(**std::move(record));
  }
  return records;
}

Result<Records> LocalStore::all_records() {
  Records records = replayed_;
  if (index_) {
    Result<std::vector<Record>> indexed = index_->mentioning("");
    if (!indexed) return fail(indexed.error());
    for (Record& record : *indexed) records.insert_or_assign(record.key, record);
  }
  if (Done replayed = tail_.replay_onto(records); !replayed) return fail(replayed.error());
  return records;
}

Result<View> LocalStore::read(const Selection& selection) {
  if (flush_failed_) return fail(not_flushed());
  Lock lock;
  if (lost_race_) {
    Result<Lock> taken = take_lock();
    if (!taken) return fail(taken.error());
    lock = *std::move(taken);
  }
  const auto stopped = [](const Result<Halt>& halt) {
    return !halt || *halt == Halt::damaged || *halt == Halt::newer_schema;
  };
  Result<Halt> halt = catch_up(lock != nullptr);
  if (!halt && halt.error().kind == ErrorKind::not_set_up) return fail(halt.error());
  if (stopped(halt) && !lock) {
    // Perhaps only half of a change was visible: look again while nobody changes anything.
    Result<Lock> taken = take_lock();
    if (!taken) return fail(taken.error());
    lock = *std::move(taken);
    forget();
    halt = catch_up(true);
  }
  if (!halt) return fail(unknowable(halt.error()));
  if (stopped(halt)) return fail(stopped_by(*halt));

  // Read before the records, so that "it has not expired" is never said with a clock from later.
  View view{.now = clock_.now(),
            .margin_ms = 0,
            .one_machine = true,
            .records = {},
            .cursor = {tail_.end().seq},
            .hold = {}};
  Result<std::vector<Record>> records = select(selection);
  if (!records) {
    // The index is damaged in a place that nobody looked at before. The log knows.
    Result<Lock> taken = take_lock();
    if (!taken) return fail(taken.error());
    const Result<Halt> rebuilt = rebuild();
    records = rebuilt ? select(selection) : fail(rebuilt.error());
  }
  if (!records) return fail(unknowable(records.error()));
  view.records = *std::move(records);
  if (lost_race_) view.hold = lock;
  return view;
}

Done LocalStore::catch_up_locked(Purpose purpose) {
  const Result<Halt> halt = catch_up(true);
  if (!halt) return fail(halt.error());
  if (*halt == Halt::damaged || *halt == Halt::newer_schema) return fail(stopped_by(*halt));
  // What was cut short may have ended the very lease that is to be confirmed.
  if (purpose == Purpose::look && !is_there(files_, path(kLandingName))) return {};
  if (unwritable_) return fail(*unwritable_);
  if (*halt == Halt::torn) {
    if (Done mended = mend(); !mended) return mended;
  }
  return finish_landing();
}

// Under the lock, so nobody is writing: the unfinished line belongs to a writer that died.
Done LocalStore::mend() {
  const Result<std::uint64_t> size = log_->size();
  if (!size) return fail(size.error());
  std::string torn(*size - tail_.end().offset, '\0');
  const Result<std::size_t> got = log_->read_at(tail_.end().offset, torn);
  if (!got) return fail(got.error());
  torn.resize(*got);

  const Result<ChangeMark> mark = change_mark();
  if (!mark) return fail(mark.error());
  if (Done set = mark->set(); !set) return set;
  const Mend mend = mend_torn(tail_.end(), torn);
  if (mend.keep < torn.size()) {
    if (Done cut = log_->truncate(tail_.end().offset + mend.keep); !cut) return cut;
  }
  if (mend.add_newline) {
    if (Done ended = log_->append("\n"); !ended) return ended;
  }
  const Result<Halt> halt = tail_.read(*log_);
  if (!halt) return fail(halt.error());
  if (*halt != Halt::at_end) return fail(stopped_by(*halt));
  if (Done synced = flush_log(); !synced) return synced;
  mark->clear();
  notice_(
      mend.add_newline
          ? fmt::format("{} lacked its last newline; it has one again, and no entry was lost",
                        kLogName)
          : fmt::format(
                "{} ended in {} bytes of an unfinished entry; they were cut, and no acknowledged "
                "entry was lost",
                kLogName, torn.size()));
  return {};
}

Result<bool> LocalStore::expectations_hold(const Transaction& transaction) {
  for (const Expectation& expected : transaction.expectations) {
    const Result<std::optional<Record>> record = current(expected.key);
    if (!record) return fail(record.error());
    const std::optional<Version> actual =
        record->has_value() ? std::optional((*record)->version) : std::nullopt;
    if (actual != expected.version) return false;
  }
  return true;
}

Done LocalStore::append_or_undo(const std::string& line, const ChangeMark& mark) {
  if (Done set = mark.set(); !set) return set;
  Done appended = log_->append(line);
  // Whatever part of it stands there now is unfinished; if even cutting fails, the next writer
  // cuts.
  if (!appended) (void)log_->truncate(tail_.end().offset);
  return appended;
}

// Not so when a part of a line stands there that could not be cut off: what is written after it
// would be damage.
bool LocalStore::ends_where_it_was_read() {
  const Result<std::uint64_t> size = log_->size();
  return size && *size == tail_.end().offset;
}

// Whoever made the log, or put another file in its place, may have died before its name was on
// disk, and with the name a power loss takes all that was flushed to it. Of a new log only the
// first line can find it so; of another file the mode tells.
Done LocalStore::flush_name_of_log() {
  if (tail_.end().offset > 0 && !log_name_.may_be_lost) return {};
  if (Done synced = files_.sync_directory(directory_); !synced) return synced;
  // If the mode stays as it is, the next one flushes again.
  if (std::exchange(log_name_.may_be_lost, false))
    (void)files_.change_mode(path(kLogName), file_mode_);
  return {};
}

Done LocalStore::replace_log(std::string_view text) {
  Done replaced = files_.replace_file(path(kLogName), text, file_mode_ | kNameMayBeLost);
  if (replaced) (void)files_.change_mode(path(kLogName), file_mode_);
  return replaced;
}

// The claims lock's file is empty unless a change of the log is on its way to the disk: whoever
// finds something in it knows that the writer died, and flushes what that did before a line of its
// own comes after it. So a power loss can take one line at most, the last, and what it leaves of
// that is no damage (log_tail.cc).
Result<LocalStore::ChangeMark> LocalStore::change_mark() {
  Result<std::unique_ptr<File>> file =
      files_.open(path(kClaimsLock), Open::create_append, file_mode_);
  if (!file) return fail(file.error());
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return fail(size.error());
  return ChangeMark{.file = *std::move(file), .was_left = *size > 0};
}

// The mark for what comes next.
Result<LocalStore::ChangeMark> LocalStore::flush_what_may_be_lost() {
  if (Done named = flush_name_of_log(); !named) return fail(named.error());
  Result<ChangeMark> mark = change_mark();
  if (!mark || !mark->was_left) return mark;
  if (Done flushed = flush_log(); !flushed) return fail(flushed.error());
  return mark;
}

Result<Outcome> LocalStore::append_durably(const std::string& line, bool gives_back) {
  // A rotation may have found that out, and the log may be another file by now.
  if (flush_failed_) return fail(not_flushed());
  const Result<ChangeMark> mark = flush_what_may_be_lost();
  if (!mark) return fail(mark.error());
  Done appended = append_or_undo(line, *mark);
  if (!appended && gives_back && ends_where_it_was_read()) {
    if (Done freed = files_.remove(path(kReserveName)); freed)
      appended = append_or_undo(line, *mark);
  }
  if (!appended) return fail(appended.error());

  if (Done synced = flush_log(); !synced) {
    if (flush_failed_) return OutcomeUnknown{synced.error().message};
    return fail(synced.error());  // the log was written anew without the line
  }
  mark->clear();
  return Committed{Fence{tail_.end().seq + 1}};
}

// Under the lock. What the system could not write it takes for written: a second flush would say OK
// without it. So what was not read is cut off at once, before anybody can build on it. But there
// may be more, as whoever wrote the line before may have died before its flush: the log becomes
// another file, as far as it was read.
Done LocalStore::flush_log() {
  if (log_name_.may_be_lost) {
    if (Done named = flush_name_of_log(); !named) return named;
  }
  Done synced = log_->sync();
  if (synced) return synced;
  (void)log_->truncate(tail_.end().offset);
  flush_failed_ = !write_log_anew();
  return synced;
}

Done LocalStore::write_log_anew() {
  std::string lines(tail_.end().offset, '\0');
  const Result<std::size_t> got = log_->read_at(0, lines);
  if (!got) return fail(got.error());
  if (*got != lines.size()) return fail(not_flushed());
  Done written = replace_log(lines);
  // Another file, so this repeats no flush that has failed.
  for (int tries = 1; !written && tries < kLogCopiesMax; ++tries) written = replace_log(lines);
  if (!written) return written;
  Result<std::unique_ptr<File>> log = files_.open(path(kLogName), Open::append);
  if (!log) return fail(log.error());
  if (*log == nullptr) return fail(not_flushed());
  const Result<LogName> name = name_of_log();
  if (!name) return fail(name.error());
  log_ = *std::move(log);
  log_name_ = *name;
  return {};
}

Result<Outcome> LocalStore::commit(const Transaction& transaction) {
  // A line after one that the disk may not have would be acknowledged and then lost with it.
  if (flush_failed_) return fail(not_flushed());
  Result<Lock> lock = take_lock();
  if (!lock) return fail(lock.error());
  const bool only_confirms = transaction.writes.empty();
  if (Done ready = catch_up_locked(only_confirms ? Purpose::look : Purpose::write); !ready)
    return fail(ready.error());

  Result<bool> hold = expectations_hold(transaction);
  if (!hold) {
    const Result<Halt> rebuilt = rebuild();
    hold = rebuilt ? expectations_hold(transaction) : fail(rebuilt.error());
  }
  if (!hold) return fail(hold.error());
  lost_race_ = !*hold;
  if (lost_race_) return LostRace{};

  if (only_confirms) {
    // What we saw may have been written by a process that died before it could flush.
    if (Done synced = flush_log(); !synced) return fail(synced.error());
    return Committed{Fence{tail_.end().seq}};
  }
  if (Done rotated = rotate_if_long(); !rotated) return fail(rotated.error());
  const std::string line = encode_line(tail_.end(), line_for(transaction, clock_.now().unix_ms));
  if (line.size() > kLogLineMax) {
    return fail(ErrorKind::refused,
                fmt::format("the change is {} bytes long; at most {} fit in one entry", line.size(),
                            kLogLineMax),
                "name fewer resources in one command");
  }
  Result<Outcome> outcome = transaction.refs.empty() ? append_durably(line, transaction.gives_back)
                                                     : land(transaction, line);
  if (!outcome || !std::holds_alternative<Committed>(*outcome)) return outcome;
  tail_.add(line);
  flushed_seq_ = tail_.end().seq;
  lock->reset();
  if (tail_is_long()) refresh_index(Patience::at_once);
  return outcome;
}

// Under the claims lock. The index first: once the log has its number, only the index says where
// the new one begins. What fails before that leaves the log as it is, only longer than we like.
Done LocalStore::rotate_if_long() {
  if (tail_.end().offset < limits_.segment_bytes) return {};
  (void)remove_leftovers();
  refresh_index(Patience::wait);
  const std::unique_ptr<ClaimsIndex> index = ClaimsIndex::open(files_, path(kIndexName));
  if (!index || index->header().position != tail_.end()) return {};
  if (!files_.rename(path(kLogName), path(segment_name(segment_first_seq_)))) return {};
  // On disk before the new log is: of two changes to one name, a power loss may keep the second
  // alone, and the closed segment would have no name at all. Where that fails, whoever comes next
  // makes the new log, in the same order.
  if (Done synced = files_.sync_directory(directory_); !synced) return synced;
  Result<std::unique_ptr<File>> log = files_.open(path(kLogName), Open::create_append, file_mode_);
  (void)files_.sync_directory(directory_);
  // From here the log is read afresh; if creating it failed, that finds out and says so.
  return catch_up_locked(Purpose::write);
}

void LocalStore::refresh_index(Patience patience) {
  Result<std::unique_ptr<FileLock>> lock = files_.lock(path(kIndexLock), patience, file_mode_);
  if (!lock || !*lock) return;
  const std::unique_ptr<ClaimsIndex> newest = ClaimsIndex::open(files_, path(kIndexName));
  const std::uint64_t known = newest ? newest->header().position.seq : 0;
  // Whoever was faster knows more. One that is as new as this is replaced only after a rebuild,
  // because it may be what made that necessary.
  if (known > tail_.end().seq || (newest && known == tail_.end().seq && index_)) return;
  Result<Records> records = all_records();
  // An index must never know of an entry that the disk may still lose.
  const bool on_disk = tail_.end().seq == flushed_seq_ || flush_log();
  if (!records || !on_disk) return;
  const IndexHeader header{.position = tail_.end(), .segment_first_seq = segment_first_seq_};
  // An index that cannot be written (a full disk) costs time, not truth.
  (void)files_.replace_file(path(kIndexName), encode_index(header, *records, clock_.now().unix_ms),
                            file_mode_);
  restore_reserve();
}

void LocalStore::restore_reserve() {
  const Result<std::optional<FileStatus>> status = files_.status(path(kReserveName));
  if (!status || status->has_value()) return;
  (void)files_.replace_file(path(kReserveName), std::string(kReserveBytes, '\0'), file_mode_);
}

Result<Cursor> LocalStore::wait(Cursor since, std::int64_t most_ms) {
  const std::unique_ptr<DirectoryWatch> watch = files_.watch(directory_);
  const std::int64_t deadline_ms = clock_.now().boot_ms + most_ms;
  while (true) {
    const Result<View> view = read(Selection{});
    if (!view) return fail(view.error());
    const std::int64_t left_ms = deadline_ms - clock_.now().boot_ms;
    if (view->cursor > since || left_ms <= 0) return view->cursor;
    watch->wait(left_ms);
  }
}

Result<History> LocalStore::history(const HistoryQuery& query) {
  const Result<View> view = read(Selection{});
  if (!view) return fail(view.error());
  Result<std::vector<PastEvent>> events =
      read_history(files_, directory_, begun_at(query, view->cursor));
  if (!events) return fail(unknowable(events.error()));
  // Lines that came while we read belong to the next query.
  std::erase_if(*events, [&](const PastEvent& past) { return past.seq > view->cursor.seq; });
  return History{.events = *std::move(events), .cursor = view->cursor};
}

Promises local_promises() {
  return {.store = "local",
          .pause = "fenced",
          .partition = "-",
          .clock_jump = "safe (boot-time clock)",
          .power_loss = "durable (file and directory synced)",
          .waiters = "FIFO",
          .offline = "full"};
}

}  // namespace dibs
