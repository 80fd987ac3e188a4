#include "items/catalog_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "items/item_path.h"
#include "sys/programs.h"
#include "testing/fake_disk.h"
#include "testing/temp_directory.h"

namespace dibs {
namespace {

using Ids = std::vector<std::string>;

/// Items in a real repository, with the index on a disk that forgets what was not flushed.
class CatalogCacheTest : public testing::Test {
 protected:
  CatalogCacheTest() {
    EXPECT_TRUE(make_repository(temp_ / "repo"));
    disk_.make_durable_directory("/dibs/locks");
  }

  std::string commit(const std::vector<FileChange>& files) {
    const Result<std::string> made =
        BranchFiles(git_, git_dir_).write({.parent = {}, .changes = files, .message = "items\n"});
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made.value_or("");
  }
  static FileChange file_of(const std::string& id) {
    Item item;
    item.id = {id};
    item.title = "Work on " + id;
    item.state = "ready";
    return {.path = item_path(item.id), .text = item_file(item)};
  }
  // The ids that there are at a commit; none when that cannot be told.
  Ids ids(const std::string& commit, const std::string& boot, const std::string& git_dir) {
    CatalogCache cache(disk_, git_, {.directory = "/dibs", .common_dir = git_dir, .boot = boot});
    const Result<Catalog> catalog = cache.at(commit, Workflow::standard());
    Ids all;
    if (!catalog) return all;
    const std::vector<Item> cards = catalog->cards().value();
    for (const Item& card : cards) all.push_back(card.id.text);
    return all;
  }
  Ids ids(const std::string& commit, const std::string& boot) {
    return ids(commit, boot, git_dir_);
  }
  // By what was kept alone.
  Ids kept(const std::string& commit, const std::string& boot) {
    return ids(commit, boot, "/nonexistent");
  }

  TempDirectory temp_;
  std::string git_dir_ = temp_ / "repo/.git";
  FakeClock clock_;
  FakeDisk disk_{clock_};
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return std::vector<std::string>{"PATH=/usr/bin:/bin"}; }};
};

TEST_F(CatalogCacheTest, KeepsWhatGitToldItForAsLongAsTheMachineRuns) {
  // Names are not in the order of ids: '_' stands for what a name may not have.
  const std::string first = commit({file_of("b"), file_of("a.b"), file_of("B"), file_of("a b")});
  const Ids all{"B", "a b", "a.b", "b"};
  EXPECT_EQ(kept(first, "boot 1"), Ids{});
  EXPECT_EQ(ids(first, "boot 1"), all);
  EXPECT_EQ(kept(first, "boot 1"), all);
  EXPECT_EQ(kept(first, "boot 2"), Ids{}) << "nobody flushed it";
  EXPECT_EQ(ids(first, "boot 2"), all);
  EXPECT_EQ(kept(first, "boot 2"), all);
}

TEST_F(CatalogCacheTest, FlushesWhatItKeepsWhereNobodyKnowsTheBoot) {
  const std::string first = commit({file_of("a"), file_of("b")});
  EXPECT_EQ(ids(first, ""), (Ids{"a", "b"}));
  disk_.crash();
  EXPECT_EQ(kept(first, ""), (Ids{"a", "b"}));
  EXPECT_EQ(kept(first, "boot 2"), (Ids{"a", "b"}));
}

TEST_F(CatalogCacheTest, SaysTheSameWhateverALossOfPowerMadeOfWhatItKept) {
  const std::string first = commit({file_of("a"), file_of("b")});
  const std::string second = commit({file_of("c")});
  for (int boot = 0; boot < 50; ++boot) {
    const std::string name = "boot " + std::to_string(boot);
    EXPECT_EQ(ids(first, name), (Ids{"a", "b"}));
    EXPECT_EQ(ids(second, name), (Ids{"c"}));
    disk_.crash();
  }
}

TEST_F(CatalogCacheTest, HasTheAnswerAlsoWhereNothingCanBeKept) {
  const std::string first = commit({file_of("a"), {.path = "00/x.json", .text = "no item"}});
  disk_.set_capacity(0);
  EXPECT_EQ(ids(first, "boot"), (Ids{"a"}));
  EXPECT_EQ(kept(first, "boot"), Ids{});
  disk_.set_capacity(std::nullopt);
  EXPECT_EQ(ids(first, "boot"), (Ids{"a"}));
  EXPECT_EQ(kept(first, "boot"), (Ids{"a"}));
  const Result<std::vector<std::string>> left = disk_.list("/dibs");
  EXPECT_TRUE(left && std::ranges::none_of(
                          *left, [](const std::string& name) { return name.ends_with(".tmp"); }));
}

// Others in the same tree, and what only looks like an item, hide nothing.
TEST_F(CatalogCacheTest, TakesItemsAndNothingElse) {
  const std::string first = commit({file_of("a"),
                                    {.path = "README.json", .text = "x"},
                                    {.path = "zz/a.json", .text = "x"},
                                    {.path = "ab/c/d.json", .text = "x"},
                                    {.path = "ab/link.json", .text = "x", .mode = "120000"},
                                    {.path = "ab/broken.json", .text = "x"}});
  EXPECT_EQ(ids(first, "boot"), (Ids{"a"}));
  CatalogCache cache(disk_, git_, {.directory = "/dibs", .common_dir = git_dir_, .boot = "boot"});
  const Result<Catalog> catalog = cache.at(first, Workflow::standard());
  ASSERT_TRUE(catalog);
  const Result<std::vector<BrokenItem>> broken = catalog->broken();
  ASSERT_TRUE(broken && broken->size() == 1);
  EXPECT_EQ(broken->front().file, "ab/broken.json");
}

TEST_F(CatalogCacheTest, SaysSoWhenGitDoesNotHaveTheCommit) {
  CatalogCache cache(disk_, git_, {.directory = "/dibs", .common_dir = git_dir_, .boot = "boot"});
  EXPECT_FALSE(cache.at(std::string(40, '1'), Workflow::standard()));
}

}  // namespace
}  // namespace dibs
