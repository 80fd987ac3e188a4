#include "model/held_globs.h"

#include "model/glob_sieve.h"

namespace dibs {

namespace {
std::optional<Overlap> overlap_with_text(std::string_view text, const GlobSet& wanted) {
  Result<Glob> glob = Glob::parse(text);
  if (!glob) return Overlap{};
  return overlap(GlobSet(std::move(*glob)), wanted);
}
}  // namespace

std::optional<HeldOverlap> first_overlap(std::span<const std::string_view> held,
                                         const GlobSet& wanted, std::size_t from) {
  GlobSieve sieve(wanted);
  for (std::size_t i = from; i < held.size(); ++i) {
    if (!sieve.passes(held[i])) continue;
    if (std::optional<Overlap> found = overlap_with_text(held[i], wanted)) {
      return HeldOverlap{.index = i, .overlap = std::move(*found)};
    }
  }
  return std::nullopt;
}

}  // namespace dibs
