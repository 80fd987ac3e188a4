// Bringing the local store's memory up to its log: which index fits which log, where the lines that
// it does not cover begin, and what to do when nothing fits.
#include <fmt/core.h>

#include "base/text.h"
#include "store/local.h"
#include "store/local_files.h"

namespace dibs {

namespace {
// Where the segment after the one that the index ends in begins.
LogPosition next_segment_after(const IndexHeader& header) {
  return {.seq = header.position.seq, .crc = header.position.crc, .offset = 0};
}
}  // namespace

void LocalStore::forget() {
  loaded_ = false;
  log_.reset();
  index_.reset();
  replayed_.clear();
  tail_ = LogTail();
  looked_up_.clear();
}

Result<LocalStore::LogName> LocalStore::name_of_log() {
  const Result<std::optional<FileStatus>> status = files_.status(path(kLogName));
  if (!status) return fail(status.error());
  if (!status->has_value()) return LogName{};
  return LogName{.inode = (*status)->inode, .may_be_lost = ((*status)->mode & kNameMayBeLost) != 0};
}

Result<Halt> LocalStore::catch_up(bool locked) {
  if (!loaded_) return load(locked);
  const Result<LogName> name = name_of_log();
  if (!name) return fail(name.error());
  const bool rotated_away = name->inode != log_name_.inode;
  // A process that lives long takes up a newer index now and then, instead of all that happens.
  if (rotated_away || tail_is_long()) return load(locked);

  // Without the lock we may have read a line whose flush failed and that was taken back since. If
  // another stands in its place, its checksum differs.
  if (locked) {
    const Result<bool> unchanged = has_line_ending_at(tail_.end());
    if (!unchanged) return fail(unchanged.error());
    if (!*unchanged) return load(locked);
  }
  Result<Halt> halt = tail_.read(*log_);
  if (halt && *halt == Halt::damaged) return load(locked);
  return halt;
}

Result<Halt> LocalStore::load(bool locked) {
  forget();
  const Result<std::optional<FileStatus>> directory = files_.status(directory_);
  if (!directory) return fail(directory.error());
  if (!directory->has_value() || (*directory)->kind != FileKind::directory) {
    return fail(ErrorKind::not_set_up,
                fmt::format("there is no dibs directory at {}", printable(directory_)),
                "set dibs up here with: dibs init");
  }
  file_mode_ = (*directory)->mode & 0666U;

  const Result<LogName> name = name_of_log();
  if (!name) return fail(name.error());
  log_name_ = *name;
  index_ = ClaimsIndex::open(files_, path(kIndexName));
  // Opened for appending where that is allowed, so that a commit need not open it again.
  Result<std::unique_ptr<File>> log = files_.open(path(kLogName), Open::append);
  unwritable_.reset();
  if (!log) {
    unwritable_ = log.error();
    log = files_.open(path(kLogName), Open::read);
  }
  if (!log) return fail(log.error());
  log_ = *std::move(log);

  const Result<std::optional<LogPosition>> start =
      log_ ? start_of_tail() : std::optional<LogPosition>();
  if (!start) return fail(start.error());
  if (!start->has_value()) return locked ? rebuild() : Halt::damaged;
  tail_ = LogTail(**start);
  loaded_ = true;
  return tail_.read(*log_);
}

Result<bool> LocalStore::has_line_ending_at(const LogPosition& position) {
  if (position.offset == 0) return true;
  std::string end(kCrcSuffixLength + 1, '\0');
  if (position.offset < end.size()) return false;
  const Result<std::size_t> got = log_->read_at(position.offset - end.size(), end);
  if (!got) return fail(got.error());
  const bool whole = *got == end.size() && end.back() == '\n';
  return whole && stated_crc(std::string_view(end).substr(0, kCrcSuffixLength)) == position.crc;
}

// Where the lines that the index does not cover begin; nothing when index and log do not fit.
Result<std::optional<LogPosition>> LocalStore::start_of_tail() {
  std::string first_bytes(64, '\0');
  const Result<std::size_t> got = log_->read_at(0, first_bytes);
  if (!got) return fail(got.error());
  first_bytes.resize(*got);
  const std::optional<std::uint64_t> first_seq = stated_seq(first_bytes);
  if (!index_) return start_without_index(first_seq);
  if (*got == 0) return start_of_empty_log();

  const IndexHeader& header = index_->header();
  segment_first_seq_ = first_seq.value_or(0);
  if (first_seq == header.segment_first_seq) {
    const Result<bool> fits = has_line_ending_at(header.position);
    if (!fits) return fail(fits.error());
    return *fits ? std::optional(header.position) : std::nullopt;
  }
  const bool goes_on = first_seq == header.position.seq + 1;
  return goes_on ? std::optional(next_segment_after(header)) : std::nullopt;
}

Result<std::optional<LogPosition>> LocalStore::start_without_index(
    std::optional<std::uint64_t> first_seq) {
  segment_first_seq_ = 1;
  if (first_seq == 1) return LogPosition{};
  const Result<std::uint64_t> size = log_->size();
  if (!size) return fail(size.error());
  const Result<std::vector<std::string>> names = log_files(files_, directory_);
  if (!names) return fail(names.error());
  const bool new_store = *size == 0 && names->size() <= 1;
  return new_store ? std::optional(LogPosition{}) : std::nullopt;
}

// Either the segment that the index ends in was closed just now, or the log was emptied.
Result<std::optional<LogPosition>> LocalStore::start_of_empty_log() {
  const IndexHeader& header = index_->header();
  segment_first_seq_ = header.position.seq + 1;
  if (header.position.seq == 0) return next_segment_after(header);
  const Result<std::optional<FileStatus>> closed =
      files_.status(path(segment_name(header.segment_first_seq)));
  if (!closed) return fail(closed.error());
  // An older index, written by someone slow, ends before the closed segment does. One that was read
  // by someone slow may end with a segment after which others were closed.
  const bool covers_it = closed->has_value() && (*closed)->size == header.position.offset;
  const Result<std::optional<FileStatus>> next =
      files_.status(path(segment_name(header.position.seq + 1)));
  if (!next) return fail(next.error());
  const bool is_last = !next->has_value();
  return covers_it && is_last ? std::optional(next_segment_after(header)) : std::nullopt;
}

// The log is missing: a rotation was cut short after it gave the old one its number. That name must
// be on disk before there is a new log, as in a rotation.
Done LocalStore::make_log() {
  if (Done synced = files_.sync_directory(directory_); !synced) return synced;
  Result<std::unique_ptr<File>> log = files_.open(path(kLogName), Open::create_append, file_mode_);
  if (!log) return fail(log.error());
  log_ = *std::move(log);
  if (Done synced = files_.sync_directory(directory_); !synced) return synced;
  const Result<LogName> name = name_of_log();
  if (!name) return fail(name.error());
  log_name_ = *name;
  return {};
}

// Under the lock: from the log alone, and then a new index.
Result<Halt> LocalStore::rebuild() {
  Result<Replay> replay = replay_log(files_, directory_);
  if (!replay) return fail(replay.error());
  if (index_ && index_->header().position.seq > replay->end.seq) {
    return fail(
        ErrorKind::unreachable,
        fmt::format("{} ends at entry {}, but entry {} had been acknowledged; nothing was changed",
                    printable(path(kLogName)), replay->end.seq, index_->header().position.seq),
        "put the file back from a backup, or keep all that can be read with: dibs recover "
        "--salvage");
  }
  if (!log_) {
    if (Done made = make_log(); !made) return fail(made.error());
  }
  const Result<std::uint64_t> size = log_->size();
  if (!size) return fail(size.error());
  if (*size == 0) {
    replay->end.offset = 0;
    replay->segment_first_seq = replay->end.seq + 1;
  }
  index_.reset();
  looked_up_.clear();
  replayed_ = std::move(replay->records);
  segment_first_seq_ = replay->segment_first_seq;
  tail_ = LogTail(replay->end);
  loaded_ = true;
  Result<Halt> halt = tail_.read(*log_);
  if (halt && *halt == Halt::at_end) refresh_index(Patience::at_once);
  return halt;
}

bool LocalStore::tail_is_long() const {
  const std::uint64_t indexed = index_ ? index_->bytes() : 0;
  return tail_.end().offset - tail_.start().offset > limits_.tail_bytes + indexed / 8;
}

Error LocalStore::stopped_by(Halt halt) const {
  const std::uint64_t seq = tail_.end().seq + 1;
  const std::size_t line_number = seq - segment_first_seq_ + 1;
  return halt == Halt::newer_schema ? newer_than_us(path(kLogName), line_number)
                                    : damaged_at(path(kLogName), line_number, seq);
}

}  // namespace dibs
