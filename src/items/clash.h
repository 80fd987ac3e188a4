// What both sides changed, and nobody but a person can decide: shown as git shows it, told by name.
// For the merges of other tools' files.
#pragma once

#include <string>
#include <string_view>

namespace dibs {

enum class Side { ours, theirs };

// Both texts as one, with git's conflict marks around the lines in which they differ.
[[nodiscard]] std::string with_marks(std::string_view ours, std::string_view theirs,
                                     std::string_view newline);

}  // namespace dibs
