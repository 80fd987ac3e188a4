// A board that takes in what rules decide, as a store would, for tests of the rules of leases.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rules/claim.h"

namespace dibs {

inline constexpr std::int64_t kMinute = 60'000;

inline Resource item(const std::string& name) { return {.kind = ResourceKind::item, .name = name}; }

inline Claimant someone(const std::string& agent, const std::string& worktree = "wt:00000001") {
  return {.agent = {agent},
          .session = {agent + "@" + worktree},
          .worktree = {worktree},
          .branch = "main",
          .process = std::nullopt};
}

inline const Claimant kOne = someone("agent:one");
inline const Claimant kOneElsewhere = someone("agent:one", "wt:00000002");
inline const Claimant kTwo = someone("agent:two");
inline const Claimant kThree = someone("agent:three");

/// A board, and what writes decisions down on it.
class Rules : public testing::Test {
 protected:
  Rules() { board_.now = {.unix_ms = 1'767'441'600'000, .boot_ms = 1000, .boot = {"boot-1"}}; }

  AcquireRequest request(const Claimant& who, const std::vector<std::string>& names,
                         std::int64_t ttl_secs = 600) {
    AcquireRequest made{.who = who,
                        .resources = {},
                        .new_ids = {},
                        .mode = Mode::exclusive,
                        .ttl_secs = ttl_secs,
                        .takeover = Takeover::ended_only,
                        .reason = {},
                        .policy = policy_};
    for (const std::string& name : names) {
      made.resources.push_back(item(name));
      made.new_ids.push_back({"L" + std::to_string(++leases_)});
    }
    return made;
  }
  AcquireRequest shared(const Claimant& who, const std::vector<std::string>& names,
                        std::int64_t ttl_secs = 600) {
    AcquireRequest made = request(who, names, ttl_secs);
    made.mode = Mode::shared;
    return made;
  }
  static AcquireRequest with(AcquireRequest made, Takeover takeover, std::string reason = {}) {
    made.takeover = takeover;
    made.reason = std::move(reason);
    return made;
  }

  // Writes a decision down. Whatever it writes it must also have expected.
  void apply(const Changes& changes) {
    events_ = changes.events;
    for (const Expectation& expected : changes.expectations)
      EXPECT_EQ(expected.version, board_.seat(expected.key).version) << expected.key.text;
    if (changes.writes.empty()) return;
    ++seq_;
    for (const Write& write : changes.writes) {
      EXPECT_EQ(std::ranges::count(changes.expectations, write.key, &Expectation::key), 1)
          << write.key.text << " is written and not expected";
      board_.seats.erase(write.key);
      if (!write.value) continue;
      Seat seat;
      seat.version = Version{seq_};
      if (resource_of(write.key)) seat.holding = *holding_of(record(write));
      if (waited_for(write.key)) seat.line = *line_of(record(write));
      board_.seats[write.key] = seat;
    }
  }
  Record record(const Write& write) const {
    return {.key = write.key, .value = *write.value, .version = {seq_}, .fence = {seq_}};
  }
  template <class Reply>
  Result<Reply> applied(Result<Decision<Reply>> decision) {
    if (!decision) return fail(decision.error());
    apply(decision->changes);
    return decision->reply;
  }
  Result<Grants> take(const AcquireRequest& asked) {
    Result<Grants> grants = applied(acquire(board_, asked));
    if (grants) stamp(*grants, Fence{seq_});
    return grants;
  }
  Lease taken(const Claimant& who, const std::string& name, std::int64_t ttl_secs = 600) {
    const Result<Grants> grants = take(request(who, {name}, ttl_secs));
    EXPECT_TRUE(grants) << grants.error().message;
    return grants ? grants->front().lease : Lease{};
  }
  Lease taken_shared(const Claimant& who, const std::string& name, std::int64_t ttl_secs = 600) {
    const Result<Grants> grants = take(shared(who, {name}, ttl_secs));
    EXPECT_TRUE(grants) << grants.error().message;
    return grants ? grants->front().lease : Lease{};
  }
  Result<Grants> renewed(const Claimant& who, const LeaseRef& ref,
                         std::optional<std::int64_t> ttl_secs = std::nullopt) {
    return applied(renew(board_, {.who = who, .lease = ref, .ttl_secs = ttl_secs}));
  }
  void pass(std::int64_t ms) { board_.now = later_by(board_.now, ms); }
  void reboot() {
    board_.now = {.unix_ms = board_.now.unix_ms + kMinute, .boot_ms = 5, .boot = {"boot-2"}};
  }
  std::vector<Lease> on(const std::string& name) {
    return board_.seat(item(name).key()).holding.leases;
  }
  std::vector<Op> ops() const {
    std::vector<Op> all;
    for (const Event& event : events_) all.push_back(event.op);
    return all;
  }
  static ErrorKind kind(const Result<Grants>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorKind::internal : result.error().kind;
  }

  Board board_;
  Policy policy_;
  std::uint64_t seq_ = 0;
  std::uint64_t leases_ = 0;
  std::vector<Event> events_;
};

using Ops = std::vector<Op>;

}  // namespace dibs
