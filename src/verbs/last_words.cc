#include "verbs/last_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace dibs::verbs {

std::string last_words(const std::string& output) {
  constexpr std::size_t kLinesMax = 10;
  if (trim(output).empty()) return {};
  const std::vector<std::string_view> lines = split(trim(output), '\n');
  std::string text = "; it said last:";
  for (std::size_t i = lines.size() - std::min(lines.size(), kLinesMax); i < lines.size(); ++i)
    text += fmt::format("\n    {}", printable(trim(lines[i])));
  return text;
}

}  // namespace dibs::verbs
