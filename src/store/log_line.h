// One line of claims.jsonl: one transaction, with its sequence number and a checksum that runs on
// from the line before. docs/formats/claims-log.md describes it for other readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/record.h"

namespace dibs {

inline constexpr std::uint64_t kLogSchemaVersion = 1;
inline constexpr std::size_t kLogLineMax = 1024UL * 1024;
inline constexpr std::uint64_t kSeqMax = 1ULL << 53U;  // from elsewhere: the next must be one too

/// Where a reader stands in the log: after the line with this number.
struct LogPosition {
  std::uint64_t seq = 0;
  std::uint32_t crc = 0;     // of that line; seeds the next one's
  std::uint64_t offset = 0;  // in the current segment

  friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

struct LoggedWrite {
  Key key;
  std::optional<std::string> value;
  // Set only where a salvage restates a record: which entry wrote it first.
  std::optional<Version> version;
};

struct LogLine {
  std::uint64_t seq = 0;
  std::int64_t unix_ms = 0;
  Nonce nonce;
  std::vector<LoggedWrite> writes;
  std::vector<Event> events;
};

// What a store writes down of a transaction; the number comes with the place.
[[nodiscard]] LogLine line_for(const Transaction& transaction, std::int64_t unix_ms);

// The line, its newline included, that follows `before`; its number is the next one, whatever
// `line.seq` says.
[[nodiscard]] std::string encode_line(const LogPosition& before, const LogLine& line);

enum class LineFault {
  none,
  damaged,       // the checksum, the number or the form is wrong
  newer_schema,  // intact, but written by a dibs that knows more
};

struct CheckedLine {
  LineFault fault = LineFault::none;
  std::uint32_t crc = 0;
};

// Whether `line` (without its newline) is the one that follows `before`. Does not parse it: a claim
// checks every line since the index and parses only those that mention its resource.
[[nodiscard]] CheckedLine check_line(const LogPosition& before, std::string_view line);

[[nodiscard]] Result<LogLine> parse_line(std::string_view line);
// The same without the events, of a line that has been checked. Cuts the values out instead of
// parsing them, for a twentieth of the cost.
[[nodiscard]] Result<LogLine> parse_writes(std::string_view line);

// The checksum a line claims to have; nothing when it has none.
[[nodiscard]] std::optional<std::uint32_t> stated_crc(std::string_view line);
// The number at the start of a line; nothing when it does not start like one of ours.
[[nodiscard]] std::optional<std::uint64_t> stated_seq(std::string_view line);

// Text that stands in a line exactly if it writes `key`.
[[nodiscard]] std::string write_mark(const Key& key);

// The checksum that ends a line, `,"crc":"xxxxxxxx"}`; also used by the index.
inline constexpr std::size_t kCrcSuffixLength = 18;
void close_with_crc(std::string& line, std::uint32_t seed);

}  // namespace dibs
