// Changes of the local store that move refs too: both or neither, wherever it is cut short.
#include <gtest/gtest.h>

#include <string>

#include "store/local_files.h"
#include "testing/fake_refs.h"
#include "testing/local_site.h"

namespace dibs {
namespace {

class LocalLanding : public testing::Test {
 protected:
  explicit LocalLanding(std::uint64_t seed = 1) : site_({}, seed) {
    refs_.refs = {{"refs/heads/main", "a"}, {"refs/heads/topic", "a/t"}};
    refs_.power_is_out = [this] { return site_.disk.power_is_out(); };
    EXPECT_TRUE(is_committed(put(*open(), site_.random, "item:1", "\"held\"")));
  }

  std::unique_ptr<LocalStore> open() {
    return std::make_unique<LocalStore>(
        site_.disk, site_.clock, site_.random, site_.directory,
        [this](const std::string& note) { site_.notices.push_back(note); }, site_.limits,
        std::make_unique<FakeLocalRefs>(refs_));
  }
  Transaction landing(const std::string& from = "a") {
    Transaction transaction = writing(site_.random, "item:1", std::nullopt);
    transaction.refs = {{.name = "refs/heads/main", .from = from, .to = "a/m"},
                        {.name = "refs/heads/topic", .from = "a/t", .to = ""}};
    return transaction;
  }
  bool is_held() { return contents_of(*open())->contains("item:1"); }
  // The next command that writes anything, which finds whatever was left.
  void next_command() { EXPECT_TRUE(is_committed(put(*open(), site_.random, "item:2", "1"))); }
  std::string main() { return refs_.refs["refs/heads/main"]; }
  std::string topic() { return refs_.refs["refs/heads/topic"]; }

  LocalSite site_;
  FakeRefs refs_;
};

TEST_F(LocalLanding, MovesRefsAndRecordTogether) {
  EXPECT_TRUE(is_committed(open()->commit(landing())));
  EXPECT_EQ(main(), "a/m");
  EXPECT_EQ(topic(), "");
  EXPECT_FALSE(is_held());
  EXPECT_FALSE(site_.disk.contents(site_.path(std::string(kLandingName))));
}

TEST_F(LocalLanding, DoesNothingWhenARefIsElsewhere) {
  const Result<Outcome> outcome = open()->commit(landing("b"));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<RefsMoved>(*outcome));
  EXPECT_EQ(main(), "a");
  EXPECT_TRUE(is_held());
  next_command();
  EXPECT_TRUE(is_held());
}

TEST_F(LocalLanding, DoesNothingWhenTheLeaseIsNotWhatItWas) {
  Transaction late = landing();
  late.expectations = {{.key = {"item:1"}, .version = Version{99}}};
  const Result<Outcome> outcome = open()->commit(late);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<LostRace>(*outcome));
  EXPECT_EQ(main(), "a");
}

TEST_F(LocalLanding, IsFinishedWhenGitDiesBetweenTwoRefs) {
  refs_.dies_after = 1;
  EXPECT_TRUE(is_committed(open()->commit(landing())));
  EXPECT_EQ(main(), "a/m");
  EXPECT_EQ(topic(), "");
  EXPECT_FALSE(is_held());
}

TEST_F(LocalLanding, HasNotHappenedWhenGitDiesBeforeTheFirst) {
  refs_.dies_after = 0;
  const Result<Outcome> outcome = open()->commit(landing());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<RefsMoved>(*outcome));
  EXPECT_EQ(main(), "a");
  next_command();
  EXPECT_TRUE(is_held());
  EXPECT_TRUE(refs_.locks.empty()) << "the lock that git left is in nobody's way";
  EXPECT_TRUE(is_committed(open()->commit(landing())));
}

TEST_F(LocalLanding, LeavesAnEmptyLockThatMayBeAnothers) {
  refs_.dies_after = 0;
  refs_.dies_before_writing = true;
  EXPECT_TRUE(std::holds_alternative<RefsMoved>(*open()->commit(landing())));
  next_command();
  EXPECT_TRUE(is_held());
  const Result<Outcome> again = open()->commit(landing());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::contended);
}

// What a crash leaves at each step, built by hand, and what the next command makes of it.
TEST_F(LocalLanding, IsFinishedByTheNextCommandAlsoAfterTheTargetWentOn) {
  site_.disk.lose_power_at(1000);
  (void)open()->commit(landing());
  const std::string log = site_.log();
  const std::size_t last_line = log.rfind('\n', log.size() - 2) + 1;
  const PendingLanding pending{.refs = landing().refs, .line = log.substr(last_line), .reason = ""};
  const auto rewind = [&] {
    site_.disk.put(site_.path("claims.jsonl"), log.substr(0, last_line));
    site_.disk.put(site_.path(std::string(kLandingName)), to_json(pending));
  };
  rewind();  // moved, not written down
  refs_.refs = {{"refs/heads/main", "a/m/more"}, {"refs/heads/topic", "a/t"}};
  next_command();
  EXPECT_FALSE(is_held());
  EXPECT_EQ(topic(), "") << "the rest follows";
  rewind();  // not moved
  refs_.refs = {{"refs/heads/main", "a/other"}, {"refs/heads/topic", "a/t"}};
  next_command();
  EXPECT_TRUE(is_held());
  EXPECT_EQ(topic(), "a/t");
  EXPECT_FALSE(site_.disk.contents(site_.path(std::string(kLandingName))));
}

