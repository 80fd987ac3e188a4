// What can be the path of a file in a repository: parts that are neither empty nor "." nor "..",
// with a '/' between them. Globs are asked about such paths only, and two globs overlap only if
// there is such a path: "a//b" or "./a" is never a reason to refuse a claim.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dibs {

// How far a path has been read, and whether it may end here.
enum class PathPlace : std::uint8_t { part_begins, dot, two_dots, in_part };

// The place after one more byte; nothing when no path goes on like that.
[[nodiscard]] std::optional<PathPlace> after(PathPlace place, std::uint8_t byte);

[[nodiscard]] constexpr bool may_end_at(PathPlace place) { return place == PathPlace::in_part; }

[[nodiscard]] bool is_repository_path(std::string_view path);

}  // namespace dibs
