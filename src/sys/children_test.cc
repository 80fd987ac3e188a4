#include "sys/children.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "sys/processes.h"

namespace dibs {
namespace {

constexpr int kWaitsMax = 100'000;  // a child that talks much ends a wait with every word

/// How a child ended, with whatever else was heard until then.
ChildEnded end_of(Children& children, ChildId child) {
  for (int i = 0; i < kWaitsMax; ++i) {
    for (ChildNews& news : children.wait(100)) {
      if (auto* ended = std::get_if<ChildEnded>(&news); ended && ended->child == child)
        return std::move(*ended);
    }
  }
  ADD_FAILURE() << "it did not end";
  return {};
}

ChildId start_shell(Children& children, const std::string& script, ChildCall call = {}) {
  call.command = {"sh", "-c", script};
  if (call.directory.empty()) call.directory = "/";
  const Result<ChildId> id = children.start(call);
  EXPECT_TRUE(id) << (id ? "" : id.error().message);
  return id.value_or(ChildId{});
}

// Waits until it has said so much.
void hear(Children& children, ChildId child, std::string_view text) {
  for (int i = 0; i < kWaitsMax && children.out(child).find(text) == std::string_view::npos; ++i)
    (void)children.wait(100);
}

bool comes_true(Children& children, const std::function<bool()>& condition) {
  for (int i = 0; i < kWaitsMax; ++i) {
    if (condition()) return true;
    (void)children.wait(100);
  }
  return false;
}

TEST(Children, TellWhatAChildSaidAndHowItEnded) {
  Result<Children> children = Children::make();
  ASSERT_TRUE(children);
  const ChildId id = start_shell(*children, "cat; echo oh >&2; exit 7",
                                 {.command = {}, .directory = {}, .input = "given\n"});
  const ChildEnded ended = end_of(*children, id);
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.out, "given\noh\n");
}

TEST(Children, TellErrorsFromOutputWhenAsked) {
  Result<Children> children = Children::make();
  const ChildId id =
      start_shell(*children, "echo one; echo two >&2",
                  {.command = {}, .directory = {}, .streams = ChildCall::Streams::apart});
  const ChildEnded ended = end_of(*children, id);
  EXPECT_EQ(ended.out, "one\n");
  EXPECT_EQ(ended.err, "two\n");
}

TEST(Children, KeepTheEndOfWhatAChildSaysAndNoMore) {
  Result<Children> children = Children::make();
  const ChildId id =
      start_shell(*children, "seq 1 200000", {.command = {}, .directory = {}, .kept = 1000});
  const ChildEnded ended = end_of(*children, id);
  EXPECT_EQ(ended.out.size(), 1000U);
  EXPECT_TRUE(ended.out.ends_with("199999\n200000\n"));
}

TEST(Children, ChangeTheEnvironmentTheyInherit) {
  Result<Children> children = Children::make();
  ::setenv("DIBS_TEST_GONE", "1", 1);
  const ChildId id = start_shell(
      *children, "echo \"$DIBS_TEST_NEW-$DIBS_TEST_GONE\"",
      {.command = {}, .directory = {}, .environment = {"DIBS_TEST_NEW=here", "DIBS_TEST_GONE"}});
  EXPECT_EQ(end_of(*children, id).out, "here-\n");
}

TEST(Children, SayWhatCannotBeStarted) {
  Result<Children> children = Children::make();
  const Result<ChildId> id = children->start({.command = {"/no/such/program"}, .directory = "/"});
  ASSERT_FALSE(id);
  EXPECT_NE(id.error().message.find("/no/such/program"), std::string::npos);
}

TEST(Children, StopAWholeGroup) {
  Result<Children> children = Children::make();
  const std::string mark = "DIBS_TEST_GROUP=" + std::to_string(::getpid());
  const ChildId id = start_shell(*children, "sleep 1000 & sleep 1000 & echo up; wait",
                                 {.command = {}, .directory = {}, .environment = {mark}});
  hear(*children, id, "up\n");
  // One that is just becoming another program has no environment for a moment.
  EXPECT_TRUE(comes_true(*children, [&] { return processes_with(mark).size() == 3; }));
  children->stop(id, Children::Force::ask);
  EXPECT_EQ(end_of(*children, id).exit_code, 128 + SIGTERM);
  EXPECT_TRUE(comes_true(*children, [&] { return processes_with(mark).empty(); }));
}

TEST(Children, KillWhatIsDeafToBeingAsked) {
  Result<Children> children = Children::make();
  const ChildId id =
      start_shell(*children, "trap '' TERM; echo up; while true; do sleep 0.1; done");
  hear(*children, id, "up\n");
  children->stop(id, Children::Force::ask);
  children->stop(id, Children::Force::kill);
  EXPECT_EQ(end_of(*children, id).exit_code, 128 + SIGKILL);
}

TEST(Children, LeaveNothingOfAGroupWhoseLeaderEnded) {
  Result<Children> children = Children::make();
  const std::string mark = "DIBS_TEST_LEFT=" + std::to_string(::getpid());
  const ChildId id = start_shell(*children, "sleep 1000 & echo up",
                                 {.command = {}, .directory = {}, .environment = {mark}});
  EXPECT_EQ(end_of(*children, id).exit_code, 0);
  EXPECT_TRUE(comes_true(*children, [&] { return processes_with(mark).empty(); }));
}

TEST(Children, FindWhatLeftItsGroup) {
  Result<Children> children = Children::make();
  const std::string mark = "DIBS_TEST_AWAY=" + std::to_string(::getpid());
  const ChildId id =
      start_shell(*children, "setsid sleep 1000 </dev/null >/dev/null 2>&1 & sleep 0.3",
                  {.command = {}, .directory = {}, .environment = {mark}});
  EXPECT_EQ(end_of(*children, id).exit_code, 0);
  EXPECT_EQ(processes_with(mark).size(), 1U);
  children->kill_adopted("DIBS_TEST_AWAY=other");
  EXPECT_EQ(processes_with(mark).size(), 1U);
  children->kill_adopted(mark);
  EXPECT_TRUE(comes_true(*children, [&] { return processes_with(mark).empty(); }));
}

// As when a run first clears up after one that was killed.
TEST(Children, FindWhatLeftItsGroupAlsoAfterOthersHaveComeAndGone) {
  Result<Children> children = Children::make();
  {
    const Result<Children> others = Children::make();
  }
  const std::string mark = "DIBS_TEST_LATER=" + std::to_string(::getpid());
  const ChildId id =
      start_shell(*children, "setsid sleep 1000 </dev/null >/dev/null 2>&1 & sleep 0.3",
                  {.command = {}, .directory = {}, .environment = {mark}});
  EXPECT_EQ(end_of(*children, id).exit_code, 0);
  EXPECT_EQ(own_children(), processes_with(mark));
  (void)end_processes_with(mark);
}

TEST(Children, LeaveNothingBehindWhenTheyGo) {
  const std::string mark = "DIBS_TEST_END=" + std::to_string(::getpid());
  {
    Result<Children> children = Children::make();
    const ChildId id = start_shell(*children, "setsid sleep 1000 & sleep 1000 & echo up; wait",
                                   {.command = {}, .directory = {}, .environment = {mark}});
    hear(*children, id, "up\n");
  }
  EXPECT_TRUE(processes_with(mark).empty());
}

TEST(Children, HearWhatAPersonAsksFor) {
  Result<Children> children = Children::make();
  ::raise(SIGINT);
  ::raise(SIGTERM);
  const std::vector<ChildNews> news = children->wait(1000);
  ASSERT_EQ(news.size(), 2U);
  EXPECT_EQ(std::get<AskedBySignal>(news[0]), AskedBySignal::to_end);
  EXPECT_EQ(std::get<AskedBySignal>(news[1]), AskedBySignal::to_end_now);
}

// A terminal signals all of our group, and a child is part of it until it has left.
TEST(Children, HearNothingOfWhatIsTypedAtOurTerminal) {
  constexpr int kChildren = 200;
  ::setpgid(0, 0);  // whoever started us is not to be interrupted
  Result<Children> children = Children::make();
  ASSERT_TRUE(children);
  std::atomic<bool> over = false;
  std::thread terminal([&] {
    while (!over) ::kill(0, SIGINT);
  });
  for (int i = 0; i < kChildren && !testing::Test::HasFailure(); ++i) {
    const ChildId id = start_shell(*children, "exit 0");
    EXPECT_EQ(end_of(*children, id).exit_code, 0);
  }
  over = true;
  terminal.join();
  (void)children->wait(0);  // what was typed last would be for us when they go
}

TEST(Processes, AreEndedByWhatStandsInTheirEnvironment) {
  Result<Children> children = Children::make();
  const std::string mark = "DIBS_TEST_FOUND=" + std::to_string(::getpid());
  const ChildId id = start_shell(*children, "trap '' TERM; echo up; while true; do sleep 0.1; done",
                                 {.command = {}, .directory = {}, .environment = {mark}});
  hear(*children, id, "up\n");
  EXPECT_GE(end_processes_with(mark), 1U);
  EXPECT_EQ(end_of(*children, id).exit_code, 128 + SIGKILL);
}

}  // namespace
}  // namespace dibs
