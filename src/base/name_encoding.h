// The one way from an id to a file or ref name. Ids may hold anything printable; names may not:
// no '/', no "..", no ".lock" ending, nothing that two file systems would fold together.
#pragma once

#include <string>
#include <string_view>

namespace dibs {

inline constexpr std::size_t kEncodedNameMax = 200;

// Letters a-z, digits and '-' stand for themselves, and so does a dot between two of them unless it
// begins a final ".lock"; every other byte becomes '_' and two hex digits. No two ids share a name:
// one that would grow past kEncodedNameMax keeps its start and ends in "_h" and a SHA-256.
[[nodiscard]] std::string encode_name(std::string_view id);

}  // namespace dibs
