#include "rules/hold_times.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dibs {
namespace {

/// What happens to one resource, second by second.
class HoldTimes : public testing::Test {
 protected:
  void held(const std::string& lease, std::int64_t from_ms, std::int64_t to_ms,
            Op end = Op::release) {
    add(Op::acquire, lease, from_ms);
    add(end, lease, to_ms);
  }
  void add(Op op, const std::string& lease, std::int64_t unix_ms) {
    PastEvent past{.seq = past_.size() + 1, .unix_ms = unix_ms, .event = {}};
    past.event.op = op;
    past.event.lease = {lease};
    past_.push_back(past);
  }

  std::vector<PastEvent> past_;
};

TEST_F(HoldTimes, OfNothingAreUnknown) {
  EXPECT_EQ(usual_hold_ms(past_), std::nullopt);
  add(Op::acquire, "L1", 5);
  EXPECT_EQ(usual_hold_ms(past_), std::nullopt) << "it has not ended";
  add(Op::wait, "W1", 6);
  add(Op::leave, "W1", 7);
  EXPECT_EQ(usual_hold_ms(past_), std::nullopt) << "a place in a line is no hold";
}

TEST_F(HoldTimes, AreTheMiddleOneHoweverItEnded) {
  held("L1", 0, 10);
  held("L2", 100, 130, Op::land);
  held("L3", 200, 9000, Op::auto_evict);
  EXPECT_EQ(usual_hold_ms(past_), 30);
}

TEST_F(HoldTimes, CountFromTheGrantThroughRenewals) {
  add(Op::acquire, "L1", 0);
  add(Op::renew, "L1", 500);
  add(Op::release, "L1", 900);
  EXPECT_EQ(usual_hold_ms(past_), 900);
}

TEST_F(HoldTimes, FollowWhatIsUsualNow) {
  for (int i = 0; i < 100; ++i) held("old" + std::to_string(i), i * 10'000, i * 10'000 + 5000);
  for (int i = 0; i < 20; ++i) held("new" + std::to_string(i), i * 10'000, i * 10'000 + 7);
  EXPECT_EQ(usual_hold_ms(past_), 7);
}

TEST_F(HoldTimes, OfAClockThatWasSetBackAreNotNegative) {
  held("L1", 1000, 10);
  EXPECT_EQ(usual_hold_ms(past_), 0);
}

}  // namespace
}  // namespace dibs
