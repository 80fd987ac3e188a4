#include "rules/dispatch.h"

#include <gtest/gtest.h>

namespace dibs {
namespace {

using dispatching::Action;
using dispatching::Begun;
using dispatching::Changed;
using dispatching::CommandEnded;
using dispatching::GaveBack;
using dispatching::GiveBack;
using dispatching::Interrupted;
using dispatching::Land;
using dispatching::LandingEnded;
using dispatching::LeaseLost;
using dispatching::NothingReady;
using dispatching::Prepare;
using dispatching::Prepared;
using dispatching::PreparingFailed;
using dispatching::StartCommand;
using dispatching::StopCommand;
using dispatching::Woken;
using As = GiveBack::As;
using How = LandingEnded::How;

constexpr JobNumber kFirst{1};
constexpr JobNumber kSecond{2};

template <class T>
std::vector<T> only(const Dispatch::Actions& actions) {
  std::vector<T> chosen;
  for (const Action& action : actions) {
    if (const T* one = std::get_if<T>(&action)) chosen.push_back(*one);
  }
  return chosen;
}

template <class T>
bool has(const Dispatch::Actions& actions) {
  return !only<T>(actions).empty();
}

/// One worker whose first item, "a", is in its slot since 10.
Dispatch with_a_running(DispatchLimits limits = {}) {
  Dispatch dispatch(limits);
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Prepared{.job = kFirst, .item = "a"}, 10);
  return dispatch;
}

TEST(Dispatch, PreparesThenRunsThenLands) {
  Dispatch dispatch({.workers = {1}, .commands_max = {}, .timeout_ms = {}});
  EXPECT_EQ(only<Prepare>(dispatch.on(Begun{}, 0)).at(0).job, kFirst);
  EXPECT_EQ(only<StartCommand>(dispatch.on(Prepared{.job = kFirst, .item = "a"}, 10)).at(0).job,
            kFirst);
  EXPECT_EQ(only<Land>(dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 20)).at(0).job,
            kFirst);
  (void)dispatch.on(LandingEnded{.job = kFirst, .how = How::landed}, 30);
  (void)dispatch.on(NothingReady{}, 31);
  // It began to look before the landing, which may have freed something: it looks once more.
  EXPECT_FALSE(dispatch.is_over());
  (void)dispatch.on(NothingReady{}, 40);
  EXPECT_TRUE(dispatch.is_over());
  EXPECT_EQ(dispatch.totals().landed, 1U);
  EXPECT_EQ(dispatch.totals().busy_ms, 10);
}

TEST(Dispatch, PreparesTheNextWhileTheLastOneLands) {
  Dispatch dispatch = with_a_running();
  const auto actions = dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 20);
  EXPECT_TRUE(has<Land>(actions));
  EXPECT_EQ(only<Prepare>(actions).at(0).job, kSecond);
}

TEST(Dispatch, PreparesAheadOnlyWhereCommandsAreShort) {
  const auto prepares_ahead = [](std::int64_t command_ms) {
    Dispatch dispatch({.workers = {1}, .commands_max = {}, .timeout_ms = {}});
    (void)dispatch.on(Begun{}, 0);
    (void)dispatch.on(Prepared{.job = kFirst, .item = "a"}, 10);
    (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 10 + command_ms);
    return has<Prepare>(dispatch.on(Prepared{.job = kSecond, .item = "b"}, 10 + command_ms + 10));
  };
  EXPECT_TRUE(prepares_ahead(100));
  EXPECT_FALSE(prepares_ahead(10'000));
}

TEST(Dispatch, CountsATryForACommandThatFails) {
  Dispatch dispatch = with_a_running();
  const auto given = only<GiveBack>(dispatch.on(CommandEnded{.job = kFirst, .exit_code = 3}, 20));
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].as, As::failed);
  EXPECT_EQ(given[0].why, "the command ended with exit code 3");
}

TEST(Dispatch, ParksAnItemAtItsLastTry) {
  Dispatch dispatch({.workers = {1}, .commands_max = {}, .tries_max = 3, .timeout_ms = {}});
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Prepared{.job = kFirst, .item = "a", .tries = 2}, 10);
  EXPECT_EQ(only<GiveBack>(dispatch.on(CommandEnded{.job = kFirst, .exit_code = 1}, 20)).at(0).as,
            As::parked);
}

// A source of items may not be able to write tries down; then the run must not go on for ever.
TEST(Dispatch, RemembersTriesThatTheItemDoesNotTell) {
  Dispatch dispatch({.workers = {1}, .commands_max = {}, .tries_max = 2, .timeout_ms = {}});
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Prepared{.job = kFirst, .item = "a"}, 10);
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = 1}, 20);
  (void)dispatch.on(Prepared{.job = kSecond, .item = "a"}, 30);
  (void)dispatch.on(GaveBack{.job = kFirst}, 35);
  EXPECT_EQ(only<GiveBack>(dispatch.on(CommandEnded{.job = kSecond, .exit_code = 1}, 40)).at(0).as,
            As::parked);
}

