#include "rules/dependency_graph.h"

#include <gtest/gtest.h>

#include "rules/cycles.h"
#include "rules/path_lengths.h"
#include "testing/graph_columns.h"

namespace dibs {
namespace {

using Numbers = std::vector<ItemNumber>;

std::vector<std::uint8_t> all_of(const DependencyLists& lists) {
  return std::vector<std::uint8_t>(lists.size(), 1);
}

Cycles cycles_in(const DependencyLists& lists) { return cycles(GraphColumns(lists).graph()); }

std::vector<std::uint32_t> lengths_in(const DependencyLists& lists) {
  return path_lengths(GraphColumns(lists).graph(), all_of(lists));
}

// 0 ← 1 ← 2 …, each depending on the one before.
DependencyLists chain(ItemNumber length) {
  DependencyLists lists(length);
  for (ItemNumber item = 1; item < length; ++item) lists[item] = {item - 1};
  return lists;
}

constexpr ItemNumber kDeep = 150'000;

TEST(Cycles, AreNoneInADag) {
  const Cycles found = cycles_in({{}, {0}, {0, 1}, {kNoItem}});
  EXPECT_TRUE(found.all.empty());
  EXPECT_FALSE(found.has(2));
}

TEST(Cycles, AreListedAlongTheirEdges) {
  const Cycles found = cycles_in({{3}, {}, {0, 1}, {2}});
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].members, (Numbers{0, 3, 2}));
  EXPECT_EQ(found.all[0].ring, 3U);
}

TEST(Cycles, CountAnItemThatDependsOnItself) {
  const Cycles found = cycles_in({{}, {1}});
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].members, Numbers{1});
  EXPECT_EQ(found.all[0].ring, 1U);
}

TEST(Cycles, AreAllFoundAndKeptApart) {
  const Cycles found = cycles_in({{1}, {0, 3}, {}, {4, 2}, {3}});
  ASSERT_EQ(found.all.size(), 2U);
  EXPECT_EQ(found.all[0].members, (Numbers{0, 1}));
  EXPECT_EQ(found.all[1].members, (Numbers{3, 4}));
  EXPECT_TRUE(found.share(0, 1));
  EXPECT_FALSE(found.share(1, 3));
  EXPECT_FALSE(found.has(2));
}

TEST(Cycles, ShowTheSmallestRingFirstAndTheOtherMembersAfterIt) {
  // 0 → 2 → 0, and the longer way 0 → 3 → 1 → 0.
  const Cycles found = cycles_in({{3, 2}, {0}, {0}, {1}});
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].members, (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(found.all[0].ring, 2U);
}

TEST(Cycles, OfAnyDepthAreFound) {
  DependencyLists lists = chain(kDeep);
  lists[0] = {kDeep - 1};
  const Cycles found = cycles_in(lists);
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].ring, kDeep);
}

TEST(CyclesProperty, AreTheSetsOfItemsThatLeadToOneAnother) {
  EXPECT_PROPERTY(500, 30, [] {
    const DependencyLists lists = any_dependencies();
    const std::vector<std::uint8_t> counts = any_counts(lists.size());
    const Distances distances(lists, counts);
    const Cycles found = cycles(GraphColumns(lists).graph(), counts);
    for (ItemNumber one = 0; one < lists.size(); ++one) {
      RC_ASSERT(found.has(one) == distances.leads(one, one));
      for (ItemNumber other = 0; other < lists.size(); ++other) {
        RC_ASSERT(found.share(one, other) == distances.circle(one, other));
      }
    }
  });
}

TEST(CyclesProperty, BeginWithAShortestRingThroughTheirLowestNumber) {
  EXPECT_PROPERTY(500, 30, [] {
    const DependencyLists lists = any_dependencies();
    const Distances distances(lists, all_of(lists));
    const Cycles found = cycles_in(lists);
    for (std::uint32_t at = 0; at < found.all.size(); ++at) {
      const Numbers& members = found.all[at].members;
      const std::size_t ring = found.all[at].ring;
      RC_ASSERT(members.front() == *std::ranges::min_element(members));
      RC_ASSERT(static_cast<int>(ring) == distances.steps(members.front(), members.front()));
      for (std::size_t step = 0; step < ring; ++step) {
        RC_ASSERT(distances.steps(members[step], members[(step + 1) % ring]) == 1);
      }
      RC_ASSERT(std::ranges::is_sorted(members.begin() + static_cast<std::ptrdiff_t>(ring),
                                       members.end()));
      RC_ASSERT(std::ranges::count(found.of, at) == static_cast<std::ptrdiff_t>(members.size()));
    }
  });
}

TEST(CycleClosedBy, SaysThePathThatWouldLeadBack) {
  const GraphColumns columns(chain(4));
  EXPECT_EQ(cycle_closed_by(columns.graph(), 0, Numbers{3}), (Numbers{0, 3, 2, 1, 0}));
  EXPECT_EQ(cycle_closed_by(columns.graph(), 2, Numbers{2}), (Numbers{2, 2}));
}

