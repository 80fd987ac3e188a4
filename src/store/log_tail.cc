#include "store/log_tail.h"

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::uint64_t kSectorBytes = 512;
// So that the line this process goes on to append does not move all the others in memory.
constexpr std::size_t kRoomForOwnLine = 16UL * 1024;

// Whether a sector's share of `line`, which begins at `offset` in the file, reads as zeros. Such a
// sector never reached the disk. A lone zero byte is damage to a line that did.
bool lacks_a_sector(std::string_view line, std::uint64_t offset) {
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t length = kSectorBytes - (offset + begin) % kSectorBytes;
    const std::string_view share = line.substr(begin, length);
    if (share.find_first_not_of('\0') == std::string_view::npos) return true;
    begin += length;
  }
  return false;
}

}  // namespace

Result<Halt> LogTail::read(File& file) {
  const Result<std::uint64_t> size = file.size();
  if (!size) return fail(size.error());
  // Shorter than what was read: it was cut, so what is in memory is no longer the log.
  if (*size < end_.offset) return Halt::damaged;
  // Read in place: this runs on every claim, and a second copy would cost more than checking.
  const std::size_t had = bytes_.size();
  bytes_.reserve(had + (*size - end_.offset) + kRoomForOwnLine);
  bytes_.resize(had + (*size - end_.offset));
  const Result<std::size_t> got = file.read_at(end_.offset, std::span(bytes_).subspan(had));
  bytes_.resize(had + got.value_or(0));
  if (!got) return fail(got.error());
  const Halt halt = take_in();
  bytes_.resize(end_.offset - start_.offset);
  return halt;
}

// Moves end_ over the lines in bytes_ that come after it.
Halt LogTail::take_in() {
  while (true) {
    const std::size_t begin = end_.offset - start_.offset;
    const std::string_view rest = std::string_view(bytes_).substr(begin);
    if (rest.empty()) return Halt::at_end;
    const std::size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) return Halt::torn;
    const std::string_view text = rest.substr(0, newline);
    const CheckedLine checked = check_line(end_, text);
    if (checked.fault == LineFault::newer_schema) return Halt::newer_schema;
    if (checked.fault == LineFault::damaged) {
      // A last line that is not all on the disk was not acknowledged, because that needs a flush
      // that came back.
      const bool last = newline + 1 == rest.size();
      return last && lacks_a_sector(text, end_.offset) ? Halt::torn : Halt::damaged;
    }
    lines_.push_back(begin);
    end_ = {.seq = end_.seq + 1, .crc = checked.crc, .offset = end_.offset + newline + 1};
  }
}

void LogTail::add(std::string_view line) {
  lines_.push_back(bytes_.size());
  bytes_ += line;
  end_ = {.seq = end_.seq + 1,
          .crc = stated_crc(line.substr(0, line.size() - 1)).value_or(0),
          .offset = end_.offset + line.size()};
}

std::string_view LogTail::line(std::size_t i) const {
  const std::size_t end = i + 1 < lines_.size() ? lines_[i + 1] : bytes_.size();
  return std::string_view(bytes_).substr(lines_[i], end - lines_[i] - 1);
}

Record record_from(const LogLine& line, const LoggedWrite& write) {
  const Version version = write.version.value_or(Version{line.seq});
  return {.key = write.key,
          .value = write.value.value_or(""),
          .version = version,
          .fence = {version.value},
          .nonce = line.nonce};
}

Result<std::optional<LogTail::LastWrite>> LogTail::last_write_of(const Key& key,
                                                                 const LogPosition& after) const {
  const std::string mark = write_mark(key);
  const std::size_t begin = after.offset - start_.offset;
  const std::string_view lines = std::string_view(bytes_).substr(begin);
  for (std::size_t at = find_last(lines, mark); at != std::string_view::npos;) {
    // `lines_` is sorted: the line around `at` is the last one that begins at or before it.
    const auto next = std::ranges::upper_bound(lines_, begin + at);
    const auto number = static_cast<std::size_t>(next - lines_.begin()) - 1;
    const Result<LogLine> parsed = parse_writes(line(number));
    if (!parsed) return fail(parsed.error());
    const auto write = std::ranges::find(parsed->writes, key, &LoggedWrite::key);
    if (write != parsed->writes.end()) {
      return LastWrite{write->value ? std::optional(record_from(*parsed, *write)) : std::nullopt};
    }
    // The mark stood somewhere else in the line, in a field we do not know: look further back.
    at = find_last(lines.substr(0, lines_[number] - begin), mark);
  }
  return std::nullopt;
}

Result<std::vector<Key>> LogTail::keys_mentioning(std::string_view text) const {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (!contains(line(i), text)) continue;
    const Result<LogLine> parsed = parse_writes(line(i));
    if (!parsed) return fail(parsed.error());
    for (const LoggedWrite& write : parsed->writes) keys.push_back(write.key);
  }
  return keys;
}

Done LogTail::replay_onto(Records& records) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Result<LogLine> parsed = parse_writes(line(i));
    if (!parsed) return fail(parsed.error());
    for (const LoggedWrite& write : parsed->writes) {
      if (write.value) {
        records[write.key] = record_from(*parsed, write);
      } else {
        records.erase(write.key);
      }
    }
  }
  return {};
}

Mend mend_torn(const LogPosition& before, std::string_view torn) {
  // A line that is whole but for its newline was written in full: it counts. So does one whose
  // newline was damaged into another byte.
  for (const std::size_t spare : {std::size_t{0}, std::size_t{1}}) {
    if (torn.size() <= spare) break;
    const std::string_view line = torn.substr(0, torn.size() - spare);
    if (check_line(before, line).fault == LineFault::none)
      return {.keep = line.size(), .add_newline = true};
  }
  return {};
}

}  // namespace dibs