TEST(Dispatch, ParksAtOnceWhenToldSo) {
  Dispatch dispatch = with_a_running(
      {.workers = {1}, .commands_max = {}, .on_failure = OnFailure::park, .timeout_ms = {}});
  EXPECT_EQ(only<GiveBack>(dispatch.on(CommandEnded{.job = kFirst, .exit_code = 1}, 20)).at(0).as,
            As::parked);
}

TEST(Dispatch, TakesNothingAgainThatItHasParked) {
  Dispatch dispatch = with_a_running(
      {.workers = {1}, .commands_max = {}, .on_failure = OnFailure::park, .timeout_ms = {}});
  const auto actions = dispatch.on(CommandEnded{.job = kFirst, .exit_code = 1}, 20);
  EXPECT_EQ(only<Prepare>(actions).at(0).except, std::vector<std::string>{"a"});
}

TEST(Dispatch, LetsAnItemRestThatWasPutBack) {
  Dispatch dispatch = with_a_running();
  const auto actions = dispatch.on(CommandEnded{.job = kFirst, .exit_code = kPutBackExit}, 20);
  EXPECT_EQ(only<GiveBack>(actions).at(0).as, As::put_back);
  EXPECT_EQ(only<Prepare>(actions).at(0).except, std::vector<std::string>{"a"});
  (void)dispatch.on(GaveBack{.job = kFirst}, 25);
  (void)dispatch.on(NothingReady{}, 30);
  (void)dispatch.on(NothingReady{}, 35);
  EXPECT_FALSE(dispatch.is_over());
  const std::optional<std::int64_t> wake_ms = dispatch.wake_ms();
  ASSERT_EQ(wake_ms, 20 + Dispatch::kFirstPauseMs);
  const auto again = only<Prepare>(dispatch.on(Woken{}, *wake_ms));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(again[0].except.empty());
}

TEST(Dispatch, PutsBackAnItemThatRestsByNow) {
  Dispatch dispatch = with_a_running();
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = kPutBackExit}, 20);
  const auto actions = dispatch.on(Prepared{.job = kSecond, .item = "a"}, 30);
  EXPECT_FALSE(has<StartCommand>(actions));
  EXPECT_EQ(only<GiveBack>(actions).at(0).as, As::put_back);
}

TEST(Dispatch, LeavesAnItemAloneThatWasPutBackTooOften) {
  Dispatch dispatch =
      with_a_running({.workers = {1}, .commands_max = {}, .tries_max = 1, .timeout_ms = {}});
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = kPutBackExit}, 20);
  (void)dispatch.on(GaveBack{.job = kFirst}, 25);
  (void)dispatch.on(NothingReady{}, 30);
  (void)dispatch.on(NothingReady{}, 35);
  EXPECT_TRUE(dispatch.is_over());
}

TEST(Dispatch, AsksACommandThatTakesTooLongToEndAndThenKillsIt) {
  Dispatch dispatch =
      with_a_running({.workers = {1}, .commands_max = {}, .timeout_ms = 2000, .grace_ms = 100});
  EXPECT_EQ(dispatch.wake_ms(), 2010);
  EXPECT_EQ(only<StopCommand>(dispatch.on(Woken{}, 2010)).at(0).force, StopCommand::Force::ask);
  EXPECT_EQ(dispatch.wake_ms(), 2110);
  EXPECT_EQ(only<StopCommand>(dispatch.on(Woken{}, 2110)).at(0).force, StopCommand::Force::kill);
  const auto given =
      only<GiveBack>(dispatch.on(CommandEnded{.job = kFirst, .exit_code = 137}, 2120));
  EXPECT_EQ(given.at(0).as, As::failed);
  EXPECT_EQ(given.at(0).why, "it took longer than 2 s");
}

TEST(Dispatch, StopsACommandWhoseLeaseIsLostAndKeepsItsWork) {
  Dispatch dispatch = with_a_running();
  EXPECT_TRUE(has<StopCommand>(dispatch.on(LeaseLost{.job = kFirst}, 20)));
  const auto actions = dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 30);
  EXPECT_FALSE(has<Land>(actions));
  EXPECT_EQ(only<GiveBack>(actions).at(0).as, As::lost);
}

TEST(Dispatch, CountsWhatDoesNotMergeAsATry) {
  Dispatch dispatch = with_a_running();
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 20);
  const auto actions =
      dispatch.on(LandingEnded{.job = kFirst, .how = How::conflicts, .why = "it conflicts"}, 30);
  EXPECT_EQ(only<GiveBack>(actions).at(0).as, As::failed);
  EXPECT_EQ(dispatch.totals().conflicts, 1U);
}

