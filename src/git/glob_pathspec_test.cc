// model/glob says what git says: the same patterns and paths, asked of `git ls-files`.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "git/git_program.h"
#include "model/glob.h"
#include "model/repository_path.h"
#include "sys/programs.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

using Texts = std::vector<std::string>;

constexpr int kPaths = 400;
constexpr int kPatterns = 400;

std::string joined(SeededRandom& random, const Texts& pieces, std::size_t most) {
  std::string text;
  const std::size_t count = 1 + random.below(most);
  for (std::size_t i = 0; i < count; ++i) text += pieces[random.below(pieces.size())];
  return text;
}

// Paths that one index can hold: none is a directory of another.
Texts some_paths(SeededRandom& random) {
  const Texts pieces = {"a", "a", "b",    "b",  "/",  "/",  "/",    ".",        "-", "X",
                        "7", "*", "[ab]", "\\", "\t", "\v", "\x7f", "\xc3\xa9", " "};
  std::set<std::string> paths;
  std::set<std::string> directories;
  while (paths.size() < kPaths) {
    const std::string path = joined(random, pieces, 7);
    bool fits = is_repository_path(path) && !directories.contains(path);
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      fits = fits && !paths.contains(path.substr(0, at));
    }
    if (!fits) continue;
    paths.insert(path);
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      directories.insert(path.substr(0, at));
    }
  }
  return {paths.begin(), paths.end()};
}

std::string some_pattern(SeededRandom& random) {
  static const Texts kPieces = {"a",
                                "a",
                                "b",
                                "b",
                                "/",
                                "/",
                                "*",
                                "*",
                                "?",
                                "**",
                                "**/",
                                "/**",
                                "/**/",
                                "[ab]",
                                "[!a]",
                                "[^b-z]",
                                "[]a]",
                                "[a-]",
                                "[\\]a]",
                                "[[:alpha:]]",
                                "[[:space:]]",
                                "[[:x:]",
                                "[[:no:]]",
                                "[",
                                "\\*",
                                "\\a",
                                "\\",
                                "./",
                                "//",
                                ".",
                                "\xc3\xa9",
                                "]",
                                "[!.]",
                                "[*-b]",
                                "[[:punct:]]",
                                "[[:cntrl:]]",
                                "[[:upper:][:digit:]]",
                                "\\/",
                                "[/]"};
  return joined(random, kPieces, 6);
}

bool is_wild(const std::string& pattern) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\')
      ++at;
    else if (pattern[at] == '*' || pattern[at] == '?' || pattern[at] == '[')
      return true;
  }
  return false;
}

// Without the parts that mean nothing.
std::string tidied(const std::string& pattern) {
  std::string tidy;
  for (const std::string_view part : split(pattern, '/')) {
    if (!part.empty() && part != ".") tidy += (tidy.empty() ? "" : "/") + std::string(part);
  }
  return tidy;
}

// Two stars are on their own if a '/' or nothing is before them; git takes them for that also if
// all before them is plain, as it compares that apart.
bool has_stars_behind_a_plain_name(const std::string& pattern) {
  const std::size_t first = pattern.find_first_of("*?[\\");
  return first != std::string::npos && first > 0 && pattern[first - 1] != '/' &&
         pattern.substr(first).starts_with("**");
}

// The differences that model/glob.h names.
bool may_differ(const std::string& pattern, const std::string& path) {
  const bool has_escape = pattern.find('\\') != std::string::npos;
  if (is_wild(pattern) && (pattern.ends_with('/') || pattern.ends_with("/."))) return true;
  if (has_stars_behind_a_plain_name(pattern)) return true;
  if (has_escape && !is_wild(pattern)) return true;
  return path.starts_with(tidied(pattern) + "/") && is_wild(pattern);
}

class Pathspecs : public testing::Test {
 protected:
  Pathspecs() { EXPECT_TRUE(run_git(temp_.path(), {"init", "-q", "."})); }

  std::string ask(const Texts& arguments, std::string_view input = {}) {
    const Result<std::string> out = git_.output_of({.git_dir = temp_ / ".git",
                                                    .arguments = arguments,
                                                    .input = input,
                                                    .work_tree = temp_.path()},
                                                   ErrorKind::internal);
    EXPECT_TRUE(out) << out.error().message;
    return out.value_or("");
  }
  // Makes an index of them; no files are needed.
  void track(const Texts& paths) {
    std::string lines;
    for (const std::string& path : paths) {
      lines += "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t" + path + '\0';
    }
    (void)ask({"update-index", "-z", "--index-info"}, lines);
  }
  std::set<std::string> matched_by_git(const std::string& pattern) {
    std::set<std::string> paths;
    const std::string out = ask({"ls-files", "-z", "--", ":(glob)" + pattern});
    for (const std::string_view path : split(out, '\0')) {
      if (!path.empty()) paths.emplace(path);
    }
    return paths;
  }

  TempDirectory temp_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return Texts{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}; }};
};

TEST_F(Pathspecs, MatchAsGlobsDo) {
  SeededRandom random(20);
  const Texts paths = some_paths(random);
  track(paths);
  std::size_t matches = 0;
  for (int i = 0; i < kPatterns; ++i) {
    const std::string pattern = some_pattern(random);
    const Result<Glob> glob = Glob::parse(pattern);
    if (!glob) continue;
    const std::set<std::string> expected = matched_by_git(pattern);
    for (const std::string& path : paths) {
      if (may_differ(pattern, path)) continue;
      EXPECT_EQ(glob->matches(path), expected.contains(path)) << pattern << " and " << path;
      matches += expected.count(path);
    }
  }
  EXPECT_GT(matches, std::size_t{kPatterns}) << "or else nothing was compared";
}

TEST_F(Pathspecs, KnowTheSameClassesOfBytes) {
  Texts paths;
  for (int byte = 1; byte < 256; ++byte) {
    if (byte != '/') paths.push_back(std::string("x") + static_cast<char>(byte) + "y");
  }
  track(paths);
  for (const char* name : {"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print",
                           "punct", "space", "upper", "xdigit"}) {
    const std::string pattern = std::string("x[[:") + name + ":]]y";
    const std::set<std::string> expected = matched_by_git(pattern);
    EXPECT_FALSE(expected.empty()) << name;
    for (const std::string& path : paths) {
      EXPECT_EQ(Glob::parse(pattern)->matches(path), expected.contains(path))
          << name << " " << printable(path);
    }
  }
}

TEST_F(Pathspecs, DifferOnlyWhereGlobsSaySo) {
  track({"src/a", "srcs/b/c", "x*/y", "q[1]/z"});
  const auto differs = [&](const std::string& pattern, const std::string& path) {
    return Glob::parse(pattern)->matches(path) != matched_by_git(pattern).contains(path);
  };
  EXPECT_TRUE(differs("src*/", "src/a")) << "all below; git: nothing";
  EXPECT_TRUE(differs("q\\[1\\]", "q[1]/z")) << "a plain name; git: only that file";
  EXPECT_TRUE(differs("x*", "x*/y")) << "git also takes it as it is spelled";
  EXPECT_TRUE(differs("src**", "srcs/b/c")) << "git only here takes ** within a name for deep";
  EXPECT_FALSE(differs("src/", "src/a"));
}

}  // namespace
}  // namespace dibs
