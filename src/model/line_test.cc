#include "model/line.h"

#include <gtest/gtest.h>

#include <string>

namespace dibs {
namespace {

Waiter someone() {
  Waiter waiter;
  waiter.id = {"01M7J7KMW58D37S4FN2RFRH7FS"};
  waiter.agent = {"agent:a"};
  waiter.session = {"agent:a@wt:00000001"};
  waiter.since_unix_ms = 1'767'441'600'000;
  waiter.until = {.unix_ms = 1'767'441'900'000, .boot_ms = 301'000, .boot = {"boot-1"}};
  return waiter;
}

Result<Line> read_back(const std::string& value) {
  return line_of({.key = {"line:item:1"}, .value = value, .version = {1}, .fence = {1}});
}

TEST(Line, ComesBackAsItWasWritten) {
  Waiter full = someone();
  full.mode = Mode::shared;
  full.priority = 0;
  full.process =
      ProcessTie{.host = "h", .boot = {"boot-1"}, .pid_namespace = 5, .pid = 42, .start_ticks = 7};
  full.lines = 3;
  full.upgrades = LeaseId{"L1"};
  full.offer = Offer{.item = {"item:42"}, .lease = {"L2"}, .work = "c0ffee"};
  full.victim_of = "a circle";
  Waiter remote = someone();
  remote.until = {.unix_ms = 1'767'441'900'000};
  const Line line{.waiters = {full, someone(), remote}};
  const Result<Line> read = read_back(to_json(line));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, line);
}

TEST(Line, HasARecordOfItsOwnBesideTheResources) {
  EXPECT_EQ(line_key({"item:42"}), Key{"line:item:42"});
  EXPECT_EQ(waited_for({"line:item:42"}), Key{"item:42"});
  EXPECT_EQ(waited_for({"item:42"}), std::nullopt);
  EXPECT_EQ(waited_for({"guard:waits"}), std::nullopt);
}

TEST(Line, ThatCannotBeReadIsNeverAnEmptyOne) {
  for (const char* value : {"", "null", "[]", "{}", R"({"waiters":5})", R"({"waiters":[{}]})",
                            R"({"waiters":[{"wait_id":"W"}]})"})
    EXPECT_FALSE(read_back(value)) << value;
  std::string far = to_json(Line{.waiters = {someone()}});
  far.replace(far.find("\"priority\":2"), 12, "\"priority\":5");
  EXPECT_FALSE(read_back(far));
}

TEST(Line, TakesNoOfferThatIsNoCommit) {
  Waiter waiter = someone();
  for (const char* work : {"", "--output=x", "HEAD", "c0ffee; rm", "../x"}) {
    waiter.offer = Offer{.item = {"item:42"}, .lease = {"L2"}, .work = work};
    const Result<Line> read = read_back(to_json(Line{.waiters = {waiter}}));
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->waiters[0].offer) << work;
  }
}

}  // namespace
}  // namespace dibs
