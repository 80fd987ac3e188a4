#include "rules/item_merge.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/text.h"
#include "testing/property.h"

namespace dibs {
namespace {

using Texts = std::vector<std::string>;

Item item_at(std::int64_t updated_unix_ms) {
  Item item;
  item.id = {"fix-login-b5c6d7e8"};
  item.title = "Fix login";
  item.state = "ready";
  item.updated_unix_ms = updated_unix_ms;
  return item;
}

// The merge, checked to be the same the other way round.
Item merged(const std::optional<Item>& base, const Item& ours, const Item& theirs) {
  Item result = merge_items(base, ours, theirs);
  EXPECT_EQ(result, merge_items(base, theirs, ours));
  return result;
}

TEST(ItemMerge, TakesEachFieldFromTheSideThatChangedIt) {
  const Item base = item_at(1);
  Item ours = item_at(5);
  ours.title = "Fix the login";
  ours.estimate_min = 30;
  Item theirs = item_at(3);
  theirs.priority = 0;
  theirs.type = "bug";
  const Item both = merged(base, ours, theirs);
  EXPECT_EQ(both.title, "Fix the login");
  EXPECT_EQ(both.estimate_min, 30);
  EXPECT_EQ(both.priority, 0);
  EXPECT_EQ(both.type, "bug");
  EXPECT_EQ(both.updated_unix_ms, 5);
}

TEST(ItemMerge, GivesAFieldThatBothChangedToTheLaterChange) {
  Item ours = item_at(5);
  ours.title = "earlier";
  ours.priority = 4;
  Item theirs = item_at(6);
  theirs.title = "a later one";
  theirs.priority = 1;
  const Item both = merged(item_at(1), ours, theirs);
  EXPECT_EQ(both.title, "a later one");
  EXPECT_EQ(both.priority, 1);
}

TEST(ItemMerge, AtTheSameTimeIsTheSameWhicheverIsOurs) {
  Item ours = item_at(5);
  ours.title = "one";
  Item theirs = item_at(5);
  theirs.title = "two";
  EXPECT_EQ(merged(item_at(1), ours, theirs).title, "two");
}

TEST(ItemMerge, KeepsAStateAndWhereItCameFromTogether) {
  const Item base = item_at(1);
  Item ours = item_at(5);
  ours.state = "pending";
  ours.came_from = "in_progress";
  Item theirs = item_at(6);
  theirs.state = "done";
  const Item both = merged(base, ours, theirs);
  EXPECT_EQ(both.state, "done");
  EXPECT_EQ(both.came_from, "");
}

TEST(ItemMerge, LetsAddedAndRemovedLabelsOfBothSurvive) {
  Item base = item_at(1);
  base.labels = {"a", "b", "c"};
  base.depends_on = {{"x"}, {"y"}};
  base.files = {"src/**"};
  Item ours = item_at(2);
  ours.labels = {"b", "c", "z"};
  ours.depends_on = {{"x"}, {"y"}, {"o"}};
  ours.files = {"src/**", "o"};
  Item theirs = item_at(3);
  theirs.labels = {"a", "b", "m"};
  theirs.depends_on = {{"y"}, {"t"}};
  theirs.files = {"src/**", "t", "o"};
  const Item both = merged(base, ours, theirs);
  EXPECT_EQ(both.labels, (Texts{"b", "m", "z"}));
  EXPECT_EQ(both.depends_on, (std::vector<ItemId>{{"y"}, {"o"}, {"t"}}));
  EXPECT_EQ(both.files, (Texts{"src/**", "o", "t"}));
}

TEST(ItemMerge, SaysOnceWhatAListSaidTwice) {
  Item base = item_at(1);
  base.labels = {"a", "a", "b"};
  Item ours = base;
  ours.labels.push_back("c");
  Item theirs = base;
  theirs.labels.push_back("d");
  EXPECT_EQ(merged(base, ours, theirs).labels, (Texts{"a", "b", "c", "d"}));
}

TEST(ItemMerge, LeavesAListInTheOrderThatOneSideGaveIt) {
  Item base = item_at(1);
  base.labels = {"a", "b"};
  Item ours = item_at(2);
  ours.labels = {"b", "a"};
  Item theirs = item_at(3);
  theirs.labels = base.labels;
  EXPECT_EQ(merged(base, ours, theirs).labels, ours.labels);
}

TEST(ItemMerge, OrdersTheCommentsOfBothByTime) {
  Item base = item_at(1);
  base.comments = {{.by = "agent:a", .unix_ms = 10, .text = "first"}};
  Item ours = item_at(40);
  ours.comments = base.comments;
  ours.comments.push_back({.by = "agent:a", .unix_ms = 20, .text = "second"});
  ours.comments.push_back({.by = "agent:a", .unix_ms = 40, .text = "fourth"});
  Item theirs = item_at(30);
  theirs.comments = base.comments;
  theirs.comments.push_back({.by = "agent:b", .unix_ms = 30, .text = "third"});
  Texts said;
  for (const Comment& comment : merged(base, ours, theirs).comments) said.push_back(comment.text);
  EXPECT_EQ(said, (Texts{"first", "second", "third", "fourth"}));
}

TEST(ItemMerge, MergesBodiesByLine) {
  Item base = item_at(1);
  base.body = "how\nwhat\nwhy";
  Item ours = item_at(2);
  ours.body = "HOW\nwhat\nwhy";
  Item theirs = item_at(3);
  theirs.body = "how\nwhat\nwhy not";
  EXPECT_EQ(merged(base, ours, theirs).body, "HOW\nwhat\nwhy not");
  theirs.body = "who\nwhat\nwhy";
  EXPECT_EQ(merged(base, ours, theirs).body, "HOW\nwho\nwhat\nwhy");
}

TEST(ItemMerge, MergesWhatItDoesNotKnowMemberByMember) {
  Item base = item_at(1);
  base.unknown_members = R"("keep":1,"ours":1,"gone":[1,2],"both":"x")";
  Item ours = item_at(2);
  ours.unknown_members = R"("keep":1,"ours":{"a":2},"gone":[1,2],"both":"earlier")";
  Item theirs = item_at(3);
  theirs.unknown_members = R"("keep":1,"ours":1,"both":"later","new":null)";
  EXPECT_EQ(merged(base, ours, theirs).unknown_members,
            R"("keep":1,"ours":{"a":2},"both":"later","new":null)");
}

TEST(ItemMerge, WithoutABaseLosesNothing) {
  Item ours = item_at(2);
  ours.labels = {"o", "same"};
  ours.body = "one";
  Item theirs = item_at(3);
  theirs.labels = {"same", "t"};
  theirs.body = "two";
  theirs.priority = 1;
  const Item both = merged(std::nullopt, ours, theirs);
  EXPECT_EQ(both.labels, (Texts{"o", "same", "t"}));
  EXPECT_EQ(both.body, "one\ntwo");
  EXPECT_EQ(both.priority, 1);
}

// --- any items ---

template <class T>
std::vector<T> some_of(const std::vector<T>& all) {
  std::vector<T> some;
  for (const T& entry : all) {
    if (*rc::gen::arbitrary<bool>()) some.push_back(entry);
  }
  return some;
}

Item any_item() {
  const Texts words{"a", "b", "c", "d", "e"};
  Item item = item_at(*any_in(0, 4));
  item.title = "title " + *rc::gen::elementOf(words);
  item.state = *rc::gen::elementOf(words);
  item.came_from = *rc::gen::elementOf(words);
  item.tries = *any_in(0, 4);
  item.priority = *any_in(0, kPriorityLeast + 1);
  item.type = *rc::gen::elementOf(words);
  item.labels = some_of(words);
  item.files = some_of(words);
  item.depends_on = some_of(std::vector<ItemId>{{"x"}, {"y"}, {"z"}});
  for (const std::string& line : some_of(words)) item.body += line + "\n";
  for (const std::string& by : some_of(words))
    item.comments.push_back({.by = by, .unix_ms = *any_in(0, 3), .text = "said"});
  if (*rc::gen::arbitrary<bool>()) item.estimate_min = *any_in(1, 4);
  if (*rc::gen::arbitrary<bool>())
    item.unknown_members =
        "\"u\":" + std::to_string(*any_in(0, 3)) + ",\"v\":" + std::to_string(*any_in(0, 3));
  return item;
}

TEST(ItemMerge, OfAnyItemsIsTheSameWhicheverIsOurs) {
  EXPECT_PROPERTY(500, 10, [] {
    const std::optional<Item> base =
        *rc::gen::arbitrary<bool>() ? std::optional(any_item()) : std::nullopt;
    const Item ours = any_item();
    const Item theirs = any_item();
    RC_ASSERT(merge_items(base, ours, theirs) == merge_items(base, theirs, ours));
  });
}

TEST(ItemMerge, OfAnItemWithItselfIsItself) {
  EXPECT_PROPERTY(300, 10, [] {
    const Item base = any_item();
    const Item ours = any_item();
    RC_ASSERT(merge_items(base, ours, ours) == ours);
    RC_ASSERT(merge_items(std::nullopt, ours, ours) == ours);
    // What was merged once is not merged again into something else.
    const Item both = merge_items(base, ours, any_item());
    RC_ASSERT(merge_items(ours, both, ours) == both);
  });
}

std::set<std::string> as_set(const Texts& texts) { return {texts.begin(), texts.end()}; }

TEST(ItemMerge, LosesNoAddedOrRemovedLabel) {
  EXPECT_PROPERTY(500, 10, [] {
    const Item base = any_item();
    const Item ours = any_item();
    const Item theirs = any_item();
    const std::set<std::string> both = as_set(merge_items(base, ours, theirs).labels);
    for (const Item& side : {ours, theirs}) {
      for (const std::string& label : {"a", "b", "c", "d", "e"}) {
        const bool was = as_set(base.labels).contains(label);
        const bool is = as_set(side.labels).contains(label);
        if (was != is) RC_ASSERT(both.contains(label) == is);
      }
    }
  });
}

// --- clones of one remote ---

/// What a clone has, and what it last had in common with the remote.
struct Replica {
  Item mine = item_at(0);
  Item base = item_at(0);
};

/// Three clones and their remote, with every label, comment and line ever written.
class Replicas {
 public:
  void edit(std::size_t which) {
    Item& item = replicas_[which].mine;
    const std::string mark = "m" + std::to_string(++now_ms_);
    switch (*any_in(0, 5)) {
      case 0:
        item.labels.push_back(mark);
        labels_.insert(mark);
        break;
      case 1:
        if (item.labels.empty()) return;
        labels_.erase(item.labels.front());
        item.labels.erase(item.labels.begin());
        break;
      case 2:
        item.comments.push_back({.by = "agent:a", .unix_ms = now_ms_, .text = mark});
        said_.push_back(mark);
        break;
      case 3:
        add_line(item, mark);
        break;
      default:
        item.title = mark;
    }
    item.updated_unix_ms = now_ms_;
  }