TEST(Dispatch, LetsCommandsFinishWhenInterruptedOnce) {
  Dispatch dispatch = with_a_running();
  const auto actions = dispatch.on(Interrupted{}, 20);
  EXPECT_FALSE(has<StopCommand>(actions));
  const auto ended = dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 30);
  EXPECT_TRUE(has<Land>(ended));
  EXPECT_FALSE(has<Prepare>(ended));
  (void)dispatch.on(LandingEnded{.job = kFirst}, 40);
  EXPECT_TRUE(dispatch.is_over());
}

TEST(Dispatch, StopsCommandsWhenInterruptedTwiceAndKillsThemTheThirdTime) {
  Dispatch dispatch = with_a_running();
  (void)dispatch.on(Interrupted{}, 20);
  EXPECT_EQ(only<StopCommand>(dispatch.on(Interrupted{}, 30)).at(0).force, StopCommand::Force::ask);
  EXPECT_EQ(only<StopCommand>(dispatch.on(Interrupted{}, 40)).at(0).force,
            StopCommand::Force::kill);
  EXPECT_EQ(only<GiveBack>(dispatch.on(CommandEnded{.job = kFirst, .exit_code = 143}, 50)).at(0).as,
            As::put_back);
}

TEST(Dispatch, PutsBackWhatWaitsForASlotWhenInterrupted) {
  Dispatch dispatch = with_a_running();
  (void)dispatch.on(Prepared{.job = kSecond, .item = "b"}, 12);
  EXPECT_EQ(only<GiveBack>(dispatch.on(Interrupted{}, 20)).at(0).job, kSecond);
}

TEST(Dispatch, KillsOnceHoweverOftenItIsInterrupted) {
  Dispatch dispatch = with_a_running();
  for (int times = 0; times < 3; ++times) (void)dispatch.on(Interrupted{}, 20);
  EXPECT_FALSE(has<StopCommand>(dispatch.on(Interrupted{}, 30)));
}

TEST(Dispatch, PutsBackWhatWasPreparedForNothing) {
  Dispatch dispatch({.workers = {1}, .commands_max = {}, .timeout_ms = {}});
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Interrupted{}, 5);
  const auto actions = dispatch.on(Prepared{.job = kFirst, .item = "a"}, 10);
  EXPECT_FALSE(has<StartCommand>(actions));
  EXPECT_EQ(only<GiveBack>(actions).at(0).as, As::put_back);
}

TEST(Dispatch, StartsNoMoreCommandsThanItMay) {
  Dispatch dispatch = with_a_running({.workers = {4}, .commands_max = 1, .timeout_ms = {}});
  EXPECT_FALSE(has<Prepare>(dispatch.on(Changed{}, 20)));
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 30);
  (void)dispatch.on(LandingEnded{.job = kFirst}, 40);
  EXPECT_TRUE(dispatch.is_over());
}

TEST(Dispatch, GivesUpWhenPreparingFailsAgainAndAgain) {
  Dispatch dispatch({.workers = {1}, .commands_max = {}, .timeout_ms = {}});
  (void)dispatch.on(Begun{}, 0);
  std::int64_t now_ms = 0;
  for (int i = 0; i < Dispatch::kPreparingFailuresMax; ++i) {
    (void)dispatch.on(PreparingFailed{}, now_ms);
    now_ms = dispatch.wake_ms().value_or(now_ms);
    (void)dispatch.on(Woken{}, now_ms);
  }
  EXPECT_TRUE(dispatch.is_over());
  EXPECT_TRUE(dispatch.gave_up());
}

TEST(Dispatch, GivesUpAtOnceWhenPreparingCanNeverSucceed) {
  Dispatch dispatch = with_a_running({.workers = {2}, .commands_max = {}, .timeout_ms = {}});
  (void)dispatch.on(PreparingFailed{.why = PreparingFailed::Why::lasting}, 20);
  EXPECT_TRUE(dispatch.gave_up());
  EXPECT_FALSE(dispatch.is_over());  // what runs may finish
  EXPECT_TRUE(has<Land>(dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 30)));
  (void)dispatch.on(LandingEnded{.job = kFirst}, 40);
  EXPECT_TRUE(dispatch.is_over());
}

constexpr KindNumber kFastKind{0};
constexpr KindNumber kStrongKind{1};
using Kinds = std::vector<KindNumber>;

/// Two workers of one kind and one of another, before anything has happened.
Dispatch with_two_kinds() {
  return Dispatch({.workers = {2, 1}, .commands_max = {}, .timeout_ms = {}});
}

