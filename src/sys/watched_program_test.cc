#include "sys/watched_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "testing/temp_directory.h"

namespace dibs {
namespace {

constexpr std::int64_t kLongMs = 60'000;

WatchedCall shell(const std::string& script) {
  return {.command = {"/bin/sh", "-c", script},
          .directory = "/",
          .environment = {"PATH=/usr/bin:/bin", "WHO=me"},
          .most_ms = kLongMs};
}

WatchedEnd run(const WatchedCall& call) {
  const Result<WatchedEnd> end = run_watched(call);
  EXPECT_TRUE(end) << end.error().message;
  return end.value_or(WatchedEnd{});
}

// Whether the process whose number a script wrote down is still there, and no zombie.
bool runs(const std::string& file) {
  std::ifstream in(file);
  std::string pid;
  in >> pid;
  EXPECT_FALSE(pid.empty());
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string word;
  std::string state;
  stat >> word >> word >> state;
  return stat && state != "Z";
}

TEST(WatchedProgram, HearsBothStreamsInTheirOrderAndSaysHowItEnded) {
  const WatchedEnd end = run(shell("echo $WHO; echo err >&2; pwd; cat; exit 3"));
  EXPECT_EQ(end.tail, "me\nerr\n/\n");
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_FALSE(end.succeeded());
  EXPECT_FALSE(end.said_more);
}

TEST(WatchedProgram, KeepsTheLastOfWhatWasSaid) {
  WatchedCall call = shell("seq 1 100000; echo end");
  call.tail_bytes = 10;
  const WatchedEnd end = run(call);
  EXPECT_EQ(end.tail, "00000\nend\n");
  EXPECT_TRUE(end.said_more);
  EXPECT_TRUE(end.succeeded());
}

TEST(WatchedProgram, OneThatTakesTooLongIsEndedPolitelyFirst) {
  WatchedCall call =
      shell("trap 'echo bye; exit 9' TERM; echo begun; while :; do sleep 0.01; done");
  call.most_ms = 300;
  const WatchedEnd end = run(call);
  EXPECT_EQ(end.cut, WatchedEnd::Cut::timed_out);
  // The shell may also say what became of its sleep, which was asked to end with it.
  EXPECT_TRUE(end.tail.starts_with("begun\n") && end.tail.ends_with("bye\n")) << end.tail;
  EXPECT_EQ(end.exit_code, 9);
}

TEST(WatchedProgram, OneThatDoesNotListenIsKilledWithAllThatItStarted) {
  const TempDirectory temp;
  WatchedCall call = shell("trap '' TERM; sleep 1000 & echo $! > " + temp / "pid" + "; sleep 1000");
  call.most_ms = 200;
  call.grace_ms = 100;
  const WatchedEnd end = run(call);
  EXPECT_EQ(end.cut, WatchedEnd::Cut::timed_out);
  EXPECT_EQ(end.exit_code, 128 + SIGKILL);
  for (int i = 0; i < 1000 && runs(temp / "pid"); ++i) ::usleep(10'000);
  EXPECT_FALSE(runs(temp / "pid"));
}

TEST(WatchedProgram, WhatItLeavesRunningGoesWithIt) {
  const TempDirectory temp;
  const WatchedEnd end = run(shell("sleep 1000 & echo $! > " + temp / "pid"));
  EXPECT_TRUE(end.succeeded());
  for (int i = 0; i < 1000 && runs(temp / "pid"); ++i) ::usleep(10'000);
  EXPECT_FALSE(runs(temp / "pid"));
}

TEST(WatchedProgram, GoesOnAsLongAsItMay) {
  WatchedCall call = shell("sleep 1000");
  call.ask_every_ms = 1;
  int asked = 0;
  call.may_go_on = [&] { return ++asked < 5; };
  const WatchedEnd end = run(call);
  EXPECT_EQ(end.cut, WatchedEnd::Cut::stopped);
  EXPECT_EQ(asked, 5);
}

TEST(WatchedProgram, ASignalThatWouldEndUsEndsItFirst) {
  EXPECT_EXIT(
      {
        WatchedCall call =
            shell("kill -TERM $PPID; trap 'exit 1' TERM; while :; do sleep 0.01; done");
        (void)run_watched(call);
        ::_exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(WatchedProgram, SaysSoWhenThereIsNoSuchProgram) {
  WatchedCall call = shell("");
  call.command = {"/nonexistent/program"};
  EXPECT_FALSE(run_watched(call));
}

}  // namespace
}  // namespace dibs