  void sync(std::size_t which) {
    Replica& replica = replicas_[which];
    remote_ = replica.mine = replica.base = merge_items(replica.base, replica.mine, remote_);
  }

  void check_nothing_lost() {
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < replicas_.size(); ++i) sync(i);
    }
    for (const Replica& replica : replicas_) RC_ASSERT(replica.mine == remote_);
    RC_ASSERT(as_set(remote_.labels) == labels_);
    Texts said;
    for (const Comment& comment : remote_.comments) said.push_back(comment.text);
    RC_ASSERT(said == said_);
    for (const std::string& line : lines_) {
      const auto found = split(remote_.body, '\n');
      RC_ASSERT(std::ranges::count(found, line) == 1);
    }
  }

 private:
  void add_line(Item& item, const std::string& line) {
    const std::size_t lines = split(item.body, '\n').size();
    std::string body;
    std::size_t before = *any_in<std::size_t>(0, lines);
    for (const std::string_view old : split(item.body, '\n')) {
      if (before-- == 0) body += line + "\n";
      body += old;
      body += '\n';
    }
    body.pop_back();
    item.body = body;
    lines_.push_back(line);
  }

  std::array<Replica, 3> replicas_;
  Item remote_ = item_at(0);
  std::int64_t now_ms_ = 0;
  std::set<std::string> labels_;
  Texts said_;
  Texts lines_;
};

TEST(ItemMerge, OfThreeClonesEndsAlikeAndLosesNothingHoweverTheySync) {
  EXPECT_PROPERTY(300, 60, [] {
    Replicas replicas;
    for (const int step : *rc::gen::container<std::vector<int>>(any_in(0, 9))) {
      const auto which = static_cast<std::size_t>(step % 3);
      if (step < 6) {
        replicas.edit(which);
      } else {
        replicas.sync(which);
      }
    }
    replicas.check_nothing_lost();
  });
}

}  // namespace
}  // namespace dibs
