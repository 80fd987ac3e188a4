// What one character of a glob may stand for: "[a-z]", "[!.]", "[[:alpha:]]". Bytes, as in git:
// a letter outside ASCII is several bytes, and is in no class by name.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>

namespace dibs {

using ByteSet = std::bitset<256>;

struct GlobClass {
  ByteSet bytes;           // never '/'
  std::size_t length = 0;  // of its text, from '[' to ']'
};

// The class at the front of `text`, which begins with '['. Nothing when it has no end or a name in
// it is unknown; git then matches nothing with the whole pattern.
[[nodiscard]] std::optional<GlobClass> parse_class(std::string_view text);

}  // namespace dibs
