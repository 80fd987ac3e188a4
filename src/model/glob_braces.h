// Braces in a glob: "src/{a,b}.cc" is short for "src/a.cc" and "src/b.cc". They are written out
// before anything else is read, as shells do it, so everything behind this knows no braces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

inline constexpr std::size_t kBracesMax = 128;     // alternatives of one glob
inline constexpr std::size_t kBraceDepthMax = 16;  // braces within braces

// The alternatives in the order they are written. Braces without a comma, as in "{{name}}", are
// ordinary characters, and so is what follows a backslash; '{' without its '}' is an error.
[[nodiscard]] Result<std::vector<std::string>> expand_braces(std::string_view text);

}  // namespace dibs
