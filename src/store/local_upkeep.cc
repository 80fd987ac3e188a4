// Mending and inspecting the local store. Everything here happens under the claims lock or changes
// nothing.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "store/local.h"
#include "store/local_files.h"

namespace dibs {

namespace {
constexpr std::size_t kSalvageMax = 1ULL << 30U;
}

// Only what is written under our own locks, which are held here: others' may be under way.
std::size_t LocalStore::remove_leftovers() {
  const auto lock = files_.lock(path(kIndexLock), Patience::wait, file_mode_);
  const Result<std::vector<std::string>> names = files_.list(directory_);
  if (!lock || !names) return 0;
  std::size_t removed = 0;
  for (const std::string& name : *names) {
    const bool own = std::ranges::any_of(
        std::array{kIndexName, kLogName, kReserveName, kLandingName},
        [&](std::string_view file) { return name.starts_with(std::string(file) + "."); });
    if (own && is_temporary(name) && files_.remove(path(name))) ++removed;
  }
  return removed;
}

Result<RepairReport> LocalStore::repair() {
  RepairReport report;
  const Result<Lock> lock = take_lock();
  if (!lock) return fail(lock.error());
  const Notice outer = std::exchange(notice_, [&](const std::string& note) {
    report.log_repaired = true;
    report.notes.push_back(note);
  });
  forget();
  const Result<std::optional<FileStatus>> index_file = files_.status(path(kIndexName));
  const bool index_is_bad = index_file && index_file->has_value() &&
                            ClaimsIndex::open(files_, path(kIndexName)) == nullptr;
  Done ready = catch_up_locked(Purpose::write);
  notice_ = outer;
  if (!ready) return fail(ready.error());

  const Result<Replay> replay = replay_log(files_, directory_);
  if (!replay) return fail(replay.error());
  const Result<Records> known = all_records();
  if (!known || *known != replay->records || index_is_bad) {
    if (Result<Halt> rebuilt = rebuild(); !rebuilt) return fail(rebuilt.error());
    refresh_index(Patience::wait);
    report.index_rebuilt = true;
    report.notes.emplace_back("the index was rebuilt from the log");
  }
  refresh_index(Patience::wait);  // so that a first look after a repair is quick
  report.temporary_files_removed = remove_leftovers();
  restore_reserve();
  return report;
}

// The records again, in as many entries as they need, under numbers that nobody has had. One number
// is left out, so that no index can take the new log for the old one's next segment.
std::string LocalStore::restated(const Records& records, std::uint64_t last_seq) {
  constexpr std::size_t kRecordsInALine = 8;
  LogTail log(LogPosition{.seq = last_seq + 1});
  std::string text;
  LogLine line{.unix_ms = clock_.now().unix_ms, .nonce = random_.nonce()};
  const auto finish_line = [&] {
    text += encode_line(log.end(), line);
    log.add(encode_line(log.end(), line));
    line.writes.clear();
  };
  for (const auto& [key, record] : records) {
    line.writes.push_back({.key = key, .value = record.value, .version = record.version});
    if (line.writes.size() == kRecordsInALine) finish_line();
  }
  finish_line();
  return text;
}

Result<RepairReport> LocalStore::salvage() {
  const Result<Lock> lock = take_lock();
  if (!lock) return fail(lock.error());
  forget();
  Result<Salvage> salvaged = salvage_log(files_, directory_);
  if (!salvaged) return fail(salvaged.error());
  std::uint64_t last_seq = salvaged->last_seq;
  // An intact index may know of entries that the log lost; it also settles what is in both.
  if (const auto index = ClaimsIndex::open(files_, path(kIndexName))) {
    last_seq = std::max(last_seq, index->header().position.seq);
    Result<std::vector<Record>> indexed = index->mentioning("");
    for (Record& record : indexed ? *indexed : std::vector<Record>{}) {
      const auto found = salvaged->records.find(record.key);
      const bool newer = found == salvaged->records.end() || found->second.version < record.version;
      if (newer && index->header().position.seq >= salvaged->last_seq)
        salvaged->records[record.key] = record;
    }
  }

  // The old log is copied aside, the new one replaces it in one step, and only then do the closed
  // segments and the index go: a crash on the way leaves a log that still stops, never a free one.
  const std::string aside = path(fmt::format("damaged-{}", random_.nonce().hex().substr(0, 8)));
  if (Done made = files_.make_directory(aside, kPrivateDirectory); !made) return fail(made.error());
  const Result<std::optional<std::string>> old = files_.read_file(path(kLogName), kSalvageMax);
  if (!old) return fail(old.error());
  if (Done kept = files_.replace_file(aside + "/" + std::string(kLogName), old->value_or(""));
      !kept)
    return fail(kept.error());
  const std::string text = restated(salvaged->records, last_seq);
  if (Done written = replace_log(text); !written) return fail(written.error());
  const Result<std::vector<std::string>> names = log_files(files_, directory_);
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    if (name == kLogName) continue;
    if (Done moved = files_.rename(path(name), aside + "/" + name); !moved)
      return fail(moved.error());
  }
  if (Done removed = files_.remove(path(kIndexName)); !removed) return fail(removed.error());
  if (Done synced = files_.sync_directory(directory_); !synced) return fail(synced.error());

