// The lines of the log that came after some position, read, checked and kept in memory as bytes. A
// line is parsed only when someone asks about what it mentions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/claims_index.h"
#include "store/log_line.h"
#include "sys/file_system.h"

namespace dibs {

/// Why reading stopped.
enum class Halt {
  at_end,        // everything is taken in
  torn,          // an unfinished line at the very end: a write under way, or a writer that died
  damaged,       // a line that cannot be what was written
  newer_schema,  // a line from a dibs that knows more
};

class LogTail {
 public:
  explicit LogTail(LogPosition start = {}) : start_(start), end_(start) {}

  [[nodiscard]] const LogPosition& start() const { return start_; }
  [[nodiscard]] const LogPosition& end() const { return end_; }

  // Takes in the complete, intact lines that `file` has after end(), as far as they go.
  [[nodiscard]] Result<Halt> read(File& file);
  // Takes in a line that this process has just appended.
  void add(std::string_view line);

  // What the last line after `after` that writes `key` did to it: a record, or its removal. Nothing
  // when no line there writes it.
  struct LastWrite {
    std::optional<Record> record;
  };
  [[nodiscard]] Result<std::optional<LastWrite>> last_write_of(const Key& key,
                                                               const LogPosition& after) const;
  // The keys of records that lines mentioning `text` write.
  [[nodiscard]] Result<std::vector<Key>> keys_mentioning(std::string_view text) const;
  // Brings `records`, which stand at start(), to end().
  [[nodiscard]] Done replay_onto(Records& records) const;

 private:
  [[nodiscard]] Halt take_in();
  [[nodiscard]] std::string_view line(std::size_t i) const;

  LogPosition start_;
  LogPosition end_;
  std::string bytes_;               // from start_.offset to end_.offset
  std::vector<std::size_t> lines_;  // where each line begins in bytes_
};

// What one line did to one record.
[[nodiscard]] Record record_from(const LogLine& line, const LoggedWrite& write);

// How the unfinished end of a log may be mended.
struct Mend {
  std::uint64_t keep = 0;    // bytes of the unfinished line to keep
  bool add_newline = false;  // the line is whole and lacks only its end
};
[[nodiscard]] Mend mend_torn(const LogPosition& before, std::string_view torn);

}  // namespace dibs
