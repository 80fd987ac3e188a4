#include "verbs/demo_proof.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "verbs/demo_project.h"

namespace dibs::verbs {
namespace {

PastEvent past(Op op, const std::string& item, const std::string& lease, const std::string& agent) {
  return {.seq = 0,
          .unix_ms = 0,
          .event = {.op = op, .resource = {"item:" + item}, .lease = {lease}, .agent = {agent}}};
}

/// A demo in which everything went as it should; tests spoil it.
DemoEvidence good() {
  DemoEvidence evidence{.plan = make_demo_plan({.workers = 2, .items = 12, .seed = 3})};
  for (const DemoStep& step : evidence.plan.steps) {
    if (step.mishap == Mishap::paused) {
      evidence.history.push_back(past(Op::acquire, step.item, "asleep", "agent:sleeper"));
      evidence.history.push_back(past(Op::auto_evict, step.item, "asleep", "agent:sleeper"));
    }
    evidence.history.push_back(past(Op::acquire, step.item, "of " + step.item, "agent:demo"));
    evidence.history.push_back(past(Op::land, step.item, "of " + step.item, "agent:demo"));
    evidence.landings.push_back({.item = step.item, .lease = "of " + step.item});
  }
  const std::string mistake = evidence.plan.with(Mishap::mistake)->item;
  const std::string killed = evidence.plan.with(Mishap::killed)->item;
  evidence.failures = {{.item = mistake, .why = "the gate test failed with exit code 1"},
                       {.item = killed, .why = "the command ended with exit code 137"}};
  evidence.rescued = {mistake, killed, evidence.plan.with(Mishap::paused)->item};
  evidence.sleeper_exit = 5;
  evidence.check_said = all_right(evidence.plan) + "\n";
  return evidence;
}

std::vector<std::string> violations_in(const DemoEvidence& evidence) {
  std::vector<std::string> all;
  for (const DemoVerdict& verdict : prove(evidence))
    all.insert(all.end(), verdict.violations.begin(), verdict.violations.end());
  return all;
}

using Violations = std::vector<std::string>;

TEST(DemoProof, FindsNothingWhereEverythingWentWell) {
  EXPECT_EQ(violations_in(good()), Violations{});
  EXPECT_EQ(prove(good()).size(), 8U);
}

TEST(DemoProof, SeesAnItemThatDidNotLand) {
  DemoEvidence evidence = good();
  const std::string last = evidence.landings.back().item;
  evidence.landings.pop_back();
  EXPECT_EQ(violations_in(evidence), Violations{last + " landed 0 times"});
}

TEST(DemoProof, SeesAnItemThatLandedTwice) {
  DemoEvidence evidence = good();
  evidence.landings.push_back(evidence.landings.front());
  EXPECT_EQ(violations_in(evidence),
            Violations{evidence.landings.front().item + " landed 2 times"});
}

TEST(DemoProof, SeesAnItemThatStayedOpen) {
  DemoEvidence evidence = good();
  evidence.open_items = {"step-04"};
  EXPECT_EQ(violations_in(evidence), Violations{"step-04 is not done"});
}

TEST(DemoProof, SeesARunThatWasStopped) {
  DemoEvidence evidence = good();
  evidence.run_error = "no item could be taken";
  EXPECT_EQ(violations_in(evidence), Violations{"no item could be taken"});
}

TEST(DemoProof, SeesAnItemThatLandedBeforeWhatItDependsOn) {
  DemoEvidence evidence = good();
  const auto step = std::ranges::find_if(
      evidence.plan.steps, [](const DemoStep& one) { return !one.depends_on.empty(); });
  ASSERT_NE(step, evidence.plan.steps.end());
  const std::string before = evidence.plan.steps[step->depends_on.front()].item;
  const auto landing = std::ranges::find(evidence.landings, before, &DemoLanding::item);
  std::rotate(landing, landing + 1, evidence.landings.end());
  const Violations found = violations_in(evidence);
  EXPECT_NE(std::ranges::find(found, step->item + " landed before " + before), found.end());
}

TEST(DemoProof, SeesTwoHoldersAtOnce) {
  DemoEvidence evidence = good();
  std::erase_if(evidence.history,
                [](const PastEvent& one) { return one.event.op == Op::auto_evict; });
  const std::string item = evidence.plan.with(Mishap::paused)->item;
  EXPECT_EQ(violations_in(evidence),
            Violations{"item:" + item + ": agent:demo got it while agent:sleeper held it"});
}

TEST(DemoProof, SeesALandingUnderALeaseThatWasLost) {
  DemoEvidence evidence = good();
  const std::string item = evidence.plan.with(Mishap::paused)->item;
  std::ranges::find(evidence.landings, item, &DemoLanding::item)->lease = "asleep";
  EXPECT_EQ(violations_in(evidence), Violations{item + " was landed by one who did not hold it"});
}

TEST(DemoProof, SeesAMistakeThatNoGateCaught) {
  DemoEvidence evidence = good();
  evidence.failures.front().why = "it conflicts";
  EXPECT_EQ(violations_in(evidence),
            Violations{"no gate refused " + evidence.failures.front().item});
}

TEST(DemoProof, SeesAKillThatNobodyNoticed) {
  DemoEvidence evidence = good();
  const std::string item = evidence.failures.back().item;
  evidence.failures.pop_back();
  EXPECT_EQ(violations_in(evidence), Violations{"nobody noticed that " + item + " was killed"});
}

TEST(DemoProof, SeesWorkThatWasLost) {
  DemoEvidence evidence = good();
  evidence.rescued.clear();
  EXPECT_EQ(violations_in(evidence).size(), 2U);  // of the killed one and of the sleeper
}

TEST(DemoProof, SeesAZombieThatLanded) {
  DemoEvidence evidence = good();
  evidence.sleeper_exit = 0;
  EXPECT_EQ(violations_in(evidence), Violations{"its `dibs done` ended with exit 0"});
  evidence.sleeper_exit.reset();
  EXPECT_EQ(violations_in(evidence), Violations{"it did not wake up"});
}

TEST(DemoProof, SeesAProgramThatDoesNotWork) {
  DemoEvidence evidence = good();
  evidence.check_said = "step_03 answers 4, not 3\n";
  EXPECT_EQ(violations_in(evidence), Violations{"the check said: step_03 answers 4, not 3"});
}

TEST(DemoProof, SeesWhatIsLeftBehind) {
  DemoEvidence evidence = good();
  evidence.left_behind = {"branch dibs/step-04"};
  EXPECT_EQ(violations_in(evidence), Violations{"branch dibs/step-04"});
}

TEST(DemoProof, OneWorkerThinksAsPlannedAndDoesTheRestAsMeasured) {
  DemoPlan plan{.steps = std::vector<DemoStep>(5), .files = {}};
  for (DemoStep& step : plan.steps) step.think_ms = 1000;
  plan.steps[0].alone = plan.steps[1].alone = true;
  const DemoMeasure alone{.items = 2, .elapsed_ms = 2900, .commands_ms = 2400, .thinking_ms = 2000};
  EXPECT_EQ(one_worker_ms(plan, alone), 500 + 3 * (1000 + 200));
  EXPECT_EQ(one_worker_ms(plan, {}), std::nullopt);
}

}  // namespace
}  // namespace dibs::verbs
