// Mending and inspecting the local store. Everything here happens under the claims lock or changes
// nothing.
#include <fmt/core.h>

#include <utility>

#include "base/text.h"
#include "store/local.h"
#include "store/local_files.h"

namespace dibs {

Result<RepairReport> LocalStore::repair() {
  RepairReport report;
  const Result<Lock> lock = take_lock();
  if (!lock) return fail(lock.error());
  const Notice outer = std::exchange(notice_, [&](const std::string& note) {
    report.log_repaired = true;
    report.notes.push_back(note);
  });
  forget();
  const bool had_index = ClaimsIndex::open(files_, path(kIndexName)) != nullptr;
  Done ready = catch_up_locked_for_writing();
  notice_ = outer;
  if (!ready) return fail(ready.error());

  const Result<Replay> replay = replay_log(files_, directory_);
  if (!replay) return fail(replay.error());
  const Result<Records> known = all_records();
  if (!known || *known != replay->records || !had_index) {
    if (Result<Halt> rebuilt = rebuild(); !rebuilt) return fail(rebuilt.error());
    refresh_index(Patience::wait);
    report.index_rebuilt = true;
    report.notes.emplace_back("the index was rebuilt from the log");
  }
  const Result<std::vector<std::string>> names = files_.list(directory_);
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    if (!is_temporary(name)) continue;
    if (files_.remove(path(name))) ++report.temporary_files_removed;
  }
  restore_reserve();
  return report;
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

  const std::string aside = path(fmt::format("damaged-{}", random_.nonce().hex().substr(0, 8)));
  if (Done made = files_.make_directory(aside, kPrivateDirectory); !made) return fail(made.error());
  const Result<std::vector<std::string>> names = log_files(files_, directory_);
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    if (Done moved = files_.rename(path(name), aside + "/" + name); !moved)
      return fail(moved.error());
  }
  (void)files_.remove(path(kIndexName));

  // The records again, in as many entries as they need, under numbers that nobody has had.
  std::string text;
  LogPosition end{.seq = last_seq, .crc = 0, .offset = 0};
  LogLine line{.seq = 0,
               .unix_ms = clock_.now().unix_ms,
               .nonce = random_.nonce(),
               .writes = {},
               .events = {}};
  const auto flush_line = [&] {
    LogTail one(end);
    const std::string encoded = encode_line(end, line);
    one.add(encoded);
    end = one.end();
    text += encoded;
    line.writes.clear();
  };
  for (const auto& [key, record] : salvaged->records) {
    line.writes.push_back({.key = key, .value = record.value, .version = record.version});
    if (line.writes.size() == 8) flush_line();
  }
  flush_line();
  if (Done written = files_.replace_file(path(kLogName), text, file_mode_); !written)
    return fail(written.error());

  RepairReport report;
  report.log_repaired = true;
  report.damaged_entries = salvaged->damaged_lines;
  report.notes.push_back(
      fmt::format("kept {} intact entries and left out {} damaged ones; the old files are in {}",
                  salvaged->intact_lines, salvaged->damaged_lines, printable(aside)));
  return report;
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
  const auto index = ClaimsIndex::open(files_, path(kIndexName));
  if (index) {
    const Result<std::vector<Record>> readable = index->mentioning("");
    const bool fine = readable && index->header().position.seq <= replay->end.seq;
    if (fine) {
      add(Level::ok, fmt::format("the index is intact and {} entries behind",
                                 replay->end.seq - index->header().position.seq));
    } else {
      add(Level::warning, "the index is damaged; it is rebuilt when it is next needed",
          "dibs recover");
    }
  } else if (replay->end.offset > limits_.tail_bytes) {
    add(Level::warning, "the index is missing or damaged; it is rebuilt when it is next needed",
        "dibs recover");
  }
  const Result<std::optional<FileStatus>> reserve = files_.status(path(kReserveName));
  if (reserve && !reserve->has_value()) {
    add(Level::warning, "the space kept for releases on a full disk is used up", "dibs recover");
  }
  return findings;
}

}  // namespace dibs
