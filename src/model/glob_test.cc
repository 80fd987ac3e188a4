#include "model/glob.h"

#include <gtest/gtest.h>

#include "model/glob_braces.h"

namespace dibs {
namespace {

using Paths = std::vector<std::string>;

bool matches(std::string_view glob, std::string_view path) {
  const Result<Glob> parsed = Glob::parse(glob);
  EXPECT_TRUE(parsed) << glob << ": " << parsed.error().message;
  return parsed && parsed->matches(path);
}

// Those of the paths that the glob matches.
Paths matched(std::string_view glob, const Paths& paths) {
  Paths out;
  for (const std::string& path : paths) {
    if (matches(glob, path)) out.push_back(path);
  }
  return out;
}

std::string complaint_about(std::string_view glob) {
  const Result<Glob> parsed = Glob::parse(glob);
  return parsed ? "" : parsed.error().message;
}

TEST(Glob, NeverMatchesASlashWithAStar) {
  EXPECT_EQ(matched("src/*.cc", {"src/a.cc", "src/.cc", "src/a/b.cc", "a.cc", "src/a.h"}),
            (Paths{"src/a.cc", "src/.cc"}));
  EXPECT_EQ(matched("*", {"a", ".a", "a/b"}), (Paths{"a", ".a"}));
  EXPECT_EQ(matched("a*b*c", {"abc", "aXbYc", "ab/c", "abcd"}), (Paths{"abc", "aXbYc"}));
}

TEST(Glob, MatchesOneByteButNoSlashWithAQuestionMark) {
  EXPECT_EQ(matched("a?c", {"abc", "a/c", "ac", "a.c", "abbc"}), (Paths{"abc", "a.c"}));
  EXPECT_EQ(matched("?", {"a", "\xc3", "\xc3\xa9"}), (Paths{"a", "\xc3"})) << "bytes, as in git";
}

TEST(Glob, MatchesAnyDirectoriesOrNoneWithTwoStars) {
  EXPECT_EQ(matched("**/a", {"a", "x/a", "x/y/a", "xa", "x/a/y"}), (Paths{"a", "x/a", "x/y/a"}));
  EXPECT_EQ(matched("s/**/a", {"s/a", "s/x/a", "s/x/y/a", "sa", "s/xa"}),
            (Paths{"s/a", "s/x/a", "s/x/y/a"}));
  EXPECT_EQ(matched("s/**/**/a", {"s/a", "s/x/a", "s/x/y/a"}), (Paths{"s/a", "s/x/a", "s/x/y/a"}));
  EXPECT_EQ(matched("s/**", {"s/a", "s/x/a", "s", "sa"}), (Paths{"s/a", "s/x/a"}));
  EXPECT_EQ(matched("**", {"a", "x/y"}), (Paths{"a", "x/y"}));
}

TEST(Glob, TakesTwoStarsWithinANameForOne) {
  EXPECT_EQ(matched("s/a**", {"s/a", "s/ab", "s/a/b"}), (Paths{"s/a", "s/ab"}));
  EXPECT_EQ(matched("**a", {"a", "ba", "b/a"}), (Paths{"a", "ba"}));
}

TEST(Glob, MatchesOneOfAClass) {
  EXPECT_EQ(matched("[a-c]", {"a", "b", "c", "d"}), (Paths{"a", "b", "c"}));
  EXPECT_EQ(matched("x[!a]", {"xa", "xb", "x/", "x"}), (Paths{"xb"}));
  EXPECT_EQ(matched("x[^a]y", {"xay", "xby", "x/y"}), (Paths{"xby"})) << "never '/'";
  EXPECT_EQ(matched("[]a]", {"]", "a", "b"}), (Paths{"]", "a"}));
  EXPECT_EQ(matched("[a-]", {"a", "-", "b"}), (Paths{"a", "-"}));
  EXPECT_EQ(matched("[\\]x]", {"]", "x", "\\"}), (Paths{"]", "x"}));
  EXPECT_EQ(matched("[a-c-e]", {"b", "-", "e", "d"}), (Paths{"b", "-", "e"}));
  EXPECT_EQ(matched("[[:digit:][:upper:]_]", {"7", "Q", "_", "q", ":"}), (Paths{"7", "Q", "_"}));
  EXPECT_EQ(matched("[[:alpha:]]", {"a", "1", "\xe9"}), (Paths{"a"}));
  EXPECT_EQ(matched("[[:a]", {"[", ":", "a", "b"}), (Paths{"[", ":", "a"}));
}

TEST(Glob, ABrokenClassMatchesNothingButItsOwnSpelling) {
  EXPECT_EQ(matched("a[b", {"ab", "a[b", "a"}), (Paths{"a[b"}));
  EXPECT_EQ(matched("[[:nonsense:]]", {"a", "n"}), (Paths{}));
  EXPECT_EQ(matched("a\\", {"a", "a\\"}), (Paths{"a\\"}));
}

TEST(Glob, AlsoNamesTheFileThatIsSpelledLikeIt) {
  EXPECT_EQ(matched("app/[id]/page.tsx", {"app/[id]/page.tsx", "app/i/page.tsx", "app/x/page.tsx"}),
            (Paths{"app/[id]/page.tsx", "app/i/page.tsx"}));
}

TEST(Glob, TakesAnEscapedCharacterAsItIs) {
  EXPECT_EQ(matched("a\\*", {"a*", "ab", "a*/b"}), (Paths{"a*", "a*/b"}));
  EXPECT_EQ(matched("\\{a,b\\}", {"{a,b}", "a"}), (Paths{"{a,b}"}));
}

TEST(Glob, APlainNameIsAFileOrAllBelowADirectory) {
  EXPECT_EQ(matched("src/a", {"src/a", "src/a/b", "src/a/b/c", "src/ab", "src"}),
            (Paths{"src/a", "src/a/b", "src/a/b/c"}));
}

TEST(Glob, ATrailingSlashMeansAllBelow) {
  EXPECT_EQ(matched("src/", {"src", "src/a", "src/a/b", "srcs"}), (Paths{"src/a", "src/a/b"}));
  EXPECT_EQ(matched("s*/", {"s", "s/a", "sx/a/b", "t/a"}), (Paths{"s/a", "sx/a/b"}));
}

TEST(Glob, IgnoresPartsThatMeanNothing) {
  const Paths paths = {"a/b", "a", "b", "a/b/c"};
  for (const char* glob : {"./a/b", "a//b", "a/./b", "././a/b"}) {
    EXPECT_EQ(matched(glob, paths), (Paths{"a/b", "a/b/c"})) << glob;
  }
  EXPECT_EQ(matched("a/b/.", paths), (Paths{"a/b/c"}));
  EXPECT_EQ(matched(".", paths), paths) << "the whole repository";
}

TEST(Glob, WritesBracesOut) {
  EXPECT_EQ(matched("{a,b/c}.{h,cc}", {"a.h", "a.cc", "b/c.h", "b/c.cc", "b.h"}),
            (Paths{"a.h", "a.cc", "b/c.h", "b/c.cc"}));
  EXPECT_EQ(matched("x{,{1,2}y}", {"x", "x1y", "x2y", "xy", "x1"}), (Paths{"x", "x1y", "x2y"}));
  EXPECT_EQ(matched("{{name}}/a", {"{{name}}/a", "name/a"}), (Paths{"{{name}}/a"}));
  EXPECT_EQ(matched("{{a,b}}", {"{a}", "{b}", "a"}), (Paths{"{a}", "{b}"}));
  EXPECT_EQ(matched("{a\\,b,c}", {"a,b", "c", "b"}), (Paths{"a,b", "c"}));
}

TEST(Glob, MatchesNothingThatIsNoRepositoryPath) {
  for (const char* path : {"", "/a", "a/", "a//b", ".", "..", "./a", "a/../b", "a/."}) {
    EXPECT_FALSE(matches("**", path)) << path;
  }
  EXPECT_TRUE(matches("**", "..."));
  EXPECT_TRUE(matches("**", ".a/..b"));
}

TEST(Glob, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(complaint_about(""), "the glob '' is empty");
  EXPECT_EQ(complaint_about("{,a}"), "the glob '{,a}' has an empty alternative");
  EXPECT_EQ(complaint_about("/etc/passwd"), "the glob '/etc/passwd' is an absolute path");
  EXPECT_EQ(complaint_about("{a,/b}"), "the glob '{a,/b}' is an absolute path");
  EXPECT_EQ(complaint_about("a/../b"), "the glob 'a/../b' has a '..' in it");
  EXPECT_EQ(complaint_about("a{b,c"), "the glob 'a{b,c' has a { without its }");
  EXPECT_EQ(complaint_about(std::string_view("a\0b", 3)),
            "the glob 'a\\x00b' has a NUL byte, which no path has");
  EXPECT_EQ(complaint_about(std::string(kGlobBytesMax + 1, 'a')),
            "the glob is 4097 bytes long; at most 4096 are allowed");
  EXPECT_EQ(complaint_about(std::string(kGlobBytesMax, 'a')), "");
}

TEST(Glob, BoundsWhatBracesStandFor) {
  EXPECT_EQ(complaint_about("{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}"), "") << "128";
  EXPECT_EQ(complaint_about("{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}"),
            "the braces of the glob '{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}' stand for more than "
            "128 alternatives");
  const std::string deep =
      std::string(kBraceDepthMax + 1, '{') + std::string(kBraceDepthMax + 1, '}');
  EXPECT_NE(complaint_about(deep).find("more than 16 deep"), std::string::npos);
}

TEST(Glob, KeepsItsText) { EXPECT_EQ(Glob::parse("./{a,b}//c")->text(), "./{a,b}//c"); }

Result<GlobSet> globs_of(std::vector<std::string> texts) { return GlobSet::parse(texts); }

TEST(GlobSet, LetsTheLastMatchDecide) {
  const Result<GlobSet> set = globs_of({"src/**", "!src/gen/**", "src/gen/keep.cc"});
  ASSERT_TRUE(set);
  EXPECT_TRUE(set->matches("src/a.cc"));
  EXPECT_FALSE(set->matches("src/gen/a.cc"));
  EXPECT_TRUE(set->matches("src/gen/keep.cc"));
  EXPECT_FALSE(set->matches("doc/a"));
}

TEST(GlobSet, MatchesNothingWhenEmpty) { EXPECT_FALSE(GlobSet().matches("a")); }

TEST(GlobSet, NamesAFileThatBeginsWithAnExclamationMark) {
  EXPECT_TRUE(globs_of({"\\!a"})->matches("!a"));
}

TEST(GlobSet, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(globs_of({}).error().message, "no glob is given");
  EXPECT_EQ(globs_of({"!a"}).error().message,
            "'!a' takes away, but nothing before it gives anything");
  EXPECT_EQ(globs_of({"a", "!/b"}).error().message, "the glob '/b' is an absolute path");
  EXPECT_EQ(globs_of(std::vector<std::string>(kGlobsInASetMax + 1, "a")).error().message,
            "257 globs are given; at most 256 are allowed");
}

}  // namespace
}  // namespace dibs
