#include "rules/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "testing/order_columns.h"
#include "testing/seeded_random.h"

namespace dibs {
namespace {

using Numbers = std::vector<ItemNumber>;

constexpr std::int64_t kNow = 1'800'000'000'000;
constexpr std::uint64_t kNotTheOldest = 1;  // as chance

/// Ready items and what there is to know about them; counts what is asked.
struct Shelf {
  Columns columns;
  std::map<ItemNumber, Asked> asked;  // others ask for nothing
  std::set<ItemNumber> taken;
  std::set<ItemNumber> overlapping;
  std::vector<Worker> workers{Worker{}};
  std::set<std::pair<ItemNumber, WorkerNumber>> knows_files_of{};
  Schedule schedule;
  Numbers asked_about_overlap{};

  Choice choose_with(std::uint64_t chance) { return choose_among(order_of(columns), chance); }
  Choice choose_best() { return choose_with(kNotTheOldest); }

  Choice choose_among(const Numbers& order, std::uint64_t chance) {
    const Candidates candidates{.order = order,
                                .columns = columns.view(),
                                .is_taken = [&](ItemNumber item) { return taken.contains(item); },
                                .asked =
                                    [&](ItemNumber item, WorkerNumber worker) {
                                      Asked what = asked.contains(item) ? asked[item] : Asked{};
                                      what.same_files = what.same_files ||
                                                        knows_files_of.contains({item, worker});
                                      return what;
                                    },
                                .overlaps = [&](ItemNumber item) -> std::optional<std::string> {
                                  asked_about_overlap.push_back(item);
                                  if (!overlapping.contains(item)) return std::nullopt;
                                  return "src/a";
                                }};
    return choose(candidates, workers, schedule, {.now_unix_ms = kNow, .chance = chance});
  }
};

// `count` items, alike but for their age: the first is the oldest and the best.
Shelf row_of(int count) {
  Shelf shelf;
  for (int item = 0; item < count; ++item) shelf.columns.add(2, 0, 0, kNow + item);
  return shelf;
}

ItemNumber chosen_from(Choice choice) { return choice.chosen ? choice.chosen->item : kNoItem; }

Numbers items_of(std::span<const Scored> scored) {
  Numbers items;
  for (const Scored& one : scored) items.push_back(one.item);
  return items;
}

TEST(Choice, IsNothingWhenNothingIsReady) {
  Shelf empty;
  EXPECT_FALSE(empty.choose_best().chosen);
  EXPECT_FALSE(empty.choose_with(0).chosen);
}

TEST(Choice, IsTheFirstOfTheOrderWithTheNextAsRunnersUp) {
  const Choice choice = row_of(9).choose_best();
  EXPECT_EQ(chosen_from(choice), 0U);
  EXPECT_EQ(choice.as, ChosenAs::best);
  EXPECT_EQ(items_of(choice.runners_up), (Numbers{1, 2, 3, 4, 5}));
}

TEST(Choice, LeavesOutWhatIsTaken) {
  Shelf shelf = row_of(3);
  shelf.taken = {0, 1};
  const Choice choice = shelf.choose_best();
  EXPECT_EQ(chosen_from(choice), 2U);
  EXPECT_TRUE(choice.runners_up.empty());
}

TEST(Choice, OffersNothingThatTheWorkerCannotDo) {
  Shelf shelf = row_of(2);
  shelf.asked[0] = {.needs = {"rust"}};
  EXPECT_EQ(chosen_from(shelf.choose_best()), 1U);
  EXPECT_EQ(chosen_from(shelf.choose_with(0)), 1U);
  shelf.workers[0].profile.capabilities = {"rust"};
  EXPECT_EQ(chosen_from(shelf.choose_best()), 0U);
}

TEST(Choice, PrefersWhatSpeaksForTheWorker) {
  Shelf shelf = row_of(4);
  shelf.asked[2] = {.same_files = true};
  shelf.asked[3] = {.needs = {"rust"}};
  shelf.workers[0].profile.capabilities = {"rust"};
  const Choice choice = shelf.choose_best();
  EXPECT_EQ(chosen_from(choice), 3U);
  EXPECT_EQ(items_of(choice.runners_up), (Numbers{2, 0, 1}));
}

/// One worker that can do Rust, at the usual cost, and one for what asks for nothing.
std::vector<Worker> strong_and_fast() {
  Worker strong;
  strong.profile.capabilities = {"rust"};
  strong.profile.cost_hundredths = 100;
  Worker fast;
  fast.profile.economical = true;
  return {strong, fast};
}
constexpr WorkerNumber kStrong = 0;
constexpr WorkerNumber kFast = 1;

TEST(ChoiceForSeveral, IsThePairThatSuitsBest) {
  Shelf shelf = row_of(2);
  shelf.workers = strong_and_fast();
  shelf.asked[1] = {.needs = {"rust"}};
  const Choice choice = shelf.choose_best();
  ASSERT_EQ(chosen_from(choice), 1U);
  EXPECT_EQ(choice.chosen->worker, kStrong);
  ASSERT_EQ(items_of(choice.runners_up), Numbers{0});
  EXPECT_EQ(choice.runners_up[0].worker, kFast);
  EXPECT_GT(choice.chosen->score.total(), choice.runners_up[0].score.total());
}

TEST(ChoiceForSeveral, PassesOverWhatNoneOfThemCanDo) {
  Shelf shelf = row_of(2);
  shelf.workers = strong_and_fast();
  shelf.asked[0] = {.needs = {"rust", "gpu"}};
  EXPECT_EQ(chosen_from(shelf.choose_best()), 1U);
  EXPECT_EQ(chosen_from(shelf.choose_with(0)), 1U);
  shelf.taken = {1};
  EXPECT_FALSE(shelf.choose_best().chosen);
}

TEST(ChoiceForSeveral, GoesToTheOneWithFreeHands) {
  Shelf shelf = row_of(1);
  shelf.workers = {Worker{}, Worker{}};
  EXPECT_EQ(shelf.choose_best().chosen->worker, 0U);
  shelf.workers[0].held = 1;
  EXPECT_EQ(shelf.choose_best().chosen->worker, 1U);
}

TEST(ChoiceForSeveral, GoesToTheOneThatKnowsTheFiles) {
  Shelf shelf = row_of(2);
  shelf.workers = {Worker{}, Worker{}};
  shelf.knows_files_of = {{1, 1}};
  const Choice choice = shelf.choose_best();
  EXPECT_EQ(chosen_from(choice), 1U);
  EXPECT_EQ(choice.chosen->worker, 1U);
}

TEST(ChoiceForSeveral, KeepsTheOldestForWhomItSuitsBest) {
  Shelf shelf = row_of(3);
  shelf.workers = strong_and_fast();
  const Choice choice = shelf.choose_with(0);
  EXPECT_EQ(choice.as, ChosenAs::oldest);
  EXPECT_EQ(choice.chosen->worker, kFast);
}

TEST(Choice, DoesNotLetCapabilityAndFilesOutweighALevelOfPriority) {
  Shelf shelf;
  shelf.columns.add(1, 0, 0, kNow);
  shelf.columns.add(2, 0, 0, kNow);
  shelf.asked[1] = {.needs = {"rust"}, .same_files = true};
  shelf.workers[0].profile.capabilities = {"rust"};
  EXPECT_EQ(chosen_from(shelf.choose_best()), 0U);
}

TEST(Choice, TakesOffWhatWouldPassTheOrder) {
  Shelf shelf;
  shelf.columns.add(2, 31, 0, kNow);
  shelf.columns.add(2, 30, 1, kNow);  // nearly as much waits, and it is short
  const Choice choice = shelf.choose_best();
  EXPECT_EQ(chosen_from(choice), 0U);
  ASSERT_EQ(choice.runners_up.size(), 1U);
  EXPECT_LT(choice.runners_up[0].score[Factor::order], 0);
  EXPECT_EQ(choice.runners_up[0].score.total(), choice.chosen->score.total());
}

TEST(Choice, WeighsOnlyTheFirstOfALongOrder) {
  Shelf shelf = row_of(kWindow + 2);
  shelf.asked[kWindow] = {.same_files = true};
  EXPECT_EQ(chosen_from(shelf.choose_best()), 0U);
  shelf.taken = {5};
  EXPECT_EQ(chosen_from(shelf.choose_best()), kWindow);
}

TEST(Choice, PassesOverWhatOverlapsAndAsksNoFurther) {
  Shelf shelf = row_of(9);
  shelf.overlapping = {0, 1, 5};
  const Choice choice = shelf.choose_best();
  EXPECT_EQ(chosen_from(choice), 2U);
  EXPECT_FALSE(choice.chosen->overlap);
  EXPECT_EQ(shelf.asked_about_overlap, (Numbers{0, 1, 2}));
  EXPECT_EQ(items_of(choice.runners_up), (Numbers{0, 1, 3, 4, 5}));
  EXPECT_EQ(choice.runners_up[0].overlap, "src/a");
}

TEST(Choice, LooksBeyondItsWindowForWhatDoesNotOverlap) {
  Shelf shelf = row_of(3 * kWindow);
  for (ItemNumber item = 0; item < 2 * kWindow + 7; ++item) shelf.overlapping.insert(item);
  EXPECT_EQ(chosen_from(shelf.choose_best()), 2 * kWindow + 7);
}

TEST(Choice, IsTheBestWithItsWitnessWhenAllOverlap) {
  Shelf shelf = row_of(2 * kWindow);
  for (ItemNumber item = 0; item < 2 * kWindow; ++item) shelf.overlapping.insert(item);
  for (const std::uint64_t chance : {std::uint64_t{0}, kNotTheOldest}) {
    const Choice choice = shelf.choose_with(chance);
    EXPECT_EQ(chosen_from(choice), 0U);
    EXPECT_EQ(choice.as, ChosenAs::best);
    EXPECT_EQ(choice.chosen->overlap, "src/a");
    EXPECT_EQ(choice.runners_up.front().item, 1U);
  }
}

TEST(Choice, IsNothingWhenAllOverlapAndTheyAreNeverGiven) {
  Shelf shelf = row_of(2);
  shelf.overlapping = {0, 1};
  shelf.schedule.overlapping = Overlapping::never;
  const Choice choice = shelf.choose_best();
  EXPECT_FALSE(choice.chosen);
  EXPECT_EQ(items_of(choice.runners_up), (Numbers{0, 1}));
  EXPECT_EQ(choice.runners_up[0].overlap, "src/a");
}

TEST(Choice, GoesToTheOldestOnePickInSixteen) {
  Shelf shelf;
  shelf.columns.add(0, 9, 5, kNow);
  shelf.columns.add(4, 0, 0, kNow - 2);
  shelf.columns.add(4, 0, 0, kNow - 3);
  for (std::uint64_t chance = 0; chance < 48; ++chance) {
    const Choice choice = shelf.choose_with(chance);
    const bool oldest = chance % 16 == 0;
    EXPECT_EQ(chosen_from(choice), oldest ? 2U : 0U);
    EXPECT_EQ(choice.as, oldest ? ChosenAs::oldest : ChosenAs::best);
    EXPECT_EQ(choice.runners_up.front().item, oldest ? 0U : 2U);
  }
  shelf.schedule.oldest_every = 0;
  EXPECT_EQ(chosen_from(shelf.choose_with(0)), 0U);
}

TEST(Choice, TakesTheOldestThatIsFreeAndOverlapsNothing) {
  Shelf shelf = row_of(5);
  shelf.taken = {0};
  shelf.asked[1] = {.needs = {"rust"}};
  shelf.overlapping = {2};
  EXPECT_EQ(chosen_from(shelf.choose_with(0)), 3U);
  EXPECT_EQ(shelf.asked_about_overlap, (Numbers{2, 3}));
}

TEST(ChoiceProperty, KeepsTheOrderExactlyWhenTheWorkerTellsNothingApart) {
  EXPECT_PROPERTY(300, 30, [] {
    Shelf shelf{.columns = any_columns(*any_in<std::size_t>(1, 12))};
    for (std::uint32_t& length : shelf.columns.path_length) length *= *any_in<std::uint32_t>(1, 99);
    shelf.schedule.weights = {.priority = *any_in<std::int64_t>(0, 200),
                              .path = *any_in<std::int64_t>(0, 50),
                              .path_most = *any_in<std::int64_t>(0, 300),
                              .estimate = *any_in<std::int64_t>(0, 50),
                              .age = *any_in<std::int64_t>(0, 50)};
    shelf.workers[0] = {.profile = {.economical = true, .capacity = 3}, .held = 1};
    const Numbers order = order_of(shelf.columns);
    for (const ItemNumber expected : order) {
      RC_ASSERT(chosen_from(shelf.choose_best()) == expected);
      shelf.taken.insert(expected);
    }
  });
}

TEST(ChoiceProperty, IsTheLargestSumAmongWhatIsOfferedAndDoesNotOverlap) {
  EXPECT_PROPERTY(300, 30, [] {
    const auto size = *any_in<ItemNumber>(1, 12);
    Shelf shelf{.columns = any_columns(size)};
    shelf.workers[0] = {.profile = {.capabilities = {"rust"}, .cost_hundredths = 300},
                        .record = {{.type = "bug", .landed = 9, .lost = 1}}};
    for (ItemNumber item = 0; item < size; ++item) {
      if (*any_in(0, 4) == 0) shelf.taken.insert(item);
      if (*any_in(0, 4) == 0) shelf.overlapping.insert(item);
      Asked& asked = shelf.asked[item];
      if (*any_in(0, 2) == 0) asked.type = "bug";
      if (*any_in(0, 2) == 0) asked.needs = {*any_in(0, 2) == 0 ? "rust" : "sql"};
      asked.same_files = *any_in(0, 2) == 0;
    }
    const Choice choice = shelf.choose_best();
    // By hand: the offered in their order, each no higher by itself than the one before.
    std::int64_t ceiling = INT64_MAX;
    std::map<std::tuple<bool, std::int64_t, std::size_t>, ItemNumber> ranking;
    for (const ItemNumber item : order_of(shelf.columns)) {
      const Asked& asked = shelf.asked[item];
      if (shelf.taken.contains(item) || std::ranges::count(asked.needs, "sql") > 0) continue;
      const Score score = score_of({}, shelf.columns.view(), item, kNow, shelf.workers[0], asked);
      ceiling = std::min(ceiling, score.without_worker());
      const std::int64_t sum = ceiling + score.total() - score.without_worker();
      ranking[{shelf.overlapping.contains(item), -sum, ranking.size()}] = item;
    }
    RC_ASSERT(choice.chosen.has_value() == !ranking.empty());
    if (ranking.empty()) return;
    const auto& [rank, item] = *ranking.begin();
    RC_ASSERT(choice.chosen->item == item);
    RC_ASSERT(choice.chosen->score.total() == -std::get<1>(rank));
    RC_ASSERT(choice.chosen->overlap.has_value() == std::get<0>(rank));
  });
}

/// Some items that nobody finds urgent, and with every pick a new one that everybody does.
class Stream {
 public:
  Stream(int patient, std::uint32_t oldest_every) {
    shelf_.schedule.oldest_every = oldest_every;
    for (int item = 0; item < patient; ++item) add(4);
  }

