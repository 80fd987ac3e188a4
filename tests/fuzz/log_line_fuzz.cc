// One line of the log: whatever is read can be written, and reads the same then.
#include "fuzzing.h"
#include "store/log_line.h"

namespace dibs::fuzz {

namespace {

void read_unchecked(std::string_view text) {
  (void)check_line({}, text);
  (void)stated_crc(text);
  (void)stated_seq(text);
  (void)parse_writes(text);
}

void check_same_writes(const LogLine& one, const LogLine& other) {
  must(one.writes.size() == other.writes.size(), "both ways to read a line find as many writes");
  for (std::size_t i = 0; i < one.writes.size(); ++i) {
    must(one.writes[i].key == other.writes[i].key, "both ways to read a line find the same key");
    must(one.writes[i].value == other.writes[i].value, "and the same value");
    must(one.writes[i].version == other.writes[i].version, "and the same version");
  }
}

}  // namespace

void try_input(std::string_view input) {
  read_unchecked(input);
  const Result<LogLine> line = parse_line(input);
  if (!line) return;
  const std::string written = encode_line({}, *line);
  const std::string_view text = std::string_view(written).substr(0, written.size() - 1);
  must(text.find('\n') == std::string_view::npos, "a line is one line");
  must(check_line({}, text).fault == LineFault::none, "a line that we write is intact");
  const Result<LogLine> again = parse_line(text);
  must(again.has_value(), "a line that we write can be read");
  must(encode_line({}, *again) == written, "and is written the same again");
  const Result<LogLine> writes = parse_writes(text);
  must(writes.has_value(), "the quick way reads it too");
  check_same_writes(*again, *writes);
}

}  // namespace dibs::fuzz
