// The verbs on leases as a front calls them, in a real repository with a clock that tests move.
#include "verbs/claim.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "store/local.h"
#include "sys/posix_file_system.h"
#include "sys/programs.h"
#include "testing/fake_clock.h"
#include "testing/fake_machine.h"
#include "testing/seeded_random.h"
#include "testing/temp_directory.h"
#include "verbs/served_sessions.h"
#include "verbs/setup.h"
#include "verbs/workspace.h"

namespace dibs::verbs {
namespace {

class Verbs : public testing::Test {
 protected:
  Verbs() : repo_(temp_ / "repo") {
    EXPECT_TRUE(make_repository(repo_));
    EXPECT_TRUE(init(as("agent:a")));
  }

  // A new process of this agent, in the main worktree.
  Workspace& as(const std::string& agent, std::map<std::string, std::string> environment = {}) {
    environment["XDG_CONFIG_HOME"] = temp_ / "config";
    const auto look_up = [environment](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
    GlobalOptions options;
    if (!agent.empty()) options.agent_id = agent;
    processes_.push_back(std::make_unique<Workspace>(
        System{.files = files_,
               .clock = clock_,
               .random = random_,
               .machine = machine_,
               .git = git_,
               .environment = look_up,
               .current_directory = repo_},
        std::vector<StoreBackend>{backend()}, options,
        [this](const std::string& text) { warnings_.push_back(text); }));
    return *processes_.back();
  }
  StoreBackend backend() {
    return {.kind = "local",
            .open =
                [this](const StorePlace& place, const Warn& notice) {
                  auto store = std::make_unique<LocalStore>(files_, clock_, random_,
                                                            place.directory, notice);
                  Upkeep* upkeep = store.get();
                  return OpenedStore{.store = std::move(store), .upkeep = upkeep};
                },
            .create =
                [this](const StorePlace& place) {
                  return LocalStore::create(files_, place.directory, place.directory_mode);
                },
            .promises = local_promises()};
  }
  static Acquire asking(const std::string& resource, std::int64_t ttl_secs = 600) {
    Acquire request;
    request.resources = {resource};
    request.ttl_secs = ttl_secs;
    return request;
  }
  template <class T>
  static ErrorKind kind(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorKind::internal : result.error().kind;
  }

  TempDirectory temp_;
  std::string repo_;
  PosixFileSystem files_;
  FakeClock clock_;
  SeededRandom random_{1};
  FakeMachine machine_;
  PosixPrograms programs_;
  GitProgram git_{programs_, [] { return std::vector<std::string>{}; }};
  std::vector<std::string> warnings_;
  std::vector<std::unique_ptr<Workspace>> processes_;
};

TEST_F(Verbs, AcquireOutlivesTheShellThatRanIt) {
  const Result<Grants> grants = acquire(as("agent:a"), asking("42"));
  ASSERT_TRUE(grants) << grants.error().message;
  const Result<Grants> again = acquire(as("agent:a"), asking("42"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->front().already_held);
  EXPECT_EQ(again->front().lease.id, grants->front().lease.id);
  EXPECT_EQ(kind(acquire(as("agent:b"), asking("42"))), ErrorKind::held);
}

TEST_F(Verbs, ServedSessionsAreThoseWhoseLoopRuns) {
  Workspace& here = as("agent:a");
  const SessionId session{"run-1"};
  machine_.start(FakeMachine::kOwnPid, 7);
  {
    const ServedSession served(here, session);
    EXPECT_EQ(served_sessions(here), std::vector{session});
    machine_.hide(FakeMachine::kOwnPid);  // nobody knows: its own loop beats for it
    EXPECT_TRUE(served_sessions(here).empty());
  }
  EXPECT_TRUE(served_sessions(here).empty());
}

TEST_F(Verbs, WhatAKilledLoopLeftIsRemoved) {
  Workspace& here = as("agent:a");
  machine_.start(FakeMachine::kOwnPid, 7);
  const ServedSession served(here, SessionId{"run-1"});
  const std::string path = repo_ + "/.git/dibs/heartbeat/run-1.session";
  machine_.set_pid_namespace(1);  // of another container: it may well run
  EXPECT_TRUE(served_sessions(here).empty());
  EXPECT_TRUE(files_.status(path)->has_value());
  machine_.set_pid_namespace(4'026'531'836);
  machine_.end(FakeMachine::kOwnPid);
  EXPECT_TRUE(served_sessions(here).empty());
  EXPECT_FALSE(files_.status(path)->has_value());
}

TEST_F(Verbs, RetryBacksOffFromOneSecondToSixteenAndThenGivesUp) {
  ASSERT_TRUE(acquire(as("agent:a"), asking("42")));
  Acquire request = asking("42");
  request.strategy = Strategy::retry;
  const Result<Grants> refused = acquire(as("agent:b"), request);
  ASSERT_EQ(kind(refused), ErrorKind::held);
  EXPECT_TRUE(contains(refused.error().message, "also after 5 more tries"));
  // 1 + 2 + 4 + 8 + 16 seconds, each between half and whole.
  EXPECT_GE(clock_.slept_ms(), 15'500);
  EXPECT_LE(clock_.slept_ms(), 31'000);
}

TEST_F(Verbs, RetryGetsInWhenTheHoldersTimeIsOver) {
  ASSERT_TRUE(acquire(as("agent:a"), asking("42", 10)));
  Acquire request = asking("42");
  request.strategy = Strategy::retry;
  const Result<Grants> grants = acquire(as("agent:b"), request);
  ASSERT_TRUE(grants) << grants.error().message;
  EXPECT_GE(clock_.slept_ms(), 10'000);
}

TEST_F(Verbs, FailFastDoesNotWait) {
  ASSERT_TRUE(acquire(as("agent:a"), asking("42")));
  EXPECT_EQ(kind(acquire(as("agent:b"), asking("42"))), ErrorKind::held);
  EXPECT_EQ(clock_.slept_ms(), 0);
}

TEST_F(Verbs, ReleaseAnswersTheSameWhenRepeated) {
  const Grants grants = acquire(as("agent:a"), asking("42")).value();
  const std::string id = grants[0].lease.id.text;
  EXPECT_FALSE(release(as("agent:a"), id)->already);
  for (const std::string& name : {id, std::string("42"), std::string("item:42")}) {
    const Result<Released> again = release(as("agent:a"), name);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->already);
    EXPECT_EQ(again->lease.text, id);
  }
  EXPECT_EQ(kind(release(as("agent:b"), "42")), ErrorKind::not_found);
}

TEST_F(Verbs, LeaseIdsAreTakenInLowerCaseToo) {
  std::string id = acquire(as("agent:a"), asking("42")).value()[0].lease.id.text;
  for (char& c : id) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  EXPECT_TRUE(renew(as("agent:a"), {.lease = id, .ttl_secs = {}}));
}

TEST_F(Verbs, AnOustedHolderLearnsWhoAndWhy) {
  const Grants grants = acquire(as("agent:a"), asking("42")).value();
  ASSERT_TRUE(force_evict(as("human:b"), "42", "it hangs"));
  const Result<HeldLease> lost =
      renew(as("agent:a"), {.lease = grants[0].lease.id.text, .ttl_secs = {}});
  ASSERT_EQ(kind(lost), ErrorKind::lease_lost);
  EXPECT_TRUE(contains(lost.error().message, "human:b evicted it: it hangs"));
}

TEST_F(Verbs, VerifyKnowsTheLiveFenceAlone) {
  const std::uint64_t fence = acquire(as("agent:a"), asking("42")).value()[0].lease.fence.value;
  EXPECT_TRUE(verify(as("agent:b"), "42", fence));
  EXPECT_EQ(kind(verify(as("agent:b"), "42", fence + 1)), ErrorKind::lease_lost);
  const HeldLease given =
      transfer(as("agent:a"),
               {.lease = "42", .to_agent = "agent:c", .to_worktree = {}, .to_session = {}})
          .value();
  EXPECT_EQ(kind(verify(as("agent:b"), "42", fence)), ErrorKind::lease_lost);
  EXPECT_TRUE(verify(as("agent:b"), "42", given.lease.fence.value));
}

TEST_F(Verbs, ALeaseTiedToAProcessDiesWithIt) {
  machine_.start(42, 7);
  Acquire request = asking("1");
  request.pid = 42;
  ASSERT_TRUE(acquire(as("agent:a"), request));
  EXPECT_EQ(kind(acquire(as("agent:b"), asking("1"))), ErrorKind::held);
  machine_.end(42);
  EXPECT_TRUE(acquire(as("agent:b"), asking("1")));
  request.pid = 4711;
  EXPECT_EQ(kind(acquire(as("agent:a"), request)), ErrorKind::not_found) << "no such process";
}

TEST_F(Verbs, SessionsThatShareAnAgentAreTwoHolders) {
  ASSERT_TRUE(acquire(as("agent:a", {{"DIBS_SESSION", "run-1"}}), asking("42")));
  EXPECT_EQ(kind(acquire(as("agent:a", {{"DIBS_SESSION", "run-2"}}), asking("42"))),
            ErrorKind::held);
  EXPECT_EQ(kind(acquire(as("agent:a"), asking("42"))), ErrorKind::held);
  EXPECT_TRUE(
      acquire(as("agent:a", {{"DIBS_SESSION", "run-1"}}), asking("42"))->front().already_held);
}

TEST_F(Verbs, TheAgentComesFromFlagThenEnvironmentThenFile) {
  make_directories(temp_ / "config/dibs");
  EXPECT_EQ(kind(as("").agent()), ErrorKind::usage);
  write_bytes(temp_ / "config/dibs/agent.toml", "[agent]\nid = \"human:file\"\n");
  EXPECT_EQ(as("").agent()->text, "human:file");
  EXPECT_EQ(as("", {{"DIBS_AGENT_ID", "ci:env"}}).agent()->text, "ci:env");
  EXPECT_EQ(as("agent:flag", {{"DIBS_AGENT_ID", "ci:env"}}).agent()->text, "agent:flag");
}

TEST_F(Verbs, ReasonsAreAskedForBoundedAndPrintable) {
  EXPECT_EQ(kind(acquire(as("agent:a"), asking("42", 0))), ErrorKind::usage)
      << "indefinite needs one";
  Acquire forced = asking("42");
  forced.strategy = Strategy::force;
  EXPECT_EQ(kind(acquire(as("agent:a"), forced)), ErrorKind::usage);
  for (const std::string& bad : {std::string(1'000'000, 'x'), std::string("a\nb"),
                                 std::string("\x1b[31m"), std::string("\xff")}) {
    forced.reason = bad;
    const Result<Grants> refused = acquire(as("agent:a"), forced);
    ASSERT_EQ(kind(refused), ErrorKind::usage);
    EXPECT_LT(refused.error().message.size(), 200U);
    EXPECT_EQ(kind(force_evict(as("agent:a"), "42", bad)), ErrorKind::usage);
  }
}

TEST_F(Verbs, TheSameResourceNamedTwiceIsTakenOnce) {
  Acquire request = asking("42");
  request.resources = {"42", "item:42", "lock:x"};
  EXPECT_EQ(acquire(as("agent:a"), request)->size(), 2U);
}

TEST_F(Verbs, ListShowsWhatIsHeldAndWithStaleTheRest) {
  ASSERT_TRUE(acquire(as("agent:a"), asking("1", 60)));
  ASSERT_TRUE(acquire(as("agent:b"), asking("2", 600)));
  clock_.advance_ms(60'000);
  const auto held = list(as("agent:c"), {}).value();
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].resource.text, "item:2");
  List stale;
  stale.stale = true;
  const auto ended = list(as("agent:c"), stale).value();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].resource.text, "item:1");
  EXPECT_TRUE(status(as("agent:c"), "1")->leases.empty());
  EXPECT_EQ(cleanup(as("agent:c"), {.older_than_secs = 0, .dry_run = true})->size(), 1U);
  EXPECT_EQ(cleanup(as("agent:c"), {.older_than_secs = 0, .dry_run = false})->size(), 1U);
  EXPECT_TRUE(cleanup(as("agent:c"), {.older_than_secs = 0, .dry_run = false})->empty());
}

TEST(ExpiryWarning, ComesBelowTheThresholdAndNamesTheCommand) {
  HeldLease held{.resource = {"item:1"}, .lease = {}};
  const Instant now{.unix_ms = 1000, .boot_ms = 1000, .boot = {"b"}};
  held.lease.id = {"L1"};
  held.lease.ttl_secs = 600;
  held.lease.expires = later_by(now, 60'000);
  EXPECT_EQ(expiry_warning(held, now, 10), std::nullopt) << "ten per cent are left";
  held.lease.expires = later_by(now, 59'000);
  EXPECT_EQ(expiry_warning(held, now, 10),
            "your lease on item:1 ends in 59 s; keep it with: dibs claim renew L1");
  held.lease.expires = now;
  EXPECT_EQ(expiry_warning(held, now, 10), std::nullopt) << "it has ended: no warning helps";
}

}  // namespace
}  // namespace dibs::verbs