TEST(DispatchOfKinds, AsksForAllThatHaveRoomAtOnce) {
  Dispatch dispatch = with_two_kinds();
  EXPECT_EQ(only<Prepare>(dispatch.on(Begun{}, 0)).at(0).kinds, (Kinds{kFastKind, kStrongKind}));
  const auto actions = dispatch.on(Prepared{.job = kFirst, .item = "a", .kind = kStrongKind}, 10);
  EXPECT_EQ(only<StartCommand>(actions).at(0).slot, 2U);
  EXPECT_EQ(only<Prepare>(actions).at(0).kinds, Kinds{kFastKind});
}

TEST(DispatchOfKinds, KeepsAnItemWaitingForASlotOfItsKind) {
  Dispatch dispatch = with_two_kinds();
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Prepared{.job = kFirst, .item = "a", .kind = kStrongKind}, 10);
  (void)dispatch.on(NothingReady{}, 15);  // for the other kind, whose slots stay free
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 20);
  const auto next = dispatch.on(Prepared{.job = {3}, .item = "b", .kind = kStrongKind}, 30);
  ASSERT_EQ(only<Prepare>(next).at(0).kinds, Kinds{kStrongKind});
  const auto ahead = dispatch.on(Prepared{.job = {4}, .item = "c", .kind = kStrongKind}, 40);
  EXPECT_FALSE(has<StartCommand>(ahead));
  EXPECT_EQ(dispatch.waiting(), 1U);
  const auto ended = dispatch.on(CommandEnded{.job = {3}, .exit_code = 0}, 50);
  EXPECT_EQ(only<StartCommand>(ended).at(0).job, JobNumber{4});
}

TEST(DispatchOfKinds, HearsOfNothingReadyForThoseThatWereAskedAlone) {
  Dispatch dispatch = with_two_kinds();
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Prepared{.job = kFirst, .item = "a", .kind = kStrongKind}, 10);
  EXPECT_FALSE(has<Prepare>(dispatch.on(NothingReady{}, 20)));
  const auto ended = dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 30);
  EXPECT_EQ(only<Prepare>(ended).at(0).kinds, Kinds{kStrongKind});
}

TEST(DispatchOfKinds, EndsWhenNothingIsReadyForAnyOfThem) {
  Dispatch dispatch = with_two_kinds();
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(NothingReady{}, 10);
  EXPECT_TRUE(dispatch.is_over());
}

TEST(DispatchOfKinds, CountsWhatBecameOfItemsByKind) {
  Dispatch dispatch = with_two_kinds();
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Prepared{.job = kFirst, .item = "a", .kind = kStrongKind}, 10);
  (void)dispatch.on(Prepared{.job = kSecond, .item = "b", .kind = kFastKind}, 20);
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 30);
  (void)dispatch.on(CommandEnded{.job = kSecond, .exit_code = 1}, 50);
  (void)dispatch.on(LandingEnded{.job = kFirst}, 60);
  EXPECT_EQ(dispatch.totals_of(kStrongKind).landed, 1U);
  EXPECT_EQ(dispatch.totals_of(kStrongKind).busy_ms, 20);
  EXPECT_EQ(dispatch.totals_of(kFastKind).failed, 1U);
  EXPECT_EQ(dispatch.totals_of(kFastKind).landed, 0U);
  EXPECT_EQ(dispatch.totals().busy_ms, 50);
  EXPECT_EQ(dispatch.totals().commands, 2U);
}

// A kind whose commands are long is not given items ahead because another's are short.
TEST(DispatchOfKinds, PreparesAheadByWhatCommandsOfAKindTake) {
  Dispatch dispatch({.workers = {1, 1}, .commands_max = {}, .timeout_ms = {}});
  (void)dispatch.on(Begun{}, 0);
  (void)dispatch.on(Prepared{.job = kFirst, .item = "a", .kind = kFastKind}, 10);
  (void)dispatch.on(Prepared{.job = kSecond, .item = "b", .kind = kStrongKind}, 20);
  (void)dispatch.on(CommandEnded{.job = kFirst, .exit_code = 0}, 60);
  (void)dispatch.on(Prepared{.job = {3}, .item = "c", .kind = kFastKind}, 70);
  (void)dispatch.on(Prepared{.job = {4}, .item = "d", .kind = kFastKind}, 80);
  const auto ended = dispatch.on(CommandEnded{.job = kSecond, .exit_code = 0}, 10'000);
  EXPECT_EQ(only<Prepare>(ended).at(0).kinds, Kinds{kStrongKind});
  const auto next = dispatch.on(Prepared{.job = {5}, .item = "e", .kind = kStrongKind}, 10'010);
  EXPECT_FALSE(has<Prepare>(next));
}

}  // namespace
}  // namespace dibs
