#include "rules/readiness.h"

#include <gtest/gtest.h>

#include "rules/ready_order.h"
#include "testing/graph_columns.h"
#include "testing/order_columns.h"

namespace dibs {
namespace {

using Kinds = std::vector<StateKind>;

constexpr auto kOpen = StateKind::open;
constexpr auto kDone = StateKind::done;

/// One graph with its states, and what the rules say of it.
struct Scene {
  GraphColumns columns;
  Kinds kinds;
  Cycles circles;

  Scene(const DependencyLists& lists, Kinds states)
      : columns(lists),
        kinds(std::move(states)),
        circles(cycles(columns.graph(), unfinished(kinds))) {}

  [[nodiscard]] std::vector<Readiness> all() const {
    return readiness(columns.graph(), kinds, circles);
  }
  [[nodiscard]] std::vector<Blocker> blockers(ItemNumber item) const {
    return blockers_of(columns.graph(), kinds, circles, item);
  }
};

TEST(Readiness, IsOpenWithAllDependenciesDone) {
  EXPECT_EQ(Scene({{}, {0}}, {kDone, kOpen}).all()[1], Readiness::ready);
  EXPECT_EQ(Scene({{}, {0}}, {kOpen, kOpen}).all()[1], Readiness::waits);
  EXPECT_EQ(Scene({{}, {0}}, {StateKind::active, kOpen}).all()[1], Readiness::waits);
  EXPECT_EQ(Scene({{}, {0}}, {StateKind::waiting, kOpen}).all()[1], Readiness::waits);
}

TEST(Readiness, IsNotForWhatIsNotOpen) {
  for (const StateKind kind :
       {StateKind::active, StateKind::waiting, StateKind::done, StateKind::dropped}) {
    EXPECT_EQ(Scene({{}}, {kind}).all()[0], Readiness::not_open);
  }
}

TEST(Readiness, TellsWhatNeedsAHandBeforeWhatTimeSettles) {
  const Kinds kinds{kOpen, StateKind::dropped, kOpen};
  EXPECT_EQ(Scene({{}, {}, {0, 1}}, kinds).all()[2], Readiness::dependency_dropped);
  EXPECT_EQ(Scene({{}, {}, {0, 1, kNoItem}}, kinds).all()[2], Readiness::dependency_missing);
  EXPECT_EQ(Scene({{}, {}, {kNoItem, 2}}, kinds).all()[2], Readiness::in_cycle);
}

TEST(Readiness, IsDeniedToTheMembersOfACycleOnly) {
  // 0 ↔ 1; 2 waits for it; it waits for 3.
  const Scene scene({{1, 3}, {0}, {0}, {}}, Kinds(4, kOpen));
  EXPECT_EQ(scene.all(), (std::vector{Readiness::in_cycle, Readiness::in_cycle, Readiness::waits,
                                      Readiness::ready}));
}

TEST(Readiness, ComesBackWhenOneOfACycleIsDone) {
  EXPECT_EQ(Scene({{1}, {0}}, {kOpen, kDone}).all()[0], Readiness::ready);
}

TEST(Blockers, AreTheDependenciesInTheirOrderEachWithItsReason) {
  const Scene scene({{1, 2, 3, kNoItem, 4}, {0}, {}, {}, {}},
                    {kOpen, kOpen, kDone, StateKind::dropped, StateKind::active});
  EXPECT_EQ(scene.blockers(0),
            (std::vector<Blocker>{
                {.place = 0, .dependency = 1, .why = Readiness::in_cycle},
                {.place = 2, .dependency = 3, .why = Readiness::dependency_dropped},
                {.place = 3, .dependency = kNoItem, .why = Readiness::dependency_missing},
                {.place = 4, .dependency = 4, .why = Readiness::waits}}));
  EXPECT_TRUE(scene.blockers(2).empty());
}

Kinds any_kinds(std::size_t size) {
  Kinds kinds(size);
  for (StateKind& kind : kinds) {
    const auto drawn = *any_in<int>(0, 8);  // open half of the time
    kind = drawn > 4 ? kOpen : static_cast<StateKind>(drawn);
  }
  return kinds;
}

TEST(ReadinessProperty, IsWhatItsDefinitionSays) {
  EXPECT_PROPERTY(500, 30, [] {
    const DependencyLists lists = any_dependencies();
    const Scene scene(lists, any_kinds(lists.size()));
    const Distances distances(lists, unfinished(scene.kinds));
    const std::vector<Readiness> all = scene.all();
    for (ItemNumber item = 0; item < lists.size(); ++item) {
      const bool open = scene.kinds[item] == kOpen;
      const bool satisfied = std::ranges::all_of(lists[item], [&](ItemNumber needed) {
        return needed < lists.size() && scene.kinds[needed] == kDone;
      });
      RC_ASSERT((all[item] == Readiness::ready) == (open && satisfied));
      RC_ASSERT((all[item] == Readiness::not_open) == !open);
      RC_ASSERT((all[item] == Readiness::in_cycle) == (open && distances.leads(item, item)));
      RC_ASSERT(scene.blockers(item).empty() == satisfied);
    }
  });
}

TEST(ReadyOrder, GoesByPriorityThenPathThenEstimateThenAgeThenNumber) {
  Columns columns;
  columns.add(1, 9, 5, 10);
  columns.add(0, 1, 0, 90);  // unknown estimates come last
  columns.add(0, 1, 30, 80);
  columns.add(0, 1, 30, 70);
  columns.add(0, 2, 60, 99);
  columns.add(0, 1, 30, 70);
  columns.add(0, 1, 1, 99);
  EXPECT_EQ(order_of(columns), (std::vector<ItemNumber>{4, 6, 3, 5, 2, 1, 0}));
}

TEST(ReadyOrder, HoldsAtTheEndsOfEveryColumn) {
  Columns columns;
  columns.add(255, 0xffffffff, 1, -5);
  columns.add(254, 0, 0xffffffff, 5);
  columns.add(254, 0, 0, 5);
  columns.add(254, 0xffffffff, 0, 5);
  EXPECT_EQ(order_of(columns), (std::vector<ItemNumber>{3, 1, 2, 0}));
}

TEST(ReadyOrder, HasReadyItemsOnly) {
  Columns columns;
  for (int item = 0; item < 3; ++item) columns.add(2, 0, 0, item);
  const std::vector states{Readiness::waits, Readiness::ready, Readiness::not_open};
  EXPECT_EQ(best(states, columns.view(), 10), std::vector<ItemNumber>{1});
}

// Whether `one` comes before `other`, as the rule is told to people.
bool comes_first(const Columns& columns, ItemNumber one, ItemNumber other) {
  if (columns.priority[one] != columns.priority[other])
    return columns.priority[one] < columns.priority[other];
  if (columns.path_length[one] != columns.path_length[other])
    return columns.path_length[one] > columns.path_length[other];
  const std::uint32_t mine = columns.estimate_min[one];
  const std::uint32_t others = columns.estimate_min[other];
  if (mine != others) return others == 0 || (mine != 0 && mine < others);
  if (columns.created_unix_ms[one] != columns.created_unix_ms[other])
    return columns.created_unix_ms[one] < columns.created_unix_ms[other];
  return one < other;
}

TEST(ReadyOrderProperty, IsTheRuleAndItsBeginningIsTheBest) {
  EXPECT_PROPERTY(300, 30, [] {
    const auto size = *any_in<std::size_t>(0, 30);
    const Columns columns = any_columns(size);
    const std::vector<ItemNumber> order = order_of(columns);
    RC_ASSERT(order.size() == size);
    for (std::size_t at = 1; at < size; ++at) {
      RC_ASSERT(comes_first(columns, order[at - 1], order[at]));
    }
    const auto limit = *any_in<std::size_t>(0, 40);
    const std::vector<Readiness> ready(size, Readiness::ready);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(limit, size));
    RC_ASSERT(best(ready, columns.view(), limit) == std::vector<ItemNumber>(order.begin(), end));
  });
}

}  // namespace
}  // namespace dibs