  // How many of the first items are still there after so many picks.
  std::ptrdiff_t left_after(int picks, SeededRandom& random) {
    const auto patient = static_cast<ItemNumber>(ready_.size());
    for (int pick = 0; pick < picks; ++pick) {
      add(0);
      std::erase(ready_, chosen_from(shelf_.choose_among(ready_, random.below(1'000'000))));
    }
    return std::ranges::count_if(ready_, [&](ItemNumber item) { return item < patient; });
  }

 private:
  void add(int priority) {
    const auto item = static_cast<ItemNumber>(shelf_.columns.priority.size());
    shelf_.columns.add(priority, 0, 0, kNow + item);
    ready_.push_back(item);
    std::ranges::sort(ready_, {},
                      [&](ItemNumber one) { return rank_of(shelf_.columns.view(), one); });
  }

  Shelf shelf_;
  Numbers ready_;
};

TEST(ChoiceProperty, LetsNoReadyItemStarve) {
  EXPECT_PROPERTY(10, 30, [] {
    SeededRandom random(*any_in<std::uint64_t>(0, 1'000'000));
    const int patient = *any_in(1, 5);
    // Four times as many turns of the oldest as there are patient items, and thirty: that fewer
    // come up than there are items happens once in more than 10^12 runs.
    const int picks = 16 * (30 + 4 * patient);
    RC_ASSERT(Stream(patient, 16).left_after(picks, random) == 0);
    RC_ASSERT(Stream(patient, 0).left_after(picks, random) == patient);
  });
}

}  // namespace
}  // namespace dibs
