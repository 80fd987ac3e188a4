// One wanted glob set against all the globs that are held: the question of every claim on files.
// The held ones come as the texts of lease records, in a process that has just started, so most of
// the time would go into parsing them. A look at the text (model/glob_sieve) leaves the few that
// are worth it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "model/glob_overlap.h"

namespace dibs {

struct HeldOverlap {
  std::size_t index = 0;  // into the held globs
  Overlap overlap;
};

// The first held glob from `from` on that overlaps; ask again from behind it for the next, for
// instance when that one is the asker's own. A text that looks as if it could overlap, but is no
// glob, counts as an overlap without a path: nobody can say what it means.
[[nodiscard]] std::optional<HeldOverlap> first_overlap(std::span<const std::string_view> held,
                                                       const GlobSet& wanted, std::size_t from = 0);

}  // namespace dibs
