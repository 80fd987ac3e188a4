#include "items/item_sync.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "items/item_path.h"
#include "items/items_at.h"
#include "items/native_items.h"
#include "testing/git_site.h"

namespace dibs {
namespace {

using Labels = std::vector<std::string>;
using Files = std::map<std::string, std::string>;  // path: content

/// One clone with dibs' own items, and the sync of them.
class SyncClone {
 public:
  SyncClone(GitSite& site, const std::string& name)
      : git_(site.git()), git_dir_(site.clone(name) + "/.git"), branch_(git_, git_dir_) {
    for (const char* made : {"/dibs", "/dibs/locks"})
      EXPECT_TRUE(files_.make_directory(git_dir_ + made, kPrivateDirectory));
  }

  void put(const std::vector<FileChange>& changes) {
    const auto made = branch_.put(
        {.parent = tip(), .changes = changes, .message = "change\n", .unix_ms = ++now_ms_},
        kItemsRef);
    EXPECT_TRUE(made && made->has_value()) << (made ? "" : made.error().message);
  }
  void put(const Item& item) { put({{.path = item_path(item.id), .text = item_file(item)}}); }

  std::string tip() {
    const auto out = git_.run({.git_dir = git_dir_,
                               .arguments = {"for-each-ref", "--format=%(objectname)", kItemsRef},
                               .input = {}});
    return std::string(trim(out.value().out));
  }

  Result<ItemSyncEnd> run(ItemSync::Begin begin = ItemSync::Begin::fetch,
                          const std::string& remote = "origin") {
    ItemSync sync({.files = files_, .clock = clock_, .random = random_, .git = git_},
                  {.directory = git_dir_ + "/dibs", .common_dir = git_dir_},
                  {.name = remote, .prefix = "refs/dibs/"}, "agent:one");
    return sync.run(begin);
  }
  ItemSyncEnd synced(ItemSync::Begin begin = ItemSync::Begin::fetch) {
    const Result<ItemSyncEnd> end = run(begin);
    EXPECT_TRUE(end) << end.error().message;
    return end.value_or(ItemSyncEnd{});
  }

  Files files() {
    Files all;
    const std::vector<BranchEntry> entries = branch_.list(tip(), {}).value();
    for (const BranchEntry& entry : entries) {
      if (entry.is_file) all[entry.path] = branch_.read({entry.object}).value()[entry.object];
    }
    return all;
  }
  Item item(const std::string& id) {
    return item_from_json(files().at(item_path({id}))).value_or(Item{});
  }

