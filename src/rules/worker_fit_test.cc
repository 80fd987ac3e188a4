#include "rules/worker_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/order_columns.h"

namespace dibs {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

/// One item, scored for one worker; each test says what is special about them.
struct Case {
  int priority = 4;
  std::uint32_t path_length = 0;
  std::uint32_t estimate_min = 0;
  std::int64_t age_ms = 0;
  Asked asked{.type = "task"};
  Worker worker;
  Weights weights;

  [[nodiscard]] Score score() const {
    constexpr std::int64_t kNow = 1'800'000'000'000;
    Columns columns;
    columns.add(priority, path_length, estimate_min, kNow - age_ms);
    return score_of(weights, columns.view(), 0, kNow, worker, asked);
  }
  [[nodiscard]] std::int64_t part(Factor factor) const { return score()[factor]; }
};

TEST(WorkerFit, PriorityIsAHundredPointsALevel) {
  EXPECT_EQ(Case{.priority = 0}.part(Factor::priority), 400'00);
  EXPECT_EQ(Case{.priority = 3}.part(Factor::priority), 100'00);
  EXPECT_EQ(Case{.priority = 4}.part(Factor::priority), 0);
  EXPECT_EQ(Case{.priority = 200}.part(Factor::priority), 0);
}

TEST(WorkerFit, PathIsTenPointsADoublingUpToSixty) {
  EXPECT_EQ(Case{.path_length = 0}.part(Factor::path), 0);
  EXPECT_EQ(Case{.path_length = 1}.part(Factor::path), 10'00);
  EXPECT_EQ(Case{.path_length = 2}.part(Factor::path), 15'84);
  EXPECT_EQ(Case{.path_length = 63}.part(Factor::path), 60'00);
  EXPECT_EQ(Case{.path_length = 0xffffffff}.part(Factor::path), 60'00);
}

TEST(WorkerFit, PathIsTheLogarithmForEveryLength) {
  Case one{.weights = {.path = 100, .path_most = kWeightMax}};
  std::int64_t before = 0;
  for (std::uint32_t length = 1; length != 0;
       length = length * 5 / 2 > length ? length * 5 / 2 : 0) {
    one.path_length = length;
    const std::int64_t part = one.part(Factor::path);
    EXPECT_NEAR(static_cast<double>(part), 10'000 * std::log2(1.0 + length), 1.5) << length;
    EXPECT_GT(part, before);
    before = part;
    if (length > 1'000'000'000) break;
  }
}

TEST(WorkerFit, ShorterAndOlderIsMoreUpToFivePoints) {
  EXPECT_EQ(Case{.estimate_min = 0}.part(Factor::estimate), 0);
  EXPECT_EQ(Case{.estimate_min = 60}.part(Factor::estimate), 2'50);
  EXPECT_EQ(Case{.estimate_min = 1}.part(Factor::estimate), 4'91);
  EXPECT_EQ(Case{.estimate_min = 1'000'000}.part(Factor::estimate), 0);
  EXPECT_EQ(Case{.age_ms = 0}.part(Factor::age), 0);
  EXPECT_EQ(Case{.age_ms = -kDayMs}.part(Factor::age), 0);
  EXPECT_EQ(Case{.age_ms = 7 * kDayMs}.part(Factor::age), 2'50);
  EXPECT_EQ(Case{.age_ms = 4000 * kDayMs}.part(Factor::age), 4'99);
}

TEST(WorkerFit, NeedsAreTheLabelsThatSaySo) {
  const std::vector<std::string_view> labels{"needs:rust", "ui", "needs:gpu", "unneeds:x"};
  EXPECT_EQ(needs_of(labels), (std::vector<std::string_view>{"rust", "gpu"}));
}

TEST(WorkerFit, AWorkerSuitsWhatItHasAllNeedsOf) {
  const Worker worker{.profile = {.capabilities = {"rust", "gpu"}}};
  EXPECT_TRUE(suits(worker, {}));
  EXPECT_TRUE(suits(worker, {.needs = {"gpu", "rust"}}));
  EXPECT_FALSE(suits(worker, {.needs = {"gpu", "sql"}}));
  EXPECT_FALSE(suits(worker, {.needs = {""}}));
}

TEST(WorkerFit, CapabilityCountsWhenTheItemAsksForIt) {
  const Worker able{.profile = {.capabilities = {"rust"}, .types = {"bug"}}};
  EXPECT_EQ((Case{.asked = {.needs = {"rust"}}, .worker = able}.part(Factor::capability)), 50'00);
  EXPECT_EQ((Case{.asked = {.type = "bug"}, .worker = able}.part(Factor::capability)), 50'00);
  EXPECT_EQ((Case{.asked = {.type = "task"}, .worker = able}.part(Factor::capability)), 0);
}

TEST(WorkerFit, AnEconomicalWorkerIsForWhatAsksForNothing) {
  const Worker cheap{.profile = {.capabilities = {"rust"}, .economical = true}};
  EXPECT_EQ((Case{.worker = cheap}.part(Factor::capability)), 30'00);
  EXPECT_EQ((Case{.asked = {.needs = {"rust"}}, .worker = cheap}.part(Factor::capability)), 50'00);
}

TEST(WorkerFit, LoadIsTheShareOfFreeHands) {
  const auto load = [](std::uint32_t held, std::uint32_t capacity) {
    return Case{.worker = {.profile = {.capacity = capacity}, .held = held}}.part(Factor::load);
  };
  EXPECT_EQ(load(0, 3), 30'00);
  EXPECT_EQ(load(1, 3), 20'00);
  EXPECT_EQ(load(7, 3), 0);
  EXPECT_EQ(load(0, 0), 30'00);
}

TEST(WorkerFit, CostCountsMoreForLongerWork) {
  const auto cost = [](std::uint32_t estimate_min) {
    return Case{.estimate_min = estimate_min, .worker = {.profile = {.cost_hundredths = 50}}}.part(
        Factor::cost);
  };
  EXPECT_EQ(cost(0), -2'50);  // unknown: as long as an hour
  EXPECT_EQ(cost(60), -2'50);
  EXPECT_EQ(cost(20), -1'25);
  EXPECT_EQ(cost(540), -4'50);
  EXPECT_EQ(Case{.estimate_min = 60}.part(Factor::cost), 0);
}

TEST(WorkerFit, OneFailureIsNoVerdict) {
  const auto success = [](std::uint32_t landed, std::uint32_t lost) {
    return Case{.worker = {.record = {{.type = "task", .landed = landed, .lost = lost},
                                      {.type = "bug", .landed = 0, .lost = 90}}}}
        .part(Factor::success);
  };
  EXPECT_EQ(success(0, 0), 10'00);
  EXPECT_EQ(success(0, 1), 8'00);
  EXPECT_EQ(success(96, 0), 19'60);
  EXPECT_EQ(success(0, 96), 40);
  EXPECT_EQ(Case{}.part(Factor::success), 10'00);
}

TEST(WorkerFit, StayingInTheSameFilesCounts) {
  EXPECT_EQ((Case{.asked = {.same_files = true}}.part(Factor::same_files)), 15'00);
  EXPECT_EQ(Case{}.part(Factor::same_files), 0);
}

TEST(WorkerFit, TheTotalIsTheSumOfWhatIsShown) {
  const Case all{.priority = 1,
                 .path_length = 2,
                 .estimate_min = 20,
                 .age_ms = 7 * kDayMs,
                 .asked = {.type = "bug", .needs = {"rust"}, .same_files = true},
                 .worker = {.profile = {.capabilities = {"rust"}, .cost_hundredths = 50},
                            .record = {{.type = "bug", .landed = 1, .lost = 0}}}};
  EXPECT_EQ(all.score().total(),
            300'00 + 15'84 + 3'75 + 2'50 + 50'00 + 30'00 - 1'25 + 12'00 + 15'00);
  EXPECT_EQ(all.score().without_worker(), 300'00 + 15'84 + 3'75 + 2'50);
}

TEST(WorkerFit, EveryPartHasAName) {
  EXPECT_EQ(name_of(Factor::priority), "priority");
  EXPECT_EQ(name_of(Factor::order), "order");
  EXPECT_EQ(name_of(Factor::capability), "capability");
  EXPECT_EQ(name_of(Factor::same_files), "same files");
}

TEST(WorkerFit, TheLargestWeightsAndTheWildestColumnsDoNotOverflow) {
  const Weights most{kWeightMax, kWeightMax, kWeightMax, kWeightMax, kWeightMax, kWeightMax,
                     kWeightMax, kWeightMax, kWeightMax, kWeightMax, kWeightMax};
  Columns columns;
  columns.add(0, 0xffffffff, 0xffffffff, INT64_MIN);
  const Worker worker{.profile = {.cost_hundredths = kCostMax * 100},
                      .record = {{.type = "", .landed = 0xffffffff, .lost = 0xffffffff}}};
  const Score score = score_of(most, columns.view(), 0, INT64_MAX, worker, {.same_files = true});
  EXPECT_EQ(score[Factor::priority], 4 * kWeightMax * 100);
  EXPECT_EQ(score[Factor::path], kWeightMax * 100);
  EXPECT_EQ(score[Factor::success], kWeightMax * 100 / 2);
  EXPECT_NEAR(static_cast<double>(score[Factor::cost]), -1e5 * 1e4, 1e3);
  EXPECT_LT(score[Factor::age], kWeightMax * 100);
}

}  // namespace
}  // namespace dibs
