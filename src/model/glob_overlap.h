// Whether two glob sets mean a file in common: the exact intersection of their languages, not a
// comparison with the files that happen to exist, because a claim is also about files to come.
// Asked by whoever grants claims on files; for many held globs at once see model/held_globs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/glob.h"

namespace dibs {

// What one question may cost: some 0.1 s and 15 MiB. Two ordinary globs take a few dozen steps;
// only what is made to be hard (hundreds of '*' in each, or "!glob" with '*' and many '?') takes
// all.
inline constexpr std::size_t kOverlapStepsMax = 300'000;

struct Overlap {
  // A shortest path that one glob of each set matches and nothing takes away. Nothing: it was too
  // hard to tell, so it has to count as an overlap, but there is no proof to show.
  std::optional<std::string> path;
};

// Nothing exactly if no repository path is matched by both. Symmetric but for which path is shown.
[[nodiscard]] std::optional<Overlap> overlap(const GlobSet& one, const GlobSet& other);

}  // namespace dibs
