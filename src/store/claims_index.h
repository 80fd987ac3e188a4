// claims.index.json: the records as they stood after some line of the log, so that a claim reads
// this and the few lines since, not all of history. It is derived: whatever is wrong with it, the
// log makes a new one.
//
// The file is one JSON document that can be searched without being parsed: the first line is the
// header, then one record a line, sorted by key, each line with its own checksum. A lookup checks
// every line it steps on, so a damaged byte can send it nowhere unnoticed, and touches a handful of
// lines however many there are. docs/formats/claims-index.md describes it for other readers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/record.h"
#include "store/log_line.h"
#include "sys/file_system.h"

namespace dibs {

using Records = std::map<Key, Record>;

/// Up to where in the log the index goes.
struct IndexHeader {
  LogPosition position;
  std::uint64_t segment_first_seq = 1;  // which segment position.offset is in
};

[[nodiscard]] std::string encode_index(const IndexHeader& header, const Records& records,
                                       std::int64_t unix_ms);

class ClaimsIndex {
 public:
  // Null when there is none, or it is damaged, or of another schema: rebuild it.
  [[nodiscard]] static std::unique_ptr<ClaimsIndex> open(FileSystem& files,
                                                         const std::string& path);

  [[nodiscard]] const IndexHeader& header() const { return header_; }
  [[nodiscard]] std::uint64_t bytes() const { return records_end_; }

  // Nothing when there is no such record; an error when the index turned out to be damaged.
  [[nodiscard]] Result<std::optional<Record>> find(const Key& key);
  // Every record whose line holds `text`, by key.
  [[nodiscard]] Result<std::vector<Record>> mentioning(std::string_view text);

 private:
  struct Line {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // past the newline
    std::string_view text;  // without comma and newline
  };

  ClaimsIndex(std::unique_ptr<File> file, IndexHeader header, std::uint64_t begin,
              std::uint64_t end)
      : file_(std::move(file)), header_(header), records_begin_(begin), records_end_(end) {}

  [[nodiscard]] bool load(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] std::optional<Line> first_line_from(std::uint64_t offset, std::uint64_t limit);
  [[nodiscard]] std::optional<Line> line_at(std::uint64_t begin);

  std::unique_ptr<File> file_;
  IndexHeader header_;
  std::uint64_t records_begin_;
  std::uint64_t records_end_;
  std::string window_;  // the part of the file that was read last
  std::uint64_t window_begin_ = 0;
};

}  // namespace dibs
