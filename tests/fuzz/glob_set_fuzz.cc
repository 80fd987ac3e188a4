// Lists of globs that give and take away, and texts of held ones that may be no globs at all. Two
// lists, parted by an empty line.
#include "base/text.h"
#include "fuzzing.h"
#include "model/glob.h"
#include "model/glob_overlap.h"
#include "model/held_globs.h"

namespace dibs::fuzz {

namespace {

constexpr std::size_t kGlobMax = 40;
constexpr std::size_t kGlobsMax = 6;

std::vector<std::string> globs_in(Pieces& pieces) {
  std::vector<std::string> globs;
  while (globs.size() < kGlobsMax) {
    const std::string_view glob = pieces.until('\n');
    if (glob.empty()) break;
    globs.emplace_back(glob.substr(0, kGlobMax));
  }
  return globs;
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  const std::vector<std::string> first = globs_in(pieces);
  const std::vector<std::string> second = globs_in(pieces);
  const Result<GlobSet> one = GlobSet::parse(first);
  if (!one) return;
  const std::vector<std::string_view> held(second.begin(), second.end());
  (void)first_overlap(held, *one);
  const Result<GlobSet> other = GlobSet::parse(second);
  if (!other) return;
  const std::optional<Overlap> found = overlap(*one, *other);
  must(found.has_value() == overlap(*other, *one).has_value(), "overlap is mutual");
  if (found && found->path)
    must(one->matches(*found->path) && other->matches(*found->path), "the path shown is in both");
  if (one->matches(pieces.rest()) && other->matches(pieces.rest()))
    must(found.has_value(), "no overlap is missed");
}

}  // namespace dibs::fuzz
