// One issue of beads that both sides changed, merged into one line: what dibs reads by its fields,
// dependencies and comments entry by entry, every other member whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "items/clash.h"

namespace dibs {

struct LineVersions {
  std::optional<std::string_view> base;  // nothing: both added it
  std::string_view ours;
  std::string_view theirs;
};

struct MergedLine {
  std::string text;
  // Members that dibs does not know and both sides changed; the preferred side's are in the text.
  std::vector<std::string> clashes;
};

// All that neither side changed has the bytes of our line.
[[nodiscard]] Result<MergedLine> merge_beads_lines(const LineVersions& lines, Side preferred);

}  // namespace dibs
