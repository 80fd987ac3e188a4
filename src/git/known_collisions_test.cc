#include "git/known_collisions.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

const std::vector<std::string> kTips{"aa", "bb", "cc"};
const std::vector<Collision> kFound{{.pair = {0, 2}, .files = {"one", "two\nlines"}},
                                    {.pair = {1, 2}, .files = {}}};

const BranchPast kPast{
    .base = "00",
    .commits = {{"aa", {"00"}}, {"bb", {"00", "dd"}}, {"dd", {"00"}}, {"00", {}}},
    .changes = {{{"00", "aa"}, {.all = {"one", "two\nlines"}, .added = {"one"}, .deleted = {}}},
                {{"00", "bb"}, {}}}};

TEST(KnownCollisions, AreAsTheyWereWrittenWhicheverCommitIsNamedFirst) {
  const KnownCollisions known = KnownCollisions::of(encode_collisions(kTips, kFound, kPast));
  EXPECT_TRUE(known.compared("bb", "aa"));
  EXPECT_FALSE(known.compared("aa", "dd"));
  EXPECT_EQ(known.files("aa", "bb"), nullptr);
  ASSERT_NE(known.files("cc", "aa"), nullptr);
  EXPECT_EQ(*known.files("cc", "aa"), kFound[0].files);
  ASSERT_NE(known.files("bb", "cc"), nullptr) << "a conflict without a path is one";
  EXPECT_EQ(known.past(), kPast);
}

TEST(KnownCollisions, KeepNoPastThatIsTooLong) {
  BranchPast past = kPast;
  past.base = std::string(kKeptPastBytesMax, '0');
  const KnownCollisions known = KnownCollisions::of(encode_collisions(kTips, kFound, past));
  EXPECT_TRUE(known.compared("aa", "bb"));
  EXPECT_EQ(known.past(), BranchPast());
}

TEST(KnownCollisions, NothingIsKnownFromADamagedFile) {
  const std::string text = encode_collisions(kTips, kFound, kPast);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(KnownCollisions::of(damaged).compared("aa", "bb")) << i;
    EXPECT_FALSE(KnownCollisions::of(text.substr(0, i)).compared("aa", "bb")) << i;
  }
  EXPECT_TRUE(KnownCollisions::of(text).compared("aa", "bb"));
}

}  // namespace
}  // namespace dibs
