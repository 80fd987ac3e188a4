#include "items/catalog.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "items/catalog_change.h"
#include "testing/property.h"

namespace dibs {
namespace {

Item item(const std::string& id, std::vector<std::string> depends_on = {},
          const std::string& state = "ready", int priority = 2) {
  Item made;
  made.id = {id};
  made.title = "Work on " + id;
  made.state = state;
  made.priority = priority;
  made.created_unix_ms = 1'767'225'600'000;
  made.updated_unix_ms = made.created_unix_ms;
  for (std::string& other : depends_on) made.depends_on.push_back({std::move(other)});
  return made;
}

Catalog catalog_of(std::vector<Item> cards, std::vector<BrokenItem> broken = {}) {
  std::ranges::sort(cards, {}, &Item::id);
  return Catalog::of(cards, broken, Workflow::standard()).value();
}

std::vector<std::string> ids(const Catalog& catalog, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> all;
  for (const std::uint32_t number : numbers) all.push_back(catalog.id(number).value());
  return all;
}

std::vector<std::string> ready(const Catalog& catalog) {
  return ids(catalog, catalog.ready(SIZE_MAX).value());
}

TEST(Catalog, FindsItemsByIdAndByBeginning) {
  const Catalog catalog = catalog_of({item("b-2"), item("a-1"), item("b-1"), item("c")});
  EXPECT_EQ(catalog.card(catalog.find("b-1").value().value()).value(), item("b-1"));
  EXPECT_FALSE(catalog.find("b").value());
  EXPECT_FALSE(catalog.find("d").value());
  EXPECT_EQ(ids(catalog, catalog.starting_with("b-", 9).value()),
            (std::vector<std::string>{"b-1", "b-2"}));
  EXPECT_EQ(ids(catalog, catalog.starting_with("", 2).value()),
            (std::vector<std::string>{"a-1", "b-1"}));
}

TEST(Catalog, OffersWhatIsOpenAndWaitsForNothing) {
  const Catalog catalog = catalog_of({item("a", {}, "done"), item("b", {"a"}), item("c", {"b"}),
                                      item("d", {"ghost"}), item("e", {}, "ready", 0)});
  EXPECT_EQ(ready(catalog), (std::vector<std::string>{"e", "b"}));
}

TEST(Catalog, LetsALaterItemSatisfyAnIdThatNoneHad) {
  Catalog catalog = catalog_of({item("a", {"ghost"})});
  EXPECT_TRUE(ready(catalog).empty());
  CatalogChange change;
  change.cards = {item("ghost", {}, "done")};
  ASSERT_TRUE(catalog.apply(change));
  EXPECT_EQ(ready(catalog), (std::vector<std::string>{"a"}));
  CatalogChange back;
  back.gone = {{"ghost"}};
  ASSERT_TRUE(catalog.apply(back));
  EXPECT_TRUE(ready(catalog).empty());
  EXPECT_FALSE(catalog.find("ghost").value());
}

TEST(CatalogWriter, MakesTheSameOfItemsInWhateverOrderTheyCome) {
  std::vector<Item> items{item("a", {"c", "ghost"}), item("b", {}, "done"), item("c", {"b"}),
                          item("d", {"x"}, "rejected", 0)};
  items[1].labels = {"one", "two"};
  items[2].files = {"src/**"};
  const Catalog by_id = catalog_of(items);
  do {
    const Catalog catalog = Catalog::of(items, {}, Workflow::standard()).value();
    EXPECT_EQ(catalog.cards().value(), by_id.cards().value());
    EXPECT_EQ(ready(catalog), ready(by_id));
    EXPECT_EQ(catalog.words(1).value().labels, by_id.words(1).value().labels);
    EXPECT_EQ(catalog.files(2).value(), by_id.files(2).value());
    EXPECT_EQ(catalog.columns().value()->depends_on, by_id.columns().value()->depends_on);
  } while (std::ranges::next_permutation(items, {}, &Item::id).found);
}

TEST(Catalog, IsNoneWhenItsImageIsDamaged) {
  const std::string image = catalog_image({.items = {item("a"), item("b", {"a"})}, .broken = {}},
                                          Workflow::standard(), "c");
  ASSERT_TRUE(Catalog::of_image(image, Workflow::standard()));
  for (std::size_t length = 0; length < image.size(); ++length)
    EXPECT_FALSE(Catalog::of_image(image.substr(0, length), Workflow::standard())) << length;
  for (std::size_t at = image.size() - sizeof(CatalogTable); at < image.size(); ++at) {
    std::string spoilt = image;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 1);
    EXPECT_FALSE(Catalog::of_image(spoilt, Workflow::standard())) << at;
  }
}

// Whatever stands in the parts: an answer or an error, and never a read outside.
TEST(CatalogImage, SpoiltAnywhereIsAnsweredOrRefused) {
  EXPECT_PROPERTY(300, 50, [] {
    std::string image =
        catalog_image({.items = {item("a"), item("b", {"a", "x"}), item("c", {"b"})},
                       .broken = {{.file = "f", .line = 1, .why = "w"}}},
                      Workflow::standard(), "c");
    const auto at = *rc::gen::inRange<std::size_t>(0, image.size() - sizeof(CatalogTable));
    image[at] = *rc::gen::arbitrary<char>();
    const Result<Catalog> catalog = Catalog::of_image(image, Workflow::standard());
    RC_ASSERT(catalog.has_value());
    (void)catalog->find("b");
    (void)catalog->starting_with("", 9);
    (void)catalog->cards();
    (void)catalog->broken();
    (void)catalog->columns();
    for (std::uint32_t number = 0; number < catalog->size(); ++number) (void)catalog->card(number);
  });
}

TEST(Catalog, KeepsOtherWorkflowsApart) {
  const std::string image =
      catalog_image({.items = {item("a")}, .broken = {}}, Workflow::standard(), "c");
  const Catalog other = Catalog::of_image(image, Workflow::folders()).value();
  EXPECT_TRUE(ready(other).empty()) << "folders has no state called ready";
}

TEST(CatalogChange, ComesBackFromItsLine) {
  const CatalogStep step{.from = "1",
                         .to = "2",
                         .change = {.cards = {item("a", {"b"})},
                                    .gone = {{"c"}},
                                    .broken = {{.file = "x", .line = 3, .why = "no"}},
                                    .mended = {"y"}}};
  const std::optional<CatalogStep> back = step_from(to_line(step));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->from + back->to, "12");
  EXPECT_EQ(back->change.cards, step.change.cards);
  EXPECT_EQ(back->change.gone, step.change.gone);
  EXPECT_EQ(back->change.broken, step.change.broken);
  EXPECT_EQ(back->change.mended, step.change.mended);
  const std::string line = to_line(step);
  for (std::size_t length = 0; length + 1 < line.size(); ++length)
    EXPECT_FALSE(step_from(line.substr(0, length))) << length;
}

