#include "sys/replacement.h"

#include <gtest/gtest.h>

#include "testing/fake_disk.h"

namespace dibs {
namespace {

constexpr const char* kPath = "/d/file";

class ReplacementTest : public testing::Test {
 protected:
  ReplacementTest() {
    disk_.make_durable_directory("/d");
    disk_.put(kPath, "old");
  }
  Replacement begun() {
    Result<Replacement> made = Replacement::begin(disk_, kPath, kPrivateFile);
    EXPECT_TRUE(made && made->file().append("ne") && made->file().append("w"));
    return *std::move(made);
  }
  std::size_t files() { return disk_.list("/d").value().size(); }

  FakeClock clock_;
  FakeDisk disk_{clock_};
};

TEST_F(ReplacementTest, TakesThePlaceOfTheOldFileWhenItIsWhole) {
  Replacement made = begun();
  EXPECT_EQ(disk_.contents(kPath), "old");
  ASSERT_TRUE(made.put_in_place(Replacement::Keep::until_reboot));
  EXPECT_EQ(disk_.contents(kPath), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReplacementTest, LeavesNothingWhenItIsGivenUp) {
  (void)begun();
  EXPECT_EQ(disk_.contents(kPath), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReplacementTest, OutlastsALossOfPowerWhenAskedTo) {
  ASSERT_TRUE(begun().put_in_place(Replacement::Keep::through_power_loss));
  disk_.crash();
  EXPECT_EQ(disk_.contents(kPath), "new");
}

}  // namespace
}  // namespace dibs
