#include "store/git_layout.h"

#include <fmt/core.h>

namespace dibs {

std::string more_unread(std::size_t count) { return fmt::format("and {} more like that", count); }

Result<std::string> change_text(const LogLine& line, const Turn& turn) {
  std::string text = encode_line({.seq = turn.before, .crc = 0, .offset = 0}, line);
  if (text.size() <= kLogLineMax) return text;
  return fail(ErrorKind::refused,
              fmt::format("the change is {} bytes long; at most {} fit", text.size(), kLogLineMax),
              "name fewer resources in one command");
}

}  // namespace dibs
