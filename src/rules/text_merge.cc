#include "rules/text_merge.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/text.h"

namespace dibs {

namespace {

using Lines = std::span<const std::string_view>;
using LineVector = std::vector<std::string_view>;
// For each line of the base, where it stands in the other text; nothing when it is not there.
using Matches = std::vector<std::optional<std::size_t>>;

// Comparing every line with every other is dear; two texts that differ in more than this are taken
// to have nothing in common between their like beginnings and ends.
constexpr std::size_t kComparisonsMax = 4'000'000;

std::size_t common_prefix(Lines a, Lines b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t count = 0;
  while (count < most && a[count] == b[count]) ++count;
  return count;
}

std::size_t common_suffix(Lines a, Lines b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t count = 0;
  while (count < most && a[a.size() - 1 - count] == b[b.size() - 1 - count]) ++count;
  return count;
}

// The longest list of lines that both have in this order; `at` is where both begin in the whole.
void match_middle(Lines base, Lines side, std::size_t at, Matches& matches) {
  const std::size_t width = side.size() + 1;
  if (base.empty() || side.empty() || base.size() > kComparisonsMax / width) return;
  // longest[i * width + j]: of base from i on and side from j on.
  std::vector<std::uint32_t> longest((base.size() + 1) * width, 0);
  for (std::size_t i = base.size(); i-- > 0;) {
    for (std::size_t j = side.size(); j-- > 0;) {
      longest[i * width + j] =
          base[i] == side[j] ? longest[(i + 1) * width + j + 1] + 1
                             : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  for (std::size_t i = 0, j = 0; i < base.size() && j < side.size();) {
    if (base[i] == side[j]) {
      matches[at + i++] = at + j++;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

Matches matches_of(Lines base, Lines side) {
  Matches matches(base.size());
  const std::size_t before = common_prefix(base, side);
  const std::size_t after = common_suffix(base.subspan(before), side.subspan(before));
  for (std::size_t i = 0; i < before; ++i) matches[i] = i;
  for (std::size_t i = 0; i < after; ++i) matches[base.size() - 1 - i] = side.size() - 1 - i;
  match_middle(base.subspan(before, base.size() - before - after),
               side.subspan(before, side.size() - before - after), before, matches);
  return matches;
}

void append(LineVector& out, Lines lines) { out.insert(out.end(), lines.begin(), lines.end()); }

// Between two lines that all three have.
void merge_part(LineVector& out, Lines base, Lines first, Lines second) {
  if (std::ranges::equal(first, base) || std::ranges::equal(first, second))
    return append(out, second);
  if (std::ranges::equal(second, base)) return append(out, first);
  const std::size_t before = common_prefix(first, second);
  append(out, first.first(before));
  first = first.subspan(before);
  second = second.subspan(before);
  const std::size_t after = common_suffix(first, second);
  append(out, first.first(first.size() - after));
  append(out, second);
}

std::string joined(const LineVector& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    text += lines[i];
  }
  return text;
}

}  // namespace

std::string merge_texts(std::string_view base, std::string_view first, std::string_view second) {
  const LineVector base_lines = split(base, '\n');
  const LineVector first_lines = split(first, '\n');
  const LineVector second_lines = split(second, '\n');
  const Matches in_first = matches_of(base_lines, first_lines);
  const Matches in_second = matches_of(base_lines, second_lines);
  LineVector out;
  std::size_t at = 0;
  std::size_t at_first = 0;
  std::size_t at_second = 0;
  const auto merge_up_to = [&](std::size_t end, std::size_t end_first, std::size_t end_second) {
    merge_part(out, Lines(base_lines).subspan(at, end - at),
               Lines(first_lines).subspan(at_first, end_first - at_first),
               Lines(second_lines).subspan(at_second, end_second - at_second));
    at = end;
    at_first = end_first;
    at_second = end_second;
  };
  for (std::size_t i = 0; i < base_lines.size(); ++i) {
    if (!in_first[i] || !in_second[i]) continue;
    merge_up_to(i, *in_first[i], *in_second[i]);
    merge_up_to(i + 1, *in_first[i] + 1, *in_second[i] + 1);
  }
  merge_up_to(base_lines.size(), first_lines.size(), second_lines.size());
  return joined(out);
}

}  // namespace dibs