TEST(CycleClosedBy, IsNothingForADependencyThatLeadsElsewhere) {
  const GraphColumns columns(chain(4));
  EXPECT_FALSE(cycle_closed_by(columns.graph(), 3, Numbers{0, 1, kNoItem}));
  EXPECT_FALSE(cycle_closed_by(columns.graph(), 4, Numbers{0, 3}));
}

TEST(CycleClosedBy, JudgesTheNewDependenciesInPlaceOfTheOld) {
  const GraphColumns columns(DependencyLists{{1}, {0}});
  EXPECT_FALSE(cycle_closed_by(columns.graph(), 0, Numbers{}));
  EXPECT_TRUE(cycle_closed_by(columns.graph(), 0, Numbers{1}));
}

TEST(CycleClosedByProperty, IsAShortestWayBackIfThereIsOne) {
  EXPECT_PROPERTY(500, 30, [] {
    DependencyLists lists = any_dependencies();
    const GraphColumns before(lists);
    const auto item = *any_in<ItemNumber>(0, static_cast<ItemNumber>(lists.size()));
    const Numbers wanted = any_dependencies().front();
    lists[item] = wanted;
    const Distances after(lists, all_of(lists));
    const auto path = cycle_closed_by(before.graph(), item, wanted);
    RC_ASSERT(path.has_value() == after.leads(item, item));
    if (!path) return;
    RC_ASSERT(path->front() == item);
    RC_ASSERT(path->back() == item);
    RC_ASSERT(static_cast<int>(path->size()) == after.steps(item, item) + 1);
    for (std::size_t at = 1; at < path->size(); ++at) {
      RC_ASSERT(after.steps((*path)[at - 1], (*path)[at]) == 1);
    }
  });
}

TEST(PathLengths, CountTheLongestChainThatWaits) {
  EXPECT_EQ(lengths_in({{}, {0}, {1}, {0}, {}}), (std::vector<std::uint32_t>{2, 1, 0, 0, 0}));
}

TEST(PathLengths, LeaveOutWhatIsFinished) {
  const GraphColumns columns(chain(4));
  EXPECT_EQ(path_lengths(columns.graph(), std::vector<std::uint8_t>{1, 1, 0, 1}),
            (std::vector<std::uint32_t>{1, 0, 0, 0}));
}

TEST(PathLengths, AreSharedInACycleAndCountAllOfIt) {
  // 0 is waited for by the circle 1 ↔ 2, and that by 3.
  EXPECT_EQ(lengths_in({{}, {0, 2}, {1}, {2}}), (std::vector<std::uint32_t>{3, 2, 2, 0}));
}

TEST(PathLengths, OfAnyDepthAreFoundBehindACycleToo) {
  DependencyLists lists = chain(kDeep);
  EXPECT_EQ(lengths_in(lists)[0], kDeep - 1);
  lists.push_back({kDeep - 1, kDeep});  // depends on itself, and on the end of the chain
  EXPECT_EQ(lengths_in(lists)[0], kDeep);
}

/// The longest chain by trying all of them, a circle taken as one item of its size.
class ChainsTried {
 public:
  ChainsTried(const DependencyLists& lists, const std::vector<std::uint8_t>& counts)
      : lists_(lists), counts_(counts), distances_(lists, counts) {}

  [[nodiscard]] std::uint32_t behind(std::size_t item) const {
    if (counts_[item] == 0) return 0;
    std::uint32_t members = 0;
    std::uint32_t longest = 0;
    for (std::size_t other = 0; other < lists_.size(); ++other) {
      if (other == item || distances_.circle(item, other)) {
        ++members;
      } else if (waits(other, item)) {
        longest = std::max(longest, behind(other) + 1);
      }
    }
    return members - 1 + longest;
  }

 private:
  // Through whatever is between them: that can only be shorter than the chain by way of it.
  [[nodiscard]] bool waits(std::size_t other, std::size_t item) const {
    return distances_.leads(other, item);
  }

  const DependencyLists& lists_;
  const std::vector<std::uint8_t>& counts_;
  Distances distances_;
};

TEST(PathLengthsProperty, AreTheLongestChainsOfAllThereAre) {
  EXPECT_PROPERTY(500, 30, [] {
    const DependencyLists lists = any_dependencies();
    const std::vector<std::uint8_t> counts = any_counts(lists.size());
    const std::vector<std::uint32_t> lengths = path_lengths(GraphColumns(lists).graph(), counts);
    const ChainsTried tried(lists, counts);
    for (std::size_t item = 0; item < lists.size(); ++item) {
      RC_ASSERT(lengths[item] == tried.behind(item));
    }
  });
}

TEST(DependencyGraph, MayBeEmpty) {
  EXPECT_TRUE(cycles({}).all.empty());
  EXPECT_TRUE(lengths_in({}).empty());
  EXPECT_FALSE(cycle_closed_by({}, 0, {}));
  EXPECT_EQ(cycle_closed_by({}, 0, Numbers{0}), (Numbers{0, 0}));
}

}  // namespace
}  // namespace dibs
