// The files a log is made of: claims.jsonl, and the numbered segments that were closed before it.
// A segment's number is the sequence number of its first line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/claims_index.h"
#include "store/log_line.h"
#include "store/log_tail.h"
#include "store/store.h"
#include "sys/file_system.h"

namespace dibs {

inline constexpr std::string_view kLogName = "claims.jsonl";

[[nodiscard]] std::string segment_name(std::uint64_t first_seq);

// The closed segments, oldest first, and then claims.jsonl if it is there. Names, not paths.
[[nodiscard]] Result<std::vector<std::string>> log_files(FileSystem& files,
                                                         const std::string& directory);

/// All of history, replayed.
struct Replay {
  Records records;
  LogPosition end;
  std::uint64_t segment_first_seq = 1;  // of the file that `end` is in
  Halt halt = Halt::at_end;             // how the last file ended; never `damaged`
};
// Reads every line from the first. Damage anywhere but in a torn end is an error that names it.
[[nodiscard]] Result<Replay> replay_log(FileSystem& files, const std::string& directory);

// The hard stop: which line is wrong, and what mends it.
[[nodiscard]] Error damaged_at(const std::string& file, std::size_t line_number, std::uint64_t seq);
[[nodiscard]] Error newer_than_us(const std::string& file, std::size_t line_number);

// Every event that `query` asks for, from all files. Lines that cannot be read are passed over:
// history is for people, and one bad line must not hide the rest.
[[nodiscard]] Result<std::vector<PastEvent>> read_history(FileSystem& files,
                                                          const std::string& directory,
                                                          const HistoryQuery& query);

/// What could still be read of a damaged log.
struct Salvage {
  Records records;
  std::uint64_t last_seq = 0;  // the largest number seen anywhere
  std::size_t intact_lines = 0;
  std::size_t damaged_lines = 0;
};
[[nodiscard]] Result<Salvage> salvage_log(FileSystem& files, const std::string& directory);

}  // namespace dibs
