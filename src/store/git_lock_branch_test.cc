// What is particular to the layout on a shared branch: what it makes of others, and of a branch
// that is not as it left it.
#include "store/git_lock_branch.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "store/git_store.h"
#include "testing/fake_clock.h"
#include "testing/git_site.h"
#include "testing/local_site.h"
#include "testing/seeded_random.h"

namespace dibs {
namespace {

const std::string kBranch = "refs/heads/aitask-locks";
const std::string kForeign =
    "task_id: 42\nlocked_by: eve@example.com\nlocked_at: 2026-01-03 11:00\nhostname: her-pc\n";

class LockBranch : public testing::Test {
 protected:
  LockBranch() { (void)clock_.now(); }

  std::unique_ptr<GitStore> open(const std::string& clone) { return site_.open(clone, &clock_); }
  Fence written(Store& store, const std::string& key, const std::optional<std::string>& value) {
    const Result<Outcome> outcome = put(store, random_, key, value);
    EXPECT_TRUE(is_committed(outcome)) << key;
    return is_committed(outcome) ? std::get<Committed>(*outcome).fence : Fence{};
  }
  std::string tip() {
    return site_.git()
        .output_of({.git_dir = site_.remote(), .arguments = {"rev-parse", kBranch}, .input = {}},
                   ErrorKind::internal)
        .value_or("")
        .substr(0, 40);
  }
  // What another tool does: straight on the remote.
  void changed(std::vector<FileChange> changes) {
    const Result<std::string> commit = files_.write(
        {.parent = tip(), .changes = std::move(changes), .message = "ait: a lock", .unix_ms = 0});
    ASSERT_TRUE(commit);
    ASSERT_TRUE(run_git(site_.remote(), {"update-ref", kBranch, *commit}));
  }
  static std::optional<Record> get(Store& store, const std::string& key) {
    const Result<View> view = store.read(Selection::of({{key}}));
    EXPECT_TRUE(view) << (view ? "" : view.error().message);
    const Record* record = view ? view->find({key}) : nullptr;
    return record == nullptr ? std::nullopt : std::optional(*record);
  }

  FakeClock clock_;
  GitSite site_{"sha1", "lock-branch"};
  BranchFiles files_{site_.git(), site_.remote()};
  SeededRandom random_{7};
};

TEST_F(LockBranch, AnotherToolsLockIsThereForEveryone) {
  const auto store = open("one");
  changed({{"t42_lock.yaml", kForeign}});
  const std::optional<Record> record = get(*store, "item:42");
  ASSERT_TRUE(record);
  EXPECT_EQ(get(*open("two"), "item:42"), record);
  Transaction taking_it = writing(random_, "item:42", "mine");
  taking_it.expectations = {{.key = Key{"item:42"}, .version = std::nullopt}};
  EXPECT_FALSE(is_committed(store->commit(taking_it)));
  taking_it.expectations[0].version = record->version;
  EXPECT_TRUE(is_committed(store->commit(taking_it)));
}

TEST_F(LockBranch, AChangeElsewhereOnTheBranchIsNoLostRace) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  const std::optional<Record> before = get(*store, "item:1");
  changed({{"t42_lock.yaml", kForeign}, {"README", "hello"}});
  Transaction renewing = writing(random_, "item:1", "2");
  renewing.expectations = {{.key = Key{"item:1"}, .version = before->version}};
  EXPECT_TRUE(is_committed(store->commit(renewing)));
  EXPECT_TRUE(get(*store, "item:42"));
}

TEST_F(LockBranch, NumbersOutliveAToolThatDropsThem) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  const Fence before = written(*store, "item:1", std::nullopt);
  changed({{"dibs", std::nullopt}});
  changed({{"t42_lock.yaml", kForeign}});
  EXPECT_GT(written(*open("two"), "item:1", "2"), before);
}

TEST_F(LockBranch, ANumberOutOfRangeIsNotTakenUp) {
  const auto store = open("one");
  const Fence before = written(*store, "item:1", "1");
  changed({{"dibs/seq/18446744073709551615", ""}, {"dibs/seq/x", ""}, {"dibs/seq/-3", ""}});
  EXPECT_EQ(written(*store, "item:1", "2").value, before.value + 1);
}

TEST_F(LockBranch, WhatCannotBeReadIsNeverFree) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  changed({{"t42_lock.yaml", ""}, {"t43_lock.yaml", std::string(kLockYamlMax + 1, 'x')}});
  for (const char* key : {"item:42", "item:43"}) {
    EXPECT_EQ(store->read(Selection::of({{key}})).error().kind, ErrorKind::unreachable);
    EXPECT_EQ(store->commit(writing(random_, key, "1")).error().kind, ErrorKind::unreachable);
  }
  EXPECT_EQ(*contents_of(*store), (Contents{{"item:1", "1"}}));
}

TEST_F(LockBranch, ABranchThatTheRemoteLosesComesBack) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  changed({{"t42_lock.yaml", kForeign}});
  const Fence before = written(*store, "item:2", "1");
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", kBranch}));
  EXPECT_TRUE(get(*store, "item:1")) << "what was there last still counts";
  EXPECT_GT(written(*open("one"), "item:3", "1"), before);
  const auto other = open("two");
  for (const char* key : {"item:1", "item:2", "item:3", "item:42"}) EXPECT_TRUE(get(*other, key));
}

TEST_F(LockBranch, CommitsOfOthersAreNoHistory) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  changed({{"t42_lock.yaml", kForeign}});
  const Result<History> history = store->history({});
  ASSERT_TRUE(history);
  EXPECT_EQ(history->events.size(), 1U);
}

}  // namespace
}  // namespace dibs
