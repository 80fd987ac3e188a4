// What is particular to the store on a git remote: its ledger, and what it sees of others.
#include "store/git_store.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/name_encoding.h"
#include "base/text.h"
#include "sys/posix_file_system.h"
#include "testing/fake_clock.h"
#include "testing/git_site.h"
#include "testing/local_site.h"
#include "testing/seeded_random.h"

namespace dibs {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

class GitRefsLayout : public testing::Test {
 protected:
  GitRefsLayout() { (void)clock_.now(); }

  std::unique_ptr<GitStore> open(const std::string& clone) { return site_.open(clone, &clock_); }
  Fence written(Store& store, const std::string& key, const std::optional<std::string>& value) {
    const Result<Outcome> outcome = put(store, random_, key, value);
    EXPECT_TRUE(is_committed(outcome)) << key;
    return is_committed(outcome) ? std::get<Committed>(*outcome).fence : Fence{};
  }
  // Of the records' refs on the remote itself.
  std::size_t refs_on_remote() {
    const Result<std::string> out =
        site_.git().output_of({.git_dir = site_.remote(),
                               .arguments = {"for-each-ref", "--format=%(refname)", "refs/dibs/r/"},
                               .input = {}},
                              ErrorKind::internal);
    return static_cast<std::size_t>(std::ranges::count(out.value_or(""), '\n'));
  }

  FakeClock clock_;
  GitSite site_;
  SeededRandom random_{7};
};

TEST_F(GitRefsLayout, AnUnreadableRefThatCameAndWentConcernsNobodyElse) {
  const auto one = open("one");
  written(*one, "item:1", "mine");
  // Anybody may push such a thing, and take it away before anybody can look into it.
  const std::string empty_tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "refs/dibs/r/item_3aevil", empty_tree}));
  EXPECT_EQ(contents_of(*one)->size(), 1U);
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/dibs/r/item_3aevil"}));
  EXPECT_EQ(contents_of(*one)->size(), 1U);
  written(*one, "item:2", "mine too");
  EXPECT_FALSE(open("one")->read(Selection::of({Key{"item:evil"}}))) << "nobody knows what it was";
}

TEST_F(GitRefsLayout, ARefThatTheRemoteLosesStillCountsForWhoeverSawIt) {
  const auto one = open("one");
  const auto two = open("two");
  written(*one, "item:1", "mine");
  EXPECT_EQ(contents_of(*two)->at("item:1"), "mine");
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/dibs/r/item_3a1"}));
  for (int looks = 0; looks < 2; ++looks) {
    EXPECT_EQ(contents_of(*two)->at("item:1"), "mine");
    const Result<View> view = open("two")->read(Selection::of({Key{"item:1"}}));
    ASSERT_TRUE(view);
    EXPECT_EQ(view->records.size(), 1U);
  }
  Transaction taking_it = writing(random_, "item:1", "other");
  taking_it.expectations = {{.key = Key{"item:1"}, .version = std::nullopt}};
  EXPECT_FALSE(is_committed(two->commit(taking_it)));
  // Its holder brings it back, and from then on everybody sees it.
  written(*one, "item:1", "renewed");
  EXPECT_EQ(contents_of(*open("three"))->at("item:1"), "renewed");
  EXPECT_EQ(contents_of(*two)->at("item:1"), "renewed");
}

TEST_F(GitRefsLayout, ARefThatTheRemoteLosesDoesNotHideWhatMovedWithIt) {
  const auto one = open("one");
  const auto two = open("two");
  written(*one, "item:2", "before");
  EXPECT_EQ(contents_of(*two)->at("item:2"), "before");
  Transaction both = writing(random_, "item:1", "both");
  both.writes.push_back({.key = Key{"item:2"}, .value = "both"});
  ASSERT_TRUE(is_committed(one->commit(both)));
  ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", "refs/dibs/r/item_3a2"}));
  const Result<View> view = two->read(Selection::of({Key{"item:1"}, Key{"item:2"}}));
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->records.size(), 2U);
}

TEST_F(GitRefsLayout, NumbersGoOnWhenARemoteLosesEverything) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  const Fence before = written(*store, "item:1", std::nullopt);
  clock_.advance_ms(16 * kMinuteMs);
  EXPECT_EQ(store->tidy(), 1U);
  for (const char* ref : {"refs/dibs/ledger"})
    ASSERT_TRUE(run_git(site_.remote(), {"update-ref", "-d", ref}));
  EXPECT_GT(written(*open("one"), "item:1", "2"), before);
}

TEST_F(GitRefsLayout, NumbersAreNotJoinedByOneThatCouldNotBeWrittenWhole) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  const std::string numbers = fmt::format("{}/.git/dibs/remotes/{}.git/dibs-highest",
                                          site_.clone("one"), encode_name("origin:refs/dibs/"));
  ASSERT_TRUE((*PosixFileSystem().open(numbers, Open::append, kPrivateFile))->append("9"));
  const Fence next = written(*store, "item:1", "2");
  EXPECT_EQ(written(*store, "item:1", "3").value, next.value + 1);
}