  RepairReport report;
  report.log_repaired = true;
  report.damaged_entries = salvaged->damaged_lines;
  report.notes.push_back(
      fmt::format("kept {} intact entries and left out {} damaged ones; the old files are in {}",
                  salvaged->intact_lines, salvaged->damaged_lines, printable(aside)));
  return report;
}

void LocalStore::inspect_index(const Replay& replay, std::vector<Finding>& findings) {
  const Result<std::optional<FileStatus>> file = files_.status(path(kIndexName));
  const bool needed = replay.end.offset > 2 * limits_.tail_bytes;
  if (file && !file->has_value() && !needed) return;  // a short log needs none
  const auto index = ClaimsIndex::open(files_, path(kIndexName));
  const bool fine =
      index && index->mentioning("") && index->header().position.seq <= replay.end.seq;
  if (fine) {
    findings.push_back({.what = fmt::format("the index is intact and {} entries behind",
                                            replay.end.seq - index->header().position.seq)});
  } else {
    findings.push_back(
        {.level = Finding::Level::warning,
         .what = "the index is missing or damaged; it is rebuilt when it is next needed",
         .fix = "dibs recover"});
  }
}

std::vector<Finding> LocalStore::inspect() {
  using Level = Finding::Level;
  std::vector<Finding> findings;
  const auto add = [&](Level level, std::string what, std::string fix = {}) {
    findings.push_back({.level = level, .what = std::move(what), .fix = std::move(fix)});
  };
  if (const auto kind = files_.untrusted_kind(directory_)) {
    add(Level::problem,
        fmt::format("{} is on {}, where locks and flushes cannot be trusted", printable(directory_),
                    *kind),
        "move the repository to a local disk");
  }
  const Result<Replay> replay = replay_log(files_, directory_);
  if (!replay) {
    add(Level::problem, replay.error().message, replay.error().hint);
    return findings;
  }
  add(Level::ok, fmt::format("the log is intact: {} entries, {} records", replay->end.seq,
                             replay->records.size()));
  if (replay->halt == Halt::torn) {
    add(Level::warning, "the log ends in an unfinished entry; the next claim cuts it",
        "dibs recover");
  }
  inspect_index(*replay, findings);
  const Result<std::optional<FileStatus>> reserve = files_.status(path(kReserveName));
  if (reserve && !reserve->has_value()) {
    add(Level::warning, "the space kept for releases on a full disk is used up", "dibs recover");
  }
  return findings;
}

}  // namespace dibs
