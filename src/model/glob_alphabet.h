// The bytes that some patterns tell apart, one for each class of bytes that none of them does: a
// walk tries these instead of all 255. A part of model/glob_overlap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/glob_pattern.h"

namespace dibs {

// Of each class the byte that is best to read, letters first. '/' and '.' are always apart, because
// paths are about them.
[[nodiscard]] std::vector<std::uint8_t> alphabet_of(std::span<const GlobPattern* const> patterns);

}  // namespace dibs
