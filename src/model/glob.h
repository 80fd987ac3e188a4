// Globs: which files of a repository somebody means. They read as git's :(glob) pathspecs do, byte
// for byte and with upper and lower case apart:
//
//   *  any run without '/'      ?  one byte but '/'      [a-z] [!a] [[:alpha:]]  one of a class
//   **/  any directories, or none      /**  all below      \x  the character x itself
//   src/a.cc  a plain name: that file, or all below that directory      src/  all below
//   {a,b}  one or the other (git has no braces)
//
// In a glob set, a list, "!glob" takes away what globs before it gave: the last that matches
// decides. Two that could match one path overlap: model/glob_overlap.
//
// Where git differs, on purpose: "src*/" is all below here, and nothing there; a name with escapes
// is a plain name here, and only that file there; "x*" is taken for the name of a directory "x*"
// there too, and "src**" for "src" with anything behind it, '/' included, but only there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/glob_pattern.h"

namespace dibs {

inline constexpr std::size_t kGlobBytesMax = 4096;
inline constexpr std::size_t kGlobsInASetMax = 256;

class Glob {
 public:
  // A leading "./" means nothing, nor do "//" and "/./"; "." is everything. Absolute paths and
  // ".." are errors: a glob means files of the repository, from its top.
  [[nodiscard]] static Result<Glob> parse(std::string_view text);

  // False for what is no repository path (model/repository_path).
  [[nodiscard]] bool matches(std::string_view path) const;
  [[nodiscard]] const std::string& text() const { return text_; }  // as it was parsed
  [[nodiscard]] const std::vector<GlobPattern>& patterns() const { return patterns_; }

 private:
  std::string text_;
  std::vector<GlobPattern> patterns_;
};

class GlobSet {
 public:
  enum class Sense { gives, takes_away };
  struct Entry {
    Sense sense = Sense::gives;
    Glob glob;
  };

  GlobSet() = default;  // matches nothing
  explicit GlobSet(Glob glob) { entries_.push_back({.glob = std::move(glob)}); }
  // "!glob" takes away; a glob that begins with '!' is written "\!glob". The first one must give.
  [[nodiscard]] static Result<GlobSet> parse(std::span<const std::string> texts);

  [[nodiscard]] bool matches(std::string_view path) const;
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace dibs