 private:
  const GitProgram& git_;
  std::string git_dir_;
  BranchFiles branch_;
  PosixFileSystem files_;
  SystemClock clock_;
  SystemRandom random_;
  std::int64_t now_ms_ = 0;
};

class Syncing : public testing::TestWithParam<const char*> {
 protected:
  GitSite site_{GetParam()};
  SyncClone one_{site_, "one"};
  SyncClone two_{site_, "two"};
};

Item item_named(const std::string& id, std::int64_t updated_unix_ms = 1) {
  Item item;
  item.id = {id};
  item.title = "about " + id;
  item.updated_unix_ms = updated_unix_ms;
  return item;
}

TEST_P(Syncing, BeginsOnAnEmptyRemoteAndReachesTheOtherClone) {
  EXPECT_EQ(one_.synced().pushed, 0U) << "there is nothing yet, on either side";
  one_.put(item_named("a"));
  EXPECT_EQ(one_.synced().pushed, 1U);
  EXPECT_EQ(two_.synced().pulled, 1U);
  EXPECT_EQ(two_.tip(), one_.tip());
  const ItemSyncEnd again = two_.synced();
  EXPECT_EQ(again.pulled + again.pushed + again.merged, 0U);
}

TEST_P(Syncing, BringsTogetherWhatBothChanged) {
  one_.put(item_named("a"));
  one_.synced();
  two_.synced();
  Item first = item_named("a", 2);
  first.labels = {"first"};
  one_.put(first);
  one_.put(item_named("of-one"));
  Item second = item_named("a", 3);
  second.labels = {"second"};
  two_.put(second);
  two_.put(item_named("of-two"));
  one_.synced();
  const ItemSyncEnd end = two_.synced();
  EXPECT_EQ(end.merged, 1U);
  EXPECT_EQ(end.pulled, 2U) << "the new one and the merged one";
  EXPECT_EQ(end.pushed, 2U);
  EXPECT_EQ(one_.synced().pulled, 2U);
  EXPECT_EQ(one_.tip(), two_.tip());
  EXPECT_EQ(one_.item("a").labels, (Labels{"first", "second"}));
  EXPECT_EQ(one_.files().size(), 3U);
}

TEST_P(Syncing, OfTwoThatBeganApartLosesNothing) {
  Item first = item_named("same", 2);
  first.labels = {"first"};
  one_.put({{item_path(first.id), item_file(first)}, {"aa/x.json", "{}"}});
  Item second = item_named("same", 1);
  second.labels = {"second"};
  two_.put({{item_path(second.id), item_file(second)}, {"README", "of two\n"}});
  one_.synced();
  two_.synced();
  one_.synced();
  EXPECT_EQ(one_.files(), two_.files());
  EXPECT_EQ(one_.item("same").labels, (Labels{"first", "second"}));
  EXPECT_EQ(one_.files().at("README"), "of two\n");
  EXPECT_EQ(one_.files().at("aa/x.json"), "{}") << "broken, and one side's alone";
}

TEST_P(Syncing, KeepsAChangeOfWhatTheOtherRemoved) {
  one_.put(item_named("changed"));
  one_.put(item_named("untouched"));
  one_.synced();
  two_.synced();
  const std::string changed = item_path({"changed"});
  const std::string untouched = item_path({"untouched"});
  one_.put({{changed, std::nullopt}, {untouched, std::nullopt}});
  Item later = item_named("changed", 2);
  later.priority = 0;
  two_.put(later);
  one_.synced();
  two_.synced();
  one_.synced();
  EXPECT_EQ(one_.files(), two_.files());
  EXPECT_EQ(one_.item("changed").priority, 0);
  EXPECT_FALSE(one_.files().contains(untouched));
}

TEST_P(Syncing, KeepsTheOneThatCanBeReadAndSaysWhereTheOtherIs) {
  one_.put(item_named("a"));
  one_.synced();
  two_.synced();
  const std::string path = item_path({"a"});
  one_.put({{path, "{ broken"}});
  const std::string broken = one_.tip();
  Item second = item_named("a", 3);
  second.priority = 1;
  two_.put(second);
  one_.synced();
  const ItemSyncEnd end = two_.synced();
  ASSERT_EQ(end.notes.size(), 1U);
  EXPECT_NE(end.notes[0].find(broken + ":" + path), std::string::npos) << end.notes[0];
  one_.synced();
  EXPECT_EQ(one_.item("a").priority, 1);
}

TEST_P(Syncing, TakesFilesOfAnyName) {
  one_.put({{"a", "1"}});
  one_.synced();
  two_.synced();
  one_.put({{"\"quoted\\ \n\"", "2"}, {"with blanks é", "3"}});
  two_.put({{"b", "4"}});
  one_.synced();
  two_.synced();
  one_.synced();
  EXPECT_EQ(two_.files(),
            (Files{{"a", "1"}, {"b", "4"}, {"\"quoted\\ \n\"", "2"}, {"with blanks é", "3"}}));
  EXPECT_EQ(one_.files(), two_.files());
}

TEST_P(Syncing, ThatBeginsWithAPushFindsOutThatItWasNotFirst) {
  one_.put(item_named("a"));
  one_.synced(ItemSync::Begin::push);
  two_.put(item_named("b"));
  const ItemSyncEnd end = two_.synced(ItemSync::Begin::push);
  EXPECT_EQ(end.pulled, 1U);
  EXPECT_EQ(end.pushed, 1U);
  one_.put(item_named("c"));
  one_.synced(ItemSync::Begin::push);
  two_.synced();
  EXPECT_EQ(one_.files().size(), 3U);
  EXPECT_EQ(one_.tip(), two_.tip());
}

TEST_P(Syncing, PutsBackItemsThatTheRemoteLost) {
  one_.put(item_named("a"));
  one_.synced();
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", kItemsRef}));
  EXPECT_EQ(one_.synced().pushed, 1U);
  EXPECT_EQ(two_.synced().pulled, 1U);
}

TEST_P(Syncing, SaysWhenTheRemoteIsNotThere) {
  one_.put(item_named("a"));
  const Result<ItemSyncEnd> end = one_.run(ItemSync::Begin::fetch, "nowhere");
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind, ErrorKind::unreachable);
  EXPECT_EQ(end.error().hint, "see whether git reaches it: git ls-remote nowhere");
}

TEST_P(Syncing, KeepsTheLaterOfTwoThatAreTooMuchTogether) {
  one_.put(item_named("a"));
  one_.synced();
  two_.synced();
  const auto with_labels = [](const std::string& of, std::int64_t updated_unix_ms) {
    Item item = item_named("a", updated_unix_ms);
    for (std::size_t i = 0; i < kLabelsMax; ++i) item.labels.push_back(of + std::to_string(i));
    return item;
  };
  one_.put(with_labels("one", 3));
  two_.put(with_labels("two", 2));
  one_.synced();
  const ItemSyncEnd end = two_.synced();
  EXPECT_EQ(end.merged, 0U);
  EXPECT_EQ(end.notes.size(), 1U);
  EXPECT_EQ(two_.item("a"), with_labels("one", 3));
}

INSTANTIATE_TEST_SUITE_P(Formats, Syncing, testing::Values("sha1", "sha256"));

}  // namespace
}  // namespace dibs
