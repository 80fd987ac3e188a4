#include "model/workflow.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace dibs {
namespace {

Item item_in(std::string state) {
  Item item;
  item.id = {"a"};
  item.title = "A";
  item.state = std::move(state);
  return item;
}

TEST(Workflow, ShowsBacklogReadyAndInProgressByWhatIsSo) {
  const Workflow& standard = Workflow::standard();
  EXPECT_EQ(standard.shown("", {}), "ready");
  EXPECT_EQ(standard.shown("ready", {.blocked = true}), "backlog");
  EXPECT_EQ(standard.shown("ready", {.held = true}), "in_progress");
  EXPECT_EQ(standard.shown("ready", {.blocked = true, .held = true}), "in_progress");
  EXPECT_EQ(standard.shown("done", {.blocked = true, .held = true}), "done");
}

TEST(Workflow, ListsTheLegalMovesWhenItRefusesOne) {
  const Result<Item> moved = Workflow::standard().moved(item_in("done"), "in_review");
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().kind, ErrorKind::refused);
  EXPECT_EQ(moved.error().message, "a is done and cannot become in_review");
  EXPECT_EQ(moved.error().hint, "from done it can go to: ready");
}

TEST(Workflow, LetsNobodySayBacklogBecauseThatFollowsFromDependencies) {
  EXPECT_FALSE(Workflow::standard().moved(item_in("ready"), "backlog"));
}

TEST(Workflow, BringsBackWhatWaitedToWhereItWas) {
  const Workflow& standard = Workflow::standard();
  const Result<Item> waiting = standard.moved(item_in("in_review"), "pending");
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->came_from, "in_review");
  EXPECT_FALSE(standard.moved(*waiting, "ready"));
  const Result<Item> back = standard.moved(*waiting, "in_review");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->came_from, "");
}

TEST(Workflow, CountsTriesAnewForWhatSomebodyTookUpAgainOrFinished) {
  const Workflow& standard = Workflow::standard();
  Item tried = item_in("ready");
  tried.tries = 3;
  const Result<Item> waiting = standard.moved(tried, "pending");
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->tries, 3);
  EXPECT_EQ(standard.moved(*waiting, "ready")->tries, 0);
  EXPECT_EQ(standard.moved(tried, "in_review")->tries, 3);
  EXPECT_EQ(standard.moved(tried, "done")->tries, 0);
}

TEST(Workflow, TakesAnUnknownStateForNothingThatCanBeTaken) {
  const Workflow& standard = Workflow::standard();
  EXPECT_EQ(standard.kind_of("Postponed"), StateKind::waiting);
  EXPECT_TRUE(standard.moved(item_in("Postponed"), "ready"));
  EXPECT_FALSE(standard.moved(item_in("Postponed"), "done"));
}

TEST(Workflow, OfFoldersGoesFromNewToProduction) {
  Item item = item_in("new");
  for (const std::string_view next :
       {"stamped", "next", "inanalysis", "readyfordevelopment", "indevelopment", "readyfortesting",
        "intesting", "signedoff", "archive/production"}) {
    const Result<Item> moved = Workflow::folders().moved(item, next);
    ASSERT_TRUE(moved) << next;
    item = *moved;
  }
  EXPECT_EQ(Workflow::folders().find("readyfordevelopment")->claim, "indevelopment");
  EXPECT_EQ(Workflow::folders().find("new")->claim, "stamp");
}

TEST(Workflow, EveryStateButTheLastOfFoldersCanWaitForAnAnswer) {
  for (const WorkState& state : Workflow::folders().states()) {
    if (state.kind == StateKind::done || state.kind == StateKind::waiting) continue;
    EXPECT_TRUE(Workflow::folders().moved(item_in(state.name), "pending")) << state.name;
  }
}

TEST(Workflow, SaysWhatBecomesOfWorkThatLands) {
  EXPECT_EQ(Workflow::standard().landed_from(""), "done");
  EXPECT_EQ(Workflow::standard().landed_from("in_review"), "done");
  EXPECT_EQ(Workflow::folders().landed_from("readyfordevelopment"), "readyfortesting");
  for (const WorkState& state : Workflow::folders().states()) {
    if (state.kind == StateKind::done || state.kind == StateKind::waiting) continue;
    EXPECT_TRUE(Workflow::folders().moved(item_in(state.name), state.lands_as)) << state.name;
  }
}

constexpr std::string_view kSmall = R"(initial = "todo"
[[state]]
name = "todo"
kind = "open"
to = ["over"]
[[state]]
name = "over"
kind = "done"
)";

TEST(Workflow, ComesFromAFile) {
  const Result<Workflow> workflow = Workflow::parse(kSmall, "workflow.toml");
  ASSERT_TRUE(workflow) << workflow.error().message;
  EXPECT_EQ(workflow->initial(), "todo");
  EXPECT_EQ(workflow->first_of(StateKind::done), "over");
  EXPECT_EQ(Workflow::parse("preset = \"folders\"", "w")->initial(), "new");
}

std::string problem_in(const std::string& toml) {
  const Result<Workflow> workflow = Workflow::parse(toml, "workflow.toml");
  return workflow ? "none" : workflow.error().message;
}

TEST(Workflow, TakesForAClaimOnlyWhatCanBeginABranch) {
  const auto with_claim = [](const std::string& claim) {
    return problem_in(std::string(kSmall) + "claim = \"" + claim + "\"\n");
  };
  EXPECT_EQ(with_claim("in_development-2"), "none");
  for (const char* claim : {"in dev", "-x", "a/b", "a..b", "x~", "é"})
    EXPECT_NE(with_claim(claim).find("cannot begin a branch's name"), std::string::npos) << claim;
}

TEST(Workflow, NamesTheLineOfAMistake) {
  const std::string small(kSmall);
  EXPECT_EQ(problem_in(small + "color = \"red\"\n"), "workflow.toml:9: there is no 'color' here");
  EXPECT_EQ(problem_in(small + "[[state]]\nname = \"x\"\nkind = \"odd\"\n"),
            "workflow.toml:9: kind must be open, active, waiting, done or dropped");
  EXPECT_EQ(problem_in(small + "to = [\"nowhere\"]\n"),
            "workflow.toml: the state 'over' names 'nowhere', which is none");
  EXPECT_EQ(problem_in("initial = \"x\"\n"), "workflow.toml:1: it has no [[state]] and no preset");
  EXPECT_EQ(problem_in("preset = \"other\"\n"),
            "workflow.toml:1: preset must be standard or folders");
  EXPECT_TRUE(contains(problem_in("preset = \n"), "workflow.toml:1: "));
}

}  // namespace
}  // namespace dibs