// Whoever asks "is it still mine?" must not hear yes of what a landing that was cut short has
// ended.
TEST_F(LocalLanding, IsFinishedBeforeALeaseIsConfirmed) {
  const std::unique_ptr<LocalStore> store = open();
  const Result<View> view = store->read(Selection::of({{"item:1"}}));
  ASSERT_TRUE(view && view->find({"item:1"}) != nullptr);
  const Transaction confirms{
      .nonce = site_.random.nonce(),
      .expectations = {{.key = {"item:1"}, .version = view->find({"item:1"})->version}}};
  ASSERT_TRUE(is_committed(open()->commit(confirms)));

  EXPECT_TRUE(is_committed(open()->commit(landing())));
  const std::string log = site_.log();
  const std::size_t last_line = log.rfind('\n', log.size() - 2) + 1;
  const PendingLanding pending{.refs = landing().refs, .line = log.substr(last_line), .reason = ""};
  site_.disk.put(site_.path("claims.jsonl"), log.substr(0, last_line));
  site_.disk.put(site_.path(std::string(kLandingName)), to_json(pending));
  const Result<Outcome> confirmed = open()->commit(confirms);
  ASSERT_TRUE(confirmed);
  EXPECT_TRUE(std::holds_alternative<LostRace>(*confirmed));
  EXPECT_FALSE(is_held());
}

TEST_F(LocalLanding, HasNotHappenedWhenNothingMovesAndTheDiskFails) {
  for (std::uint64_t nth = 1; nth <= 16; ++nth) {
    SCOPED_TRACE(nth);
    const bool git_dies = nth % 2 == 0;
    refs_.dies_after = git_dies ? 0 : SIZE_MAX;
    site_.disk.fail_at(nth / 2);
    EXPECT_FALSE(is_committed(open()->commit(landing(git_dies ? "a" : "elsewhere"))));
    site_.disk.fail_from(1, 0);
    next_command();
    EXPECT_TRUE(is_held());
    EXPECT_EQ(main(), "a");
  }
}

TEST_F(LocalLanding, StaysToBeFinishedOnADiskThatDoesNotFlush) {
  ASSERT_TRUE(is_committed(open()->commit(landing())));
  const std::string log = site_.log();
  const std::size_t last_line = log.rfind('\n', log.size() - 2) + 1;
  const PendingLanding pending{.refs = landing().refs, .line = log.substr(last_line), .reason = ""};
  for (std::uint64_t nth = 1; nth <= 8; ++nth) {
    SCOPED_TRACE(nth);
    site_.disk.put(site_.path("claims.jsonl"), log.substr(0, last_line));
    site_.disk.put(site_.path(std::string(kLandingName)), to_json(pending));
    site_.disk.fail_from(nth, 100);
    EXPECT_FALSE(is_committed(put(*open(), site_.random, "item:2", "1")));
    site_.disk.fail_from(1, 0);
    next_command();
    EXPECT_FALSE(is_held());
    EXPECT_EQ(main(), "a/m");
  }
}

TEST_F(LocalLanding, AFileThatCannotBeReadStopsWritersAndSaysWhatToDo) {
  site_.disk.put(site_.path(std::string(kLandingName)), "half of it");
  const Result<Outcome> outcome = put(*open(), site_.random, "item:2", "1");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::unreachable);
  EXPECT_NE(outcome.error().hint.find("rm "), std::string::npos);
}

class LandingThroughPowerLoss : public LocalLanding, public testing::WithParamInterface<int> {
 protected:
  LandingThroughPowerLoss() : LocalLanding(static_cast<std::uint64_t>(GetParam())) {}
};

TEST_P(LandingThroughPowerLoss, IsWholeOrNot) {
  site_.disk.lose_power_at(static_cast<std::uint64_t>(GetParam()));
  const bool acknowledged = is_committed(open()->commit(landing()));
  site_.disk.crash();
  next_command();
  const bool landed = main() == "a/m";
  EXPECT_EQ(is_held(), !landed);
  EXPECT_EQ(topic(), landed ? "" : "a/t");
  EXPECT_TRUE(landed || !acknowledged);
}
INSTANTIATE_TEST_SUITE_P(Store, LandingThroughPowerLoss, testing::Range(1, 14));

}  // namespace
}  // namespace dibs
