#include "verbs/run_steps.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dibs::verbs {
namespace {

using How = dispatching::LandingEnded::How;

const RunIdentity kWho{
    .run = "run-01", .agent = "agent:a", .pid = 7, .directory = "/repo", .global_words = {}};
constexpr JobNumber kJob{3};
const verbs::Run kOneKind{
    .kinds = {{.command = {"work", "hard"}}}, .limits = {}, .labels = {}, .ttl_secs = {}};

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

ChildEnded ended(int code, std::string out, std::string err = {}) {
  return {.child = {}, .exit_code = code, .out = std::move(out), .err = std::move(err)};
}

TEST(RunSteps, TakeAnItemInASessionOfItsOwn) {
  const verbs::Run request{
      .kinds = {{.command = {"work"}}}, .limits = {}, .labels = {"x"}, .ttl_secs = 60};
  const ChildCall call = prepare_step(kWho, request, {.job = kJob, .except = {"tired"}});
  EXPECT_TRUE(has(call.environment, "DIBS_SESSION=run-01-3"));
  EXPECT_TRUE(has(call.environment, "DIBS_PID=7"));
  EXPECT_TRUE(has(call.environment, "DIBS_RUN_STEP=run-01"));
  EXPECT_TRUE(has(call.command, "tired"));
  EXPECT_TRUE(has(call.command, "x"));
  EXPECT_TRUE(has(call.command, "60"));
  EXPECT_FALSE(has(call.command, "--worker"));
}

const verbs::Run kTwoKinds{.kinds = {{.name = "fast", .command = {"sprint"}, .workers = 3},
                                     {.name = "strong", .command = {"lift"}, .model = "m-1"}},
                           .limits = {},
                           .labels = {},
                           .ttl_secs = {}};

TEST(RunSteps, AskForTheKindsThatHaveRoom) {
  const ChildCall call =
      prepare_step(kWho, kTwoKinds, {.job = kJob, .except = {}, .kinds = {{1}, {0}}});
  const std::vector<std::string> end(call.command.end() - 4, call.command.end());
  EXPECT_EQ(end, (std::vector<std::string>{"--worker", "strong", "--worker", "fast"}));
  EXPECT_EQ(limits_of(kTwoKinds).workers, (std::vector<std::size_t>{3, 1}));
}

TEST(RunSteps, WorkAsTheKindThatAnItemIsFor) {
  const Result<PreparedItem> item = prepared_from(
      kTwoKinds, R"({"item":{"id":"a"},"worker":"strong","agent_id":"agent:a.strong",)"
                 R"("lease_id":"L","path":"/w/a"})");
  ASSERT_TRUE(item);
  EXPECT_EQ(item->kind, KindNumber{1});
  const ChildCall call = command_call(kWho, kTwoKinds, kJob, *item);
  EXPECT_EQ(call.command, std::vector<std::string>{"lift"});
  for (const char* variable : {"DIBS_WORKER=strong", "DIBS_MODEL=m-1",
                               "DIBS_AGENT_ID=agent:a.strong", "DIBS_SESSION=run-01-3"})
    EXPECT_TRUE(has(call.environment, variable)) << variable;
  const dispatching::GiveBack failed{
      .job = kJob, .as = dispatching::GiveBack::As::failed, .why = "no"};
  for (const ChildCall& step :
       {landing_step(kWho, kTwoKinds, kJob, *item), failure_step(kWho, failed, *item, ""),
        give_back_step(kWho, kTwoKinds, failed, *item)})
    EXPECT_TRUE(has(step.environment, "DIBS_AGENT_ID=agent:a.strong"));
}

TEST(RunSteps, RefuseAnAnswerForAKindThatTheRunHasNot) {
  EXPECT_FALSE(prepared_from(kTwoKinds, R"({"item":{"id":"a"},"worker":"other"})"));
  EXPECT_FALSE(prepared_from(kTwoKinds, R"({"item":{"id":"a"}})"));
}

TEST(RunSteps, ReadWhatWasTaken) {
  const Result<PreparedItem> item = prepared_from(
      kOneKind,
      R"({"schema_version":1,"item":{"id":"a","tries":2},"lease_id":"L","fence":5,"ttl_secs":600,)"
      R"("path":"/w/a","work_branch":"dibs/a"})");
  ASSERT_TRUE(item);
  EXPECT_EQ(item->item, "a");
  EXPECT_EQ(item->item_json, R"({"id":"a","tries":2})");
  EXPECT_EQ(item->tries, 2);
  EXPECT_EQ(item->path, "/w/a");
  EXPECT_FALSE(prepared_from(kOneKind, "not JSON"));
  EXPECT_FALSE(prepared_from(kOneKind, "{}"));
}

TEST(RunSteps, TellACommandWhatItWorksOn) {
  const PreparedItem item{.item = "a",
                          .item_json = "{}",
                          .tries = 1,
                          .lease = "L",
                          .fence = 5,
                          .ttl_secs = 600,
                          .path = "/w/a",
                          .branch = "dibs/a",
                          .agent = "agent:a"};
  const ChildCall call = command_call(kWho, kOneKind, kJob, item);
  EXPECT_EQ(call.command, (std::vector<std::string>{"work", "hard"}));
  EXPECT_EQ(call.directory, "/w/a");
  EXPECT_EQ(call.input, "{}\n");
  for (const char* variable : {"DIBS_RUN=run-01", "DIBS_ITEM=a", "DIBS_LEASE=L", "DIBS_FENCE=5",
                               "DIBS_SESSION=run-01-3", "DIBS_WORKTREE=/w/a", "DIBS_BRANCH=dibs/a"})
    EXPECT_TRUE(has(call.environment, variable)) << variable;
}

TEST(RunSteps, ReadHowALandingEnded) {
  EXPECT_EQ(landing_from(kJob, ended(0, R"({"landed_commit":"abc"})")).why, "abc");
  const auto conflict =
      landing_from(kJob, ended(8, "",
                               R"({"warning":"w"})"
                               "\n"
                               R"({"error":{"message":"it conflicts","conflicts":["f"]}})"));
  EXPECT_EQ(conflict.how, How::conflicts);
  EXPECT_EQ(conflict.why, "it conflicts");
  EXPECT_EQ(landing_from(kJob, ended(8, "", R"({"error":{"message":"no"}})")).how, How::refused);
  EXPECT_EQ(landing_from(kJob, ended(5, "", R"({"error":{"message":"gone"}})")).how, How::lost);
  EXPECT_EQ(landing_from(kJob, ended(137, "")).why, "it ended with exit code 137");
}

TEST(RunSteps, HearOfALostLeaseFromTheStreamOfEvents) {
  const auto lost = [](std::string_view line) { return watched_from(kWho, line).lost; };
  EXPECT_EQ(lost(R"({"op":"force-evict","session":"run-01-3"})"), kJob);
  EXPECT_EQ(lost(R"({"op":"auto-evict","session":"run-01-3"})"), kJob);
  EXPECT_FALSE(lost(R"({"op":"release","session":"run-01-3"})"));
  EXPECT_FALSE(lost(R"({"op":"force-evict","session":"run-02-3"})"));
  EXPECT_FALSE(lost(R"({"op":"force-evict","session":"run-01-x"})"));
}

TEST(RunSteps, HearWhatOthersDo) {
  EXPECT_TRUE(watched_from(kWho, R"({"op":"land","session":"human:b"})").by_others);
  EXPECT_FALSE(watched_from(kWho, R"({"op":"land","session":"run-01-3"})").by_others);
  EXPECT_FALSE(watched_from(kWho, "").by_others);
}

TEST(RunSteps, ReadWhichSessionsABeatFound) {
  EXPECT_EQ(beat_from(R"({"schema_version":1,"sessions":["run-01-3"]})"),
            std::vector<std::string>{"run-01-3"});
  EXPECT_TRUE(beat_from("nonsense").empty());
}

}  // namespace
}  // namespace dibs::verbs
