// One pattern of a glob, with its braces written out, as a small machine that reads a path byte by
// byte. model/glob matches with it, model/glob_overlap walks two of them side by side.
//
// A position is an index into `steps`; the one behind the last step is the end, where a path
// matches. A machine is at several positions at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/glob_class.h"

namespace dibs {

struct GlobStep {
  enum class Kind : std::uint8_t {
    byte,  // this one
    set,   // one of a class
    run,   // any number, but no '/'
    deep,  // any number
    fork,  // nothing: goes on at the next step, and also behind the next two
  };
  Kind kind = Kind::byte;
  std::uint8_t byte = 0;
  std::uint16_t set = 0;  // index into GlobPattern::sets
};

struct GlobPattern {
  using Position = std::uint16_t;

  std::vector<GlobStep> steps;
  std::vector<ByteSet> sets;
  // What every match begins and ends with, as far as that is plain; the ending within the last
  // part of the path. Cheap to compare before anything is walked.
  std::string prefix;
  std::string suffix;

  [[nodiscard]] Position end() const { return static_cast<Position>(steps.size()); }
  // Adds the positions where the machine is once it has come to `at`.
  void arrive(Position at, std::vector<Position>& out) const;
  // Adds the positions that it comes to from `at` by reading `byte`.
  void advance(Position at, std::uint8_t byte, std::vector<Position>& out) const;
  [[nodiscard]] bool matches(std::string_view path) const;
};

// Whether a path could begin and end as both do. False: no path matches both.
[[nodiscard]] bool may_meet(const GlobPattern& one, const GlobPattern& other);

// The patterns that `text` stands for; `text` has no empty, "." or ".." part but may end with '/'.
// Git takes a path that is spelled exactly as the pattern for a match too, which is what makes
// "app/[id]/page.tsx" name that file: so a class or an escape makes two patterns.
[[nodiscard]] std::vector<GlobPattern> compile_patterns(std::string_view text);

}  // namespace dibs