TEST_F(GitRefsLayout, PutsAwayWhatWasRemovedAWhileAgoAndNothingElse) {
  const auto store = open("one");
  for (const char* key : {"item:1", "item:2", "item:3"}) written(*store, key, "1");
  written(*store, "item:1", std::nullopt);
  written(*store, "item:2", std::nullopt);
  EXPECT_EQ(store->tidy(), 0U) << "removed just now";
  clock_.advance_ms(14 * kMinuteMs);
  EXPECT_EQ(store->tidy(), 0U);
  written(*store, "item:4", "1");
  written(*store, "item:4", std::nullopt);
  clock_.advance_ms(2 * kMinuteMs);
  EXPECT_EQ(store->tidy(), 2U);
  EXPECT_EQ(refs_on_remote(), 2U) << "item:3, which is there, and item:4, which rests";
  EXPECT_EQ(*contents_of(*store), (Contents{{"item:3", "1"}}));
}

TEST_F(GitRefsLayout, NumbersThatWerePutAwayNeverComeBack) {
  const auto one = open("one");
  const auto two = open("two");
  written(*two, "item:other", "1");  // has looked, and does not look again
  Fence last;
  for (int i = 0; i < 5; ++i) last = written(*one, "item:1", i % 2 == 0 ? "1" : "2");
  last = written(*one, "item:1", std::nullopt);
  clock_.advance_ms(20 * kMinuteMs);
  ASSERT_EQ(one->tidy(), 1U);
  EXPECT_GT(written(*two, "item:1", "3"), last) << "by a clone that had not seen the ledger";
  EXPECT_GT(written(*open("three"), "item:1", "4"), last);
}

// A look at one record shows the new ledger, and what else is remembered is from before it.
TEST_F(GitRefsLayout, WhatWasPutAwayIsNotTakenForLostAfterALookAtSomethingElse) {
  const auto one = open("one");
  const auto two = open("two");
  written(*one, "item:1", "held");
  written(*one, "item:2", "held");
  ASSERT_EQ(contents_of(*two)->size(), 2U);
  written(*one, "item:1", std::nullopt);
  clock_.advance_ms(20 * kMinuteMs);
  ASSERT_EQ(one->tidy(), 1U);
  ASSERT_EQ(two->read(Selection::of({{"item:2"}}))->records.size(), 1U);
  EXPECT_TRUE(two->read(Selection::of({{"item:1"}}))->records.empty());
  EXPECT_TRUE(std::ranges::none_of(
      two->inspect(), [](const Finding& finding) { return contains(finding.what, "has lost"); }));
}

TEST_F(GitRefsLayout, HistoryOutlivesTheRefs) {
  const auto store = open("one");
  Event event;
  event.resource = {"item:1"};
  event.lease = {"L1"};
  event.agent = {"agent:a"};
  event.session = {"agent:a@wt:1"};
  Transaction transaction = writing(random_, "item:1", "1");
  transaction.events = {event};
  ASSERT_TRUE(is_committed(store->commit(transaction)));
  written(*store, "item:1", std::nullopt);
  clock_.advance_ms(20 * kMinuteMs);
  ASSERT_EQ(store->tidy(), 1U);
  const Result<History> history = open("two")->history({.mentioning = "L1"});
  ASSERT_TRUE(history);
  ASSERT_EQ(history->events.size(), 1U);
  EXPECT_EQ(history->events[0].event, event);
}

TEST_F(GitRefsLayout, AnOldLookIsEnoughForWhatIsFreeAndRefusesNothing) {
  const auto one = open("one");
  const auto two = open("two");
  Selection asked = Selection::of({{"item:1"}});
  asked.last_look_will_do = true;
  EXPECT_TRUE(two->read(asked)->last_look);
  written(*one, "item:1", "1");
  EXPECT_TRUE(two->read(asked)->last_look) << "it has not looked";
  EXPECT_FALSE(two->read(Selection::of({{"item:1"}}))->last_look);
  const Result<View> view = two->read(asked);
  EXPECT_FALSE(view->last_look) << "now it knows of one, and asks";
  EXPECT_EQ(view->records.size(), 1U);
}

TEST_F(GitRefsLayout, ANumberOutOfRangeIsNotTakenUp) {
  const auto store = open("one");
  written(*store, "item:1", "1");
  RemoteRefs refs = site_.refs("two");
  const std::string hostile = encode_line(
      {.seq = UINT64_MAX - 1, .crc = 0, .offset = 0},
      {.seq = 0, .unix_ms = 0, .nonce = {}, .writes = {{.key = {"item:2"}, .value = "1"}}});
  const Result<std::string> commit = refs.write_commit({}, hostile, 0);
  ASSERT_EQ(refs.push({{.name = "refs/dibs/r/item_3a2", .from = "", .to = *commit}})->kind,
            PushEnd::Kind::moved);
  EXPECT_EQ(store->read(Selection::of({{"item:2"}})).error().kind, ErrorKind::unreachable);
  EXPECT_TRUE(is_committed(put(*store, random_, "item:3", "1")));
}

}  // namespace
}  // namespace dibs
