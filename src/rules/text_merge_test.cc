#include "rules/text_merge.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "testing/property.h"

namespace dibs {
namespace {

TEST(TextMerge, TakesWhatOneSideChanged) {
  EXPECT_EQ(merge_texts("a\nb\n", "a\nb\n", "a\nc\n"), "a\nc\n");
  EXPECT_EQ(merge_texts("a\nb\n", "b\n", "a\nb\n"), "b\n");
  EXPECT_EQ(merge_texts("", "", "new"), "new");
  EXPECT_EQ(merge_texts("old", "", "old"), "");
}

TEST(TextMerge, TakesChangesOfDifferentLinesFromBoth) {
  EXPECT_EQ(merge_texts("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\ne\n"), "A\nb\nc\nD\ne\n");
  EXPECT_EQ(merge_texts("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd"), "b\nc\nd");
}

TEST(TextMerge, KeepsBothVersionsOfOneLine) {
  EXPECT_EQ(merge_texts("a\nb\nc", "a\none\nc", "a\ntwo\nc"), "a\none\ntwo\nc");
  EXPECT_EQ(merge_texts("", "one", "two"), "one\ntwo");
  EXPECT_EQ(merge_texts("", "one\n", "two\n"), "one\ntwo\n");
}

TEST(TextMerge, SaysOnceWhatBothWrote) {
  EXPECT_EQ(merge_texts("x", "one\nsame", "two\nsame"), "one\ntwo\nsame");
  EXPECT_EQ(merge_texts("x", "same\none", "same\ntwo"), "same\none\ntwo");
  EXPECT_EQ(merge_texts("a", "a\nnew", "a\nnew"), "a\nnew");
}

TEST(TextMerge, KeepsAChangeOfWhatTheOtherTookAway) {
  EXPECT_EQ(merge_texts("a\nb\nc", "a\nc", "a\nB\nc"), "a\nB\nc");
}

TEST(TextMerge, OfVeryLongTextsKeepsBoth) {
  std::string base;
  std::string first;
  std::string second;
  for (int i = 0; i < 5000; ++i) {
    base += "b" + std::to_string(i) + "\n";
    first += "f" + std::to_string(i) + "\n";
    second += "s" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(merge_texts(base, first, second), first + second);
  EXPECT_EQ(merge_texts(base, "f\n" + base, base + "s\n"), "f\n" + base + "s\n");
}

std::vector<std::string_view> sorted_lines(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  std::ranges::sort(lines);
  return lines;
}

std::string any_text() {
  std::string text;
  for (const int letter : *rc::gen::container<std::vector<int>>(any_in(0, 5)))
    text += std::string(1, static_cast<char>('a' + letter)) + "\n";
  return text;
}

TEST(TextMerge, LosesNoLineThatASideAdded) {
  EXPECT_PROPERTY(500, 12, [] {
    const std::string base = any_text();
    const std::string first = any_text();
    const std::string second = any_text();
    const std::string merged = merge_texts(base, first, second);
    for (const std::string& side : {first, second}) {
      for (const std::string_view line : split(side, '\n')) {
        const bool added = std::ranges::count(split(base, '\n'), line) == 0;
        RC_ASSERT(!added || std::ranges::count(split(merged, '\n'), line) > 0);
      }
    }
    RC_ASSERT(sorted_lines(merged) == sorted_lines(merge_texts(base, second, first)));
    RC_ASSERT(merge_texts(base, first, first) == first);
    RC_ASSERT(merge_texts(base, base, first) == first);
    RC_ASSERT(merge_texts(base, first, base) == first);
  });
}

}  // namespace
}  // namespace dibs
