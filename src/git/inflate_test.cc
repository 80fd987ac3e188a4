#include "git/inflate.h"

#include <gtest/gtest.h>

#include "git/loose_object.h"

namespace dibs {
namespace {

constexpr std::size_t kPlenty = 1UL << 20U;

std::string wrapped(std::string_view content) {
  return loose_object(ObjectFormat::sha1, "blob", content).bytes;
}

TEST(Inflate, GivesBackWhatWasWrappedOfAnySize) {
  for (const std::size_t size : {0UL, 1UL, 4000UL, 4089UL, 4090UL, 70'000UL, 200'000UL}) {
    const std::string content(size, 'x');
    const auto whole = inflated(wrapped(content), kPlenty);
    ASSERT_TRUE(whole) << size;
    EXPECT_TRUE(whole->ends_with(content)) << size;
  }
}

TEST(Inflate, StopsAtTheBound) {
  const std::string bytes = wrapped(std::string(9000, 'x'));
  const std::size_t size = inflated(bytes, kPlenty)->size();
  EXPECT_TRUE(inflated(bytes, size));
  EXPECT_FALSE(inflated(bytes, size - 1));
  EXPECT_FALSE(inflated(bytes, 0));
}

TEST(Inflate, RefusesWhatIsCutShortOrGoesOn) {
  const std::string bytes = wrapped("content");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(inflated(std::string_view(bytes).substr(0, size), kPlenty)) << size;
  EXPECT_FALSE(inflated(bytes + '\0', kPlenty));
}

}  // namespace
}  // namespace dibs
