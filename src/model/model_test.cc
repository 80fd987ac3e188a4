// What people type and what records hold: agents, sessions, resources, leases and events.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "model/agent.h"
#include "model/event.h"
#include "model/lease.h"
#include "model/resource.h"
#include "testing/property.h"

namespace dibs {
namespace {

// What no name may be, wherever it is typed.
const std::vector<std::string> kNeverPrintable{
    "line\nbreak",    "tab\there",       "\x1b[31mred", std::string("zero\0byte", 9),
    "\u202eoverride", "zero\u200bwidth", "not\xffutf8", "\xc0\xaf"};

void expect_usage(const Error& error) {
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_FALSE(error.hint.empty()) << error.message;
  EXPECT_TRUE(is_printable(error.message)) << printable(error.message);
  EXPECT_LT(error.message.size(), 1000U) << "10 KB have no place in a message";
}

TEST(AgentId, IsATypeAndAName) {
  for (const char* good : {"agent:copilot-1", "human:alice", "ci:nightly", "agent:A.b_c@d+e-9"}) {
    const Result<AgentId> agent = parse_agent_id(good);
    ASSERT_TRUE(agent) << good;
    EXPECT_EQ(agent->text, good);
  }
}

TEST(AgentId, RefusesEverythingElseWithTheFormToUse) {
  std::vector<std::string> bad = kNeverPrintable;
  for (const char* text :
       {"", "noname", ":x", "agent:", "Agent:x", "agent:a/b", "agent:../x", "agent:a b",
        "agent:\"x\"", "agent:'x'", "agent:a:b", "a gent:x", "agent:ü", "agent:$(id)"})
    bad.emplace_back(text);
  bad.push_back("agent:" + std::string(10'240, 'x'));
  bad.push_back("agent:" + std::string(95, 'x'));
  for (const std::string& text : bad) {
    const Result<AgentId> agent = parse_agent_id(text);
    ASSERT_FALSE(agent) << printable(text);
    expect_usage(agent.error());
    EXPECT_TRUE(contains(agent.error().hint, "--agent-id agent:copilot-1"));
  }
}

TEST(AgentId, MayBeAsLongAsTheLimit) {
  EXPECT_TRUE(parse_agent_id("agent:" + std::string(kAgentIdMax - 6, 'x')));
}

TEST(SessionId, TakesPlainWordsAndRefusesTheRest) {
  for (const char* good : {"run-1", "agent:a@wt:1a2b3c4d", "A.b_c:d@e+f"})
    EXPECT_TRUE(parse_session_id(good)) << good;
  std::vector<std::string> bad = kNeverPrintable;
  for (const char* text : {"", "a b", "a/b", "\"", "ü"}) bad.emplace_back(text);
  bad.emplace_back(kSessionIdMax + 1, 'x');
  for (const std::string& text : bad) {
    const Result<SessionId> session = parse_session_id(text);
    ASSERT_FALSE(session) << printable(text);
    expect_usage(session.error());
  }
}

TEST(SessionId, OfAnAgentIsTheAgentInItsWorktree) {
  EXPECT_EQ(session_of({"agent:a"}, {"wt:1"}).text, "agent:a@wt:1");
  EXPECT_EQ(session_of({"agent:a"}, {}).text, "agent:a");
}

TEST(ResourceName, IsAnItemUnlessItSaysOtherwise) {
  EXPECT_EQ(parse_resource("42")->key().text, "item:42");
  EXPECT_EQ(parse_resource("item:42")->key().text, "item:42");
  EXPECT_EQ(parse_resource("branch:main")->key().text, "branch:main");
  EXPECT_EQ(parse_resource("lock:deploy")->key().text, "lock:deploy");
  EXPECT_EQ(parse_resource("other:42")->key().text, "item:other:42");
  EXPECT_EQ(parse_resource("item:item:1")->key().text, "item:item:1");
}

TEST(ResourceName, MayHoldAnythingThatCanBeShown) {
  for (const char* name : {"a/b", "..", "../../etc/passwd", "with space", "\"quoted\"", "'q'", "ü✓",
                           "a.lock", "@{", "-x"}) {
    const Result<Resource> resource = parse_resource(name);
    ASSERT_TRUE(resource) << name;
    EXPECT_EQ(resource->name, name);
    EXPECT_EQ(resource_of(resource->key()), *resource) << "and comes back from its key";
  }
}

TEST(ResourceName, RefusesWhatCannotBeShownOrIsTooLong) {
  std::vector<std::string> bad = kNeverPrintable;
  for (const char* text : {"", "item:", "branch:", "lock:"}) bad.emplace_back(text);
  bad.emplace_back(10'240, 'x');
  bad.emplace_back("lock:" + std::string(kResourceNameMax + 1, 'x'));
  for (const std::string& text : bad) {
    const Result<Resource> resource = parse_resource(text);
    ASSERT_FALSE(resource) << printable(text);
    expect_usage(resource.error());
  }
  EXPECT_TRUE(parse_resource(std::string(kResourceNameMax, 'x')));
}

TEST(ResourceName, OfFilesIsRefusedAsNotYetThere) {
  const Result<Resource> resource = parse_resource("file:src/**");
  ASSERT_FALSE(resource);
  expect_usage(resource.error());
  EXPECT_TRUE(contains(resource.error().message, "not available in this version"));
}

TEST(ResourceName, ComesFromNoGuardRecord) { EXPECT_FALSE(resource_of({"guard:indefinite"})); }

// --- leases in records ---

Lease full_lease() {
  const Instant beat{.unix_ms = 1'767'441'600'250, .boot_ms = 777, .boot = {"boot-1"}};
  return {.id = {"01ARYZ6S410000000000000000"},
          .agent = {"agent:a"},
          .session = {"agent:a@wt:1"},
          .worktree = {"wt:1"},
          .branch = "feature/\"x\"",
          .claim_state = "building",
          .mode = Mode::shared,
          .fence = {7},
          .ttl_secs = 600,
          .acquired_unix_ms = 1'767'441'500'000,
          .beat = beat,
          .expires = later_by(beat, 600'000),
          .process =
              ProcessTie{
                  .host = "h", .boot = {"boot-1"}, .pid_namespace = 4, .pid = 5, .start_ticks = 6},
          .reason = "a \"reason\" ü",
          .unknown_members = R"("mood":"fine","nested":{"a":[1,null]})"};
}

Record record_with(const std::string& value) {
  return {.key = {"item:1"}, .value = value, .version = {9}, .fence = {9}};
}

TEST(LeaseRecord, ComesBackWithEverythingAlsoWhatIsNotKnown) {
  Lease indefinite = full_lease();
  indefinite.id = {"L2"};
  indefinite.ttl_secs = 0;
  indefinite.expires.reset();
  indefinite.process.reset();
  indefinite.unknown_members.clear();
  indefinite.claim_state.clear();
  Lease on_a_server = full_lease();
  on_a_server.beat = {.unix_ms = 5000, .boot_ms = 0, .boot = {}};
  on_a_server.expires = {.unix_ms = 6000, .boot_ms = 0, .boot = {}};
  const Holding holding{{full_lease(), indefinite, on_a_server}};
  const Result<Holding> back = holding_of(record_with(to_json(holding)));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, holding);
}

TEST(LeaseRecord, AnyTimesComeBackToTheMillisecond) {
  EXPECT_PROPERTY(200, 100, [] {
    Lease lease = full_lease();
    lease.beat.unix_ms = *any_in<std::int64_t>(0, 4'000'000'000'000);
    lease.beat.boot_ms = *any_in<std::int64_t>(0, 1'000'000'000'000);
    lease.ttl_secs = *any_in<std::int64_t>(1, kTtlSecsMax + 1);
    lease.expires = later_by(lease.beat, *any_in<std::int64_t>(1, 4'000'000'000));
    lease.fence.value = *any_in<std::uint64_t>(1, UINT64_MAX);
    const Holding holding{{lease}};
    RC_ASSERT(holding_of(record_with(to_json(holding))).value() == holding);
  });
}

TEST(LeaseRecord, WithoutAFenceHasThatOfTheCommitThatWroteIt) {
  Lease lease = full_lease();
  lease.fence = {};
  const std::string text = to_json(Holding{{lease}});
  EXPECT_FALSE(contains(text, "\"fence\""));
  EXPECT_EQ(holding_of(record_with(text))->leases[0].fence, Fence{9});
  std::string zero = to_json(Holding{{full_lease()}});
  zero.replace(zero.find("\"fence\":7"), 9, "\"fence\":0");
  EXPECT_EQ(holding_of(record_with(zero))->leases[0].fence, Fence{9});
}

TEST(LeaseRecord, ThatLacksSomethingIsAnErrorAndNotFree) {
  const std::string good = to_json(Holding{{full_lease()}});
  ASSERT_TRUE(holding_of(record_with(good)));
  for (const char* member : {"lease_id", "agent_id", "session", "mode", "ttl_secs", "acquired_at",
                             "beat_at", "expires_at"}) {
    std::string bad = good;
    const std::size_t at = bad.find('"' + std::string(member) + '"');
    ASSERT_NE(at, std::string::npos) << member;
    bad[at + 1] = 'X';
    const Result<Holding> back = holding_of(record_with(bad));
    ASSERT_FALSE(back) << member;
    EXPECT_TRUE(contains(back.error().message, "item:1"));
  }
  for (const char* bad :
       {"", "[]", "{}", R"({"leases":{}})", R"({"leases":[1]})", R"({"leases":[{}]})"})
    EXPECT_FALSE(holding_of(record_with(bad))) << bad;
}

TEST(LeaseRecord, RefusesTimesOutOfRangeAndATieItCannotRead) {
  std::string bad = to_json(Holding{{full_lease()}});
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"ttl_secs\":600", "\"ttl_secs\":-1"},
           {"\"ttl_secs\":600", "\"ttl_secs\":99999999999"},
           {"\"expires_boot_ms\":600777", "\"expires_boot_ms\":-1"},
           {"\"expires_boot_ms\":600777", "\"expires_boot_ms\":9223372036854775807"},
           {R"("mode":"shared")", R"("mode":"upside-down")"},
           {"\"start_ticks\":6", "\"start_ticks\":-6"}}) {
    std::string text = bad;
    text.replace(text.find(from), from.size(), to);
    EXPECT_FALSE(holding_of(record_with(text))) << to;
  }
}

TEST(LeaseRecord, ShowsPeopleItsPublicMembers) {
  const std::string shown = "{" + public_members(full_lease(), {"item:1"}) + "}";
  ASSERT_TRUE(parse_json(shown));
  EXPECT_TRUE(contains(shown, R"("lease_id":"01ARYZ6S410000000000000000","resource":"item:1")"));
  EXPECT_TRUE(contains(shown, R"("expires_at":"2026-01-03T12:10:00.250Z")"));
  EXPECT_FALSE(contains(shown, "boot"));
}

// --- events ---

TEST(EventRecord, ComesBackForEveryOp) {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_EQ(parse_op(name_of(op)), op);
    Event event;
    event.op = op;
    event.resource = {"item:\"1\""};
    event.lease = {"L1"};
    event.agent = {"agent:a"};
    event.session = {"s"};
    if (i % 2 == 0) {
      event.worktree = {"wt:1"};
      event.expires_unix_ms = 1'767'441'600'250;
      event.by = AgentId{"human:b"};
      event.to_lease = LeaseId{"L2"};
      event.to_agent = AgentId{"agent:c"};
      event.reason = "why";
    }
    EXPECT_EQ(*event_from_json(*parse_json(to_json(event))), event);
  }
}

TEST(EventRecord, OfAnUnknownOpIsRefused) {
  EXPECT_FALSE(parse_op("levitate"));
  EXPECT_FALSE(event_from_json(*parse_json(R"({"op":"levitate"})")));
  EXPECT_FALSE(event_from_json(*parse_json("{}")));
}

}  // namespace
}  // namespace dibs
