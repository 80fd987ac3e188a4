#include "verbs/demo_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "verbs/demo_project.h"

namespace dibs::verbs {
namespace {

constexpr std::uint64_t kSeeds = 50;

TEST(DemoPlan, IsTheSameForTheSameSeed) {
  const Demo request{.workers = 8, .items = 40, .seed = 7};
  EXPECT_EQ(batch_of(make_demo_plan(request)), batch_of(make_demo_plan(request)));
  EXPECT_NE(batch_of(make_demo_plan(request)),
            batch_of(make_demo_plan({.workers = 8, .items = 40, .seed = 8})));
}

TEST(DemoPlan, StepsDependOnEarlierOnesAlone) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const DemoPlan plan = make_demo_plan({.workers = 3, .items = 40, .seed = seed});
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      for (const std::size_t on : plan.steps[i].depends_on) EXPECT_LT(on, i);
  }
}

TEST(DemoPlan, HasEveryMishapOnceAndNoneWhereItIsTimed) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const std::size_t workers : {1U, 8U, 64U}) {
      const DemoPlan plan = make_demo_plan({.workers = workers, .items = 40, .seed = seed});
      std::map<Mishap, int> times;
      for (const DemoStep& step : plan.steps) {
        ++times[step.mishap];
        EXPECT_TRUE(!step.alone || step.mishap == Mishap::none);
      }
      EXPECT_EQ(times[Mishap::mistake], 1);
      EXPECT_EQ(times[Mishap::killed], 1);
      EXPECT_EQ(times[Mishap::paused], 1);
    }
  }
}

// The sleeper begins before anything has landed; and a conflict would hide the mistake from the
// gate.
TEST(DemoPlan, MishapsHappenWhereTheyCan) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const DemoPlan plan = make_demo_plan({.workers = 4, .items = 20, .seed = seed});
    EXPECT_TRUE(plan.with(Mishap::paused)->depends_on.empty());
    EXPECT_FALSE(plan.with(Mishap::mistake)->in_table);
  }
}

TEST(DemoPlan, FewItemsHaveFewerMishaps) {
  for (std::size_t items = 1; items <= 6; ++items) {
    const DemoPlan plan = make_demo_plan({.workers = 8, .items = items, .seed = 1});
    EXPECT_EQ(plan.steps.size(), items);
    EXPECT_NE(plan.with(Mishap::mistake), nullptr);
    EXPECT_EQ(plan.with(Mishap::paused) != nullptr, items > 2);
  }
}

TEST(DemoPlan, AMistakeLooksLikeTheRealThing) {
  const DemoPlan plan = make_demo_plan({.workers = 1, .items = 10, .seed = 1});
  const DemoStep& step = plan.steps.back();
  EXPECT_NE(formula_of(plan, step), wrong_formula_of(plan, step));
  EXPECT_EQ(formula_of(plan, step).size(), wrong_formula_of(plan, step).size());
}

TEST(DemoPlan, EveryStepIsInOneFileOfTheProject) {
  const DemoPlan plan = make_demo_plan({.workers = 8, .items = 40, .seed = 1});
  for (const DemoStep& step : plan.steps) {
    const std::string beginning = "long " + step.function + "(void) {";
    const auto files = demo_files(plan);
    EXPECT_EQ(std::ranges::count_if(files,
                                    [&](const ProjectFile& file) {
                                      return file.text.find(beginning) != std::string::npos;
                                    }),
              1);
  }
}

}  // namespace
}  // namespace dibs::verbs
