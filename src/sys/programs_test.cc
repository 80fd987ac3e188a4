// Real programs, run to their end or cut short.
#include "sys/programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

class ProgramsTest : public testing::Test {
 protected:
  // A reader that goes away must show as an error, not kill us; as main has it.
  ProgramsTest() { std::signal(SIGPIPE, SIG_IGN); }

  Result<ProgramEnd> sh(const std::string& script, std::string_view input = {},
                        std::int64_t most_ms = 60'000, std::size_t most_output = 1UL << 24U) {
    return programs_.run({.command = {"sh", "-c", script},
                          .directory = "/",
                          .input = input,
                          .environment = {"PATH=/usr/bin:/bin", "GIVEN=yes"},
                          .most_ms = most_ms,
                          .most_output = most_output});
  }

  PosixPrograms programs_;
};

TEST_F(ProgramsTest, TellWhatWasSaidAndHowItEnded) {
  const Result<ProgramEnd> end = sh("pwd; echo oops >&2; exit 3");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->out, "/\n");
  EXPECT_EQ(end->err, "oops\n");
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_FALSE(end->succeeded());
  EXPECT_EQ(sh("kill -9 $$")->exit_code, 128 + SIGKILL);
}

TEST_F(ProgramsTest, GetTheEnvironmentTheyAreGivenAndNoOther) {
  EXPECT_EQ(sh("echo $GIVEN$HOME$USER")->out, "yes\n");
}

TEST_F(ProgramsTest, TakeMoreInputThanAPipeHolds) {
  std::string input(3'000'000, 'x');
  for (std::size_t i = 0; i < input.size(); i += 101) input[i] = '\n';
  const Result<ProgramEnd> end = sh("cat; cat >&2", input);
  ASSERT_TRUE(end->succeeded());
  EXPECT_EQ(end->out, input);
}

TEST_F(ProgramsTest, AreStartedBeforeTheirInputIsLookedFor) {
  const TempDirectory temp;
  const std::string mark = temp / "started";
  ProgramCall call{.command = {"sh", "-c", "touch " + mark + "; cat"},
                   .directory = "/",
                   .input = {},
                   .environment = {"PATH=/usr/bin:/bin"}};
  call.later_input = [&] {
    // Another one runs meanwhile, and must not hold on to this one's pipes.
    return sh("while ! test -e " + mark + "; do sleep 0.01; done; echo found")->out;
  };
  const Result<ProgramEnd> end = programs_.run(call);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->out, "found\n");
}

TEST_F(ProgramsTest, MayLeaveTheirInputUnread) {
  EXPECT_TRUE(sh("exit 0", std::string(3'000'000, 'x'))->succeeded());
}

TEST_F(ProgramsTest, DieWhenAPipeIsClosedAsTheyWouldWithoutUs) {
  EXPECT_EQ(sh("yes | head -1")->out, "y\n");
}

TEST_F(ProgramsTest, AreCutWhenTheyTakeTooLongWithAllTheyStarted) {
  const Result<ProgramEnd> end = sh("sleep 1000 & echo $!; wait", {}, 200);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cut, ProgramEnd::Cut::timed_out);
  EXPECT_FALSE(end->succeeded());
  const auto child = parse_unsigned(trim(end->out));
  ASSERT_TRUE(child);
  // Gone, or a zombie that nobody has waited for yet; a signal takes a moment to arrive.
  const Result<ProgramEnd> state =
      sh("for i in $(seq 200); do"
         "  state=$(cut -d ' ' -f 3 /proc/" +
         std::to_string(*child) +
         "/stat 2>/dev/null || echo Z)"
         "  && [ $state = Z ] && break; sleep 0.05;"
         "done; echo $state");
  EXPECT_EQ(trim(state->out), "Z");
}

TEST_F(ProgramsTest, AreCutWhenTheySayTooMuch) {
  const Result<ProgramEnd> end = sh("yes", {}, 60'000, 100'000);
  EXPECT_EQ(end->cut, ProgramEnd::Cut::said_too_much);
  EXPECT_LT(end->out.size(), 1'000'000U);
}

TEST_F(ProgramsTest, AreKilledWhenTheyWriteMoreThanTheyMay) {
  const TempDirectory temp;
  // Our end of its input closes only when all is set up.
  const auto writing = [&](const std::string& bytes) {
    return programs_.run({.command = {"sh", "-c", "cat; head -c " + bytes + " /dev/zero >file"},
                          .directory = temp.path(),
                          .environment = {"PATH=/usr/bin:/bin"},
                          .most_file_bytes = 1000});
  };
  EXPECT_TRUE(writing("1000")->succeeded());
  EXPECT_FALSE(writing("1001")->succeeded());
  EXPECT_EQ(read_bytes(temp / "file").size(), 1000U);
}

TEST_F(ProgramsTest, AreHeardWhileTheyTalkAndNothingIsKept) {
  std::size_t taken = 0;
  const Result<ProgramEnd> end =
      programs_.run({.command = {"sh", "-c", "head -c 3000000 /dev/zero; printf rest"},
                     .directory = "/",
                     .input = {},
                     .environment = {"PATH=/usr/bin:/bin"},
                     .most_output = 1UL << 20U,
                     .heard = [&](std::string& out) {
                       taken += out.size() - std::min<std::size_t>(out.size(), 4);
                       out.erase(0, out.size() - std::min<std::size_t>(out.size(), 4));
                     }});
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->succeeded()) << "what was taken does not count as too much";
  EXPECT_EQ(taken, 3'000'000U);
  EXPECT_EQ(end->out, "rest");
}

TEST_F(ProgramsTest, HaveNoTerminalToAsk) { EXPECT_NE(sh("exec 3</dev/tty")->exit_code, 0); }

TEST_F(ProgramsTest, ThatAreNotThereAreAnError) {
  const Result<ProgramEnd> end = programs_.run(
      {.command = {"no-such-program-anywhere"}, .directory = "/", .input = {}, .environment = {}});
  ASSERT_FALSE(end);
  EXPECT_TRUE(contains(end.error().message, "no-such-program-anywhere"));
}

}  // namespace
}  // namespace dibs
