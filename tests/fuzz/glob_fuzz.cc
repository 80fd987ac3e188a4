// Globs: whether two overlap is mutual, is shown by a path that both match, and is never missed by
// the quick look at a text. Two globs, parted by a newline, and a path behind another.
#include "base/text.h"
#include "fuzzing.h"
#include "model/glob.h"
#include "model/glob_overlap.h"
#include "model/held_globs.h"

namespace dibs::fuzz {

namespace {

constexpr std::size_t kGlobMax = 60;  // longer ones may cost a tenth of a second each

void check_pair(const Glob& one, const Glob& other, std::string_view path) {
  const GlobSet first(one);
  const GlobSet second(other);
  const std::optional<Overlap> found = overlap(first, second);
  must(found.has_value() == overlap(second, first).has_value(), "overlap is mutual");
  if (found && found->path)
    must(one.matches(*found->path) && other.matches(*found->path), "the path shown is in both");
  if (one.matches(path) && other.matches(path)) must(found.has_value(), "no overlap is missed");
  const std::array<std::string_view, 1> held{other.text()};
  must(first_overlap(held, first).has_value() == found.has_value(), "the quick look agrees");
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  const std::string_view first = pieces.until('\n').substr(0, kGlobMax);
  const std::string_view second = pieces.until('\n').substr(0, kGlobMax);
  const Result<Glob> one = Glob::parse(first);
  if (!one) return must(is_printable(one.error().message), "an error is safe to show");
  (void)one->matches(pieces.rest());
  const Result<Glob> other = Glob::parse(second);
  if (other) check_pair(*one, *other, pieces.rest());
}

}  // namespace dibs::fuzz
