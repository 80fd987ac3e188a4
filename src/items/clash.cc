#include "items/clash.h"

#include <algorithm>
#include <vector>

#include "items/found_items.h"

namespace dibs {

namespace {

using Lines = std::vector<std::string_view>;

Lines whole_lines(std::string_view text) {
  Lines lines;
  for (const TextLine& line : lines_of(text)) lines.push_back(line.whole_in(text));
  return lines;
}

// A mark has to begin a line.
void add_line(std::string& out, std::string_view line, std::string_view newline) {
  out += line;
  if (!line.ends_with('\n')) out += newline;
}

}  // namespace

std::string with_marks(std::string_view ours, std::string_view theirs, std::string_view newline) {
  const Lines one = whole_lines(ours);
  const Lines other = whole_lines(theirs);
  const std::size_t most = std::min(one.size(), other.size());
  std::size_t before = 0;
  while (before < most && one[before] == other[before]) ++before;
  std::size_t after = 0;
  while (after < most - before && one[one.size() - 1 - after] == other[other.size() - 1 - after])
    ++after;
  std::string out;
  for (std::size_t i = 0; i < before; ++i) out += one[i];
  add_line(out, "<<<<<<< ours", newline);
  for (std::size_t i = before; i < one.size() - after; ++i) add_line(out, one[i], newline);
  add_line(out, "=======", newline);
  for (std::size_t i = before; i < other.size() - after; ++i) add_line(out, other[i], newline);
  add_line(out, ">>>>>>> theirs", newline);
  for (std::size_t i = one.size() - after; i < one.size(); ++i) out += one[i];
  return out;
}

}  // namespace dibs
