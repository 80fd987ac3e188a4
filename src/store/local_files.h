// The names in .git/dibs that belong to the local store.
#pragma once

#include <cstddef>
#include <string_view>

namespace dibs {

inline constexpr std::string_view kIndexName = "claims.index.json";
inline constexpr std::string_view kClaimsLock = "locks/claims.lock";
inline constexpr std::string_view kIndexLock = "locks/index.lock";
inline constexpr std::string_view kReserveName = "reserve";
inline constexpr std::string_view kLandingName = "landing.json";
inline constexpr std::size_t kReserveBytes = 64UL * 1024;
// In the mode of a log that was put in the place of another, until its name is on disk: the sticky
// bit, which means nothing on a file.
inline constexpr unsigned kNameMayBeLost = 01000;

inline bool is_temporary(std::string_view name) { return name.ends_with(".tmp"); }

}  // namespace dibs