Item any_free_item(const std::string& id) {
  Item made = item(id);
  made.state = *rc::gen::element<std::string>("ready", "done", "rejected", "in_review", "pending");
  made.priority = *rc::gen::inRange(0, kPriorityLeast + 1);
  if (*rc::gen::arbitrary<bool>()) made.estimate_min = *rc::gen::inRange(1, 100);
  made.created_unix_ms += *rc::gen::inRange(0, 5);
  return made;
}

// Drawn as a list: RapidCheck gives up on a set that is to have more members than there are.
std::set<int> some_numbers() {
  const auto drawn = *rc::gen::container<std::vector<int>>(any_in(0, 12));
  return {drawn.begin(), drawn.end()};
}

Item random_item(const std::string& id) {
  Item made = any_free_item(id);
  for (const int other : some_numbers())
    made.depends_on.push_back({fmt::format("i{}", other)});
  return made;
}

// Changes put over an image say the same as an image made of everything.
TEST(Catalog, SaysTheSameWithChangesOverItAsMadeAnew) {
  EXPECT_PROPERTY(300, 30, [] {
    std::map<std::string, Item> now;
    for (const int n : some_numbers()) {
      const std::string id = fmt::format("i{}", n);
      now[id] = random_item(id);
    }
    const auto all = [&] {
      std::vector<Item> cards;
      for (const auto& [id, card] : now) cards.push_back(card);
      return cards;
    };
    Catalog catalog = catalog_of(all());
    const int steps = *rc::gen::inRange(0, 6);
    for (int step = 0; step < steps; ++step) {
      CatalogChange change;
      const std::string id = fmt::format("i{}", *rc::gen::inRange(0, 14));
      if (*rc::gen::inRange(0, 3) == 0) {
        change.gone = {{id}};
        now.erase(id);
      } else {
        now[id] = random_item(id);
        change.cards = {now[id]};
      }
      RC_ASSERT(catalog.apply(std::move(change)).has_value());
    }
    const Catalog anew = catalog_of(all());
    RC_ASSERT(catalog.cards().value() == all());
    RC_ASSERT(ids(catalog, catalog.starting_with("i1", 99).value()) ==
              ids(anew, anew.starting_with("i1", 99).value()));
    // Numbers differ, and equal items are told apart by them: compare what decides before.
    const auto ranks = [](const Catalog& from) {
      std::multiset<std::string> texts;
      for (const std::string& id : ready(from)) texts.insert(id);
      return texts;
    };
    RC_ASSERT(ranks(catalog) == ranks(anew));
  });
}

