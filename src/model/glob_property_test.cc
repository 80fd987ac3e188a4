// Globs against brute force: a matcher written another way, and all short paths over a tiny
// alphabet.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/glob.h"
#include "model/glob_overlap.h"
#include "model/held_globs.h"
#include "model/repository_path.h"
#include "testing/property.h"

namespace dibs {
namespace {

using Texts = std::vector<std::string>;

// By splitting, not by states.
bool is_path(const std::string& path) {
  std::string rest = path + "/";
  while (!rest.empty()) {
    const std::string part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    rest.erase(0, part.size() + 1);
  }
  return true;
}

// Every path of up to five bytes of a, b, '.' and '/'.
const Texts& short_paths() {
  static const Texts kPaths = [] {
    Texts all = {""};
    for (std::size_t i = 0; i < all.size() && all[i].size() < 5; ++i) {
      for (const char c : {'a', 'b', '.', '/'}) all.push_back(all[i] + c);
    }
    std::erase_if(all, [](const std::string& path) { return !is_path(path); });
    return all;
  }();
  return kPaths;
}

// The class that the glob begins with, of those that are generated below, and whether it holds `c`.
struct NaiveClass {
  std::size_t length = 0;
  bool holds = false;
};
NaiveClass naive_class(std::string_view glob, char c) {
  if (glob.starts_with("?")) return {1, c != '/'};
  if (glob.starts_with("[ab]")) return {4, c == 'a' || c == 'b'};
  if (glob.starts_with("[!a]")) return {4, c != 'a' && c != '/'};
  if (glob.starts_with("[^.]")) return {4, c != '.' && c != '/'};
  if (glob.starts_with("[.-b]")) return {5, c >= '.' && c <= 'b' && c != '/'};
  return {};
}

// Matches from the texts themselves, trying everything.
bool naive(std::string_view glob, std::string_view path, bool part_begins) {
  if (glob.empty()) return path.empty();
  const auto tail_matches = [&](std::string_view rest, bool over_slashes, bool begins) {
    for (std::size_t n = 0; n <= path.size(); ++n) {
      if (naive(rest, path.substr(n), begins)) return true;
      if (n < path.size() && path[n] == '/' && !over_slashes) return false;
    }
    return false;
  };
  if (part_begins && glob == "**") return true;
  if (part_begins && glob.starts_with("**/")) {
    return naive(glob.substr(3), path, true) || tail_matches(glob.substr(2), true, false);
  }
  if (glob[0] == '*') return tail_matches(glob.substr(1), false, false);
  if (path.empty()) return false;
  if (const NaiveClass one = naive_class(glob, path[0]); one.length > 0) {
    return one.holds && naive(glob.substr(one.length), path.substr(1), false);
  }
  if (glob[0] == '\\') glob.remove_prefix(1);
  return path[0] == glob[0] && naive(glob.substr(1), path.substr(1), glob[0] == '/');
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    text.replace(at, from.size(), to);
  }
}

bool naive_alternative(std::string glob, const std::string& path) {
  glob = "/" + glob;
  const bool ends_in_dot = glob.ends_with("/.");
  if (ends_in_dot) glob += "/";
  replace_all(glob, "/./", "/");
  replace_all(glob, "//", "/");
  glob.erase(0, 1);
  if (glob.empty()) return true;
  if (glob.ends_with('/') && path.starts_with(glob)) return true;
  if (glob == path) return true;
  replace_all(glob, "***", "**");
  if (glob.ends_with('/')) return naive(glob + "**", path, true);
  if (naive(glob, path, true)) return true;
  return glob.find_first_of("*?[") == std::string::npos && naive(glob + "/**", path, true);
}

// Braces from the inside out: the last '{' has no other in it.
bool naive_glob(const std::string& glob, const std::string& path) {
  const std::size_t open = glob.rfind('{');
  if (open == std::string::npos) return naive_alternative(glob, path);
  const std::size_t close = glob.find('}', open);
  std::string choices = glob.substr(open + 1, close - open - 1) + ",";
  while (!choices.empty()) {
    const std::string choice = choices.substr(0, choices.find(','));
    if (naive_glob(glob.substr(0, open) + choice + glob.substr(close + 1), path)) return true;
    choices.erase(0, choice.size() + 1);
  }
  return false;
}

bool naive_set(const Texts& globs, const std::string& path) {
  bool in = false;
  for (const std::string& glob : globs) {
    const bool takes = glob.starts_with('!');
    if (naive_glob(takes ? glob.substr(1) : glob, path)) in = !takes;
  }
  return in;
}

rc::Gen<std::string> any_glob() {
  const auto piece = rc::gen::elementOf(
      Texts{"a",   "b",    ".",     "/",    "/",      "a/",        "*",      "**",  "**/",
            "/**", "/**/", "?",     "[ab]", "[!a]",   "[^.]",      "[.-b]",  "\\a", "\\.",
            "ab",  "./",   "{a,b}", "{,b}", "{a/,*}", "{a,{b,.}}", "{**/,b}"});
  const auto pieces = rc::gen::resize(5, rc::gen::container<Texts>(piece));
  return rc::gen::suchThat(rc::gen::map(pieces,
                                        [](const Texts& parts) {
                                          std::string glob;
                                          for (const std::string& part : parts) glob += part;
                                          return glob;
                                        }),
                           [](const std::string& glob) { return Glob::parse(glob).has_value(); });
}

Texts any_set() {
  Texts globs = {*any_glob()};
  const int more = *any_in(0, 3);
  for (int i = 0; i < more; ++i) {
    const std::string glob = *any_glob();
    globs.push_back(*rc::gen::element<std::string>("", "!") + glob);
  }
  return globs;
}

TEST(GlobProperty, MatchesWhatANaiveMatcherMatches) {
  EXPECT_PROPERTY(400, 20, [] {
    const std::string text = *any_glob();
    const Result<Glob> glob = Glob::parse(text);
    for (const std::string& path : short_paths()) {
      if (glob->matches(path) != naive_glob(text, path)) RC_FAIL(text + " and " + path);
    }
  });
}

TEST(GlobProperty, MatchesOnlyRepositoryPaths) {
  EXPECT_PROPERTY(300, 30, [] {
    const std::string path =
        *rc::gen::container<std::string>(rc::gen::element('a', '.', '/', '\0'));
    const bool expected = is_path(path) && path.find('\0') == std::string::npos;
    RC_ASSERT(is_repository_path(path) == expected);
    RC_ASSERT(Glob::parse("**")->matches(path) == expected);
  });
}

// What is said of an overlap must be so: of all short paths, and of the path that is shown.
void check_overlap(const Texts& one, const Texts& other) {
  const std::optional<Overlap> found = overlap(*GlobSet::parse(one), *GlobSet::parse(other));
  RC_CLASSIFY(found.has_value(), "overlap");
  if (found) {
    RC_PRE(found->path.has_value());  // a very rare case is too hard to tell
    RC_LOG() << "shown: " << *found->path << "\n";
    RC_ASSERT(is_path(*found->path));
    RC_ASSERT(naive_set(one, *found->path) && naive_set(other, *found->path));
    return;
  }
  for (const std::string& path : short_paths()) {
    if (naive_set(one, path) && naive_set(other, path)) RC_FAIL("missed " + path);
  }
}

TEST(OverlapProperty, OfTwoGlobsIsExact) {
  EXPECT_PROPERTY(400, 20, [] {
    const std::string one = *any_glob();
    const std::string other = *any_glob();
    check_overlap({one}, {other});
  });
}

TEST(OverlapProperty, OfTwoSetsIsExact) {
  EXPECT_PROPERTY(300, 20, [] {
    const Texts one = any_set();
    const Texts other = any_set();
    check_overlap(one, other);
    RC_ASSERT(overlap(*GlobSet::parse(one), *GlobSet::parse(other)).has_value() ==
              overlap(*GlobSet::parse(other), *GlobSet::parse(one)).has_value());
  });
}

TEST(OverlapProperty, TheFirstOfManyIsTheFirstThatOverlaps) {
  EXPECT_PROPERTY(300, 20, [] {
    const Texts held = *rc::gen::container<Texts>(any_glob());
    const GlobSet wanted = *GlobSet::parse(any_set());
    const std::vector<std::string_view> texts(held.begin(), held.end());
    std::size_t expected = 0;
    while (expected < held.size() &&
           !overlap(*GlobSet::parse(std::vector{held[expected]}), wanted)) {
      ++expected;
    }
    const std::optional<HeldOverlap> found = first_overlap(texts, wanted);
    RC_ASSERT((found ? found->index : held.size()) == expected);
  });
}

}  // namespace
}  // namespace dibs
