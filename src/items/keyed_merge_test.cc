#include "items/keyed_merge.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/property.h"

namespace dibs {
namespace {

// "a1 b1" is a list with the keys a and b.
std::vector<KeyedText> list_of(std::string_view words) {
  std::vector<KeyedText> list;
  for (std::size_t at = 0; at + 1 < words.size(); at += 3)
    list.push_back({.key = std::string(words.substr(at, 1)), .text = words.substr(at, 2)});
  return list;
}

// With "!" where both changed it.
std::string merged(std::string_view base, std::string_view ours, std::string_view theirs) {
  std::string words;
  for (const KeyedVersions& entry : merged_list(list_of(base), list_of(ours), list_of(theirs))) {
    const Settled settled = settle(entry.base, entry.ours, entry.theirs);
    if (!words.empty()) words += ' ';
    if (settled == Settled::clash) words += entry.key + "!";
    if (settled == Settled::ours) words += *entry.ours;
    if (settled == Settled::theirs) words += *entry.theirs;
  }
  return words;
}

TEST(KeyedMerge, TakesWhatOneSideChanged) {
  EXPECT_EQ(merged("a1 b1 c1", "a2 b1 c1", "a1 b1 c2"), "a2 b1 c2");
  EXPECT_EQ(merged("a1 b1", "a2 b1", "a2 b1"), "a2 b1");
  EXPECT_EQ(merged("a1 b1", "a2 b1", "a3 b1"), "a! b1");
  EXPECT_EQ(merged("", "a1", "a2"), "a!");
}

TEST(KeyedMerge, KeepsWhatOneSideTookAwayAndTheOtherChanged) {
  EXPECT_EQ(merged("a1 b1 c1", "a1 c1", "a1 b1 c1"), "a1 c1");
  EXPECT_EQ(merged("a1 b1 c1", "a1 c1", "a1 b2 c1"), "a1 b2 c1");
  EXPECT_EQ(merged("a1 b1 c1", "a1 b2 c1", "a1"), "a1 b2");
  EXPECT_EQ(merged("a1 b1", "a1", "a1"), "a1");
}

TEST(KeyedMerge, PutsWhatWasAddedWhereItStood) {
  EXPECT_EQ(merged("a1 b1", "a1 b1 o1 p1", "a1 b1 t1 u1"), "a1 b1 o1 p1 t1 u1");
  EXPECT_EQ(merged("a1 b1", "a1 o1 b1", "t1 a1 b1"), "t1 a1 o1 b1");
  EXPECT_EQ(merged("a1 b1", "o1 b1", "a1 t1 b1"), "o1 t1 b1");
}

TEST(KeyedMerge, FollowsTheSideThatChangedTheOrder) {
  EXPECT_EQ(merged("a1 b1 c1", "a1 b1 o1 c1", "c1 b1 a1"), "c1 b1 o1 a1");
  EXPECT_EQ(merged("a1 b1 c1", "c1 b1 a1", "a1 b1 c1 t1"), "c1 t1 b1 a1");
}

std::string any_list() {
  std::string words;
  for (const char key : std::string("abcdef")) {
    if (*any_in(0, 3) == 0) continue;
    words += std::string(words.empty() ? "" : " ") + key + static_cast<char>('1' + *any_in(0, 3));
  }
  return words;
}

TEST(KeyedMerge, LosesNothingThatASideAddedOrChanged) {
  EXPECT_PROPERTY(200, 20, [] {
    const std::string base = any_list();
    const std::string ours = any_list();
    const std::string theirs = any_list();
    const std::string both = merged(base, ours, theirs);
    std::set<std::string> keys;
    for (const KeyedText& entry : list_of(both)) RC_ASSERT(keys.insert(entry.key).second);
    for (const std::string& side : {ours, theirs}) {
      for (const KeyedText& entry : list_of(side))
        RC_ASSERT(base.find(entry.text) != std::string::npos || keys.contains(entry.key));
    }
    RC_ASSERT(merged(base, ours, base) == ours);
    RC_ASSERT(merged(base, ours, ours) == ours);
  });
}

}  // namespace
}  // namespace dibs