// The usual changes: some are finished, taken up, edited or new. The order must be the same too,
// which it can be because what is new has the highest ids.
TEST(Catalog, OffersTheSameInTheSameOrderAfterAFewUsualChanges) {
  EXPECT_PROPERTY(500, 40, [] {
    const int count = *rc::gen::inRange(1, 30);
    std::vector<Item> cards;
    for (int n = 0; n < count; ++n) {
      Item made = any_free_item(fmt::format("i{:02}", n));
      for (int back = 1; back <= std::min(n, 4); ++back) {
        if (*rc::gen::inRange(0, 3) == 0)
          made.depends_on.push_back({fmt::format("i{:02}", n - back)});
      }
      cards.push_back(made);
    }
    Catalog catalog = catalog_of(cards);
    const int steps = *rc::gen::inRange(1, 8);
    for (int step = 0; step < steps; ++step) {
      const auto at = *rc::gen::inRange<std::size_t>(0, cards.size() + 1);
      if (at == cards.size()) {
        cards.push_back(any_free_item(fmt::format("j{:02}", step)));
        cards.back().depends_on = cards[*rc::gen::inRange<std::size_t>(0, at)].depends_on;
      } else if (*rc::gen::arbitrary<bool>()) {
        cards[at].state = "done";
      } else {
        const Item edited = any_free_item(cards[at].id.text);
        cards[at].state = edited.state;
        cards[at].priority = edited.priority;
        cards[at].estimate_min = edited.estimate_min;
      }
      CatalogChange change;
      change.cards = {cards[at]};
      RC_ASSERT(catalog.apply(std::move(change)).has_value());
    }
    const Catalog anew = catalog_of(cards);
    RC_ASSERT(ready(catalog) == ready(anew));
    RC_ASSERT(ids(catalog, catalog.ready(3).value()) == ids(anew, anew.ready(3).value()));
    const Catalog::ReadyOrder order = catalog.ready_order().value();
    const Catalog::ReadyOrder fresh = anew.ready_order().value();
    RC_ASSERT(order.items == fresh.items);
    for (const std::uint32_t item : order.items)
      RC_ASSERT(order.path_lengths[item] == fresh.path_lengths[item]);
  });
}

}  // namespace
}  // namespace dibs
