// Files whose lines end in checksums, with the checksums put right: otherwise no mutation would get
// past them, and what stands behind would never be tried.
#pragma once

#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "base/text.h"
#include "store/log_line.h"

namespace dibs::fuzz {

enum class Chain { each_line_alone, each_on_the_one_before };

// Lines that end like ours get the right checksum; others stay as they are.
[[nodiscard]] inline std::string resealed(std::string_view text, Chain chain) {
  std::string sealed;
  std::uint32_t seed = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line(text.substr(at, end - at));
    if (stated_crc(line)) {
      line.resize(line.size() - kCrcSuffixLength);
      const std::uint32_t crc = crc32c(seed, line);
      close_with_crc(line, seed);
      if (chain == Chain::each_on_the_one_before) seed = crc;
    }
    sealed += line;
    if (end < text.size()) sealed += '\n';
    at = end + 1;
  }
  return sealed;
}

}  // namespace dibs::fuzz
