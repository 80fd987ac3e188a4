// One line of history: who did what to which resource, and why. Events never decide anything: the
// records do. They are kept so that a person can ask what happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "model/agent.h"

namespace dibs {

using Key = Id<struct KeyTag>;

enum class Op {
  acquire,
  renew,
  heartbeat,
  release,
  transfer,
  auto_evict,
  force_evict,
  upgrade,
  downgrade,
  land,
  wait,   // stands in line from now on; the event's lease is the wait's id
  leave,  // does so no more, and got nothing
};
inline constexpr std::size_t kOpCount = 12;

[[nodiscard]] std::string_view name_of(Op op);
[[nodiscard]] std::optional<Op> parse_op(std::string_view name);

struct Event {
  Op op = Op::acquire;
  Key resource;
  LeaseId lease;
  AgentId agent;  // the holder
  SessionId session;
  WorktreeId worktree;
  std::optional<std::int64_t> expires_unix_ms;  // when the lease ends now, if it does
  std::optional<AgentId> by;                    // who did it, where that is not the holder
  std::optional<LeaseId> to_lease;              // transfer: the lease that replaces this one
  std::optional<AgentId> to_agent;
  std::string reason;

  friend bool operator==(const Event&, const Event&) = default;
};

/// An event with its place in history.
struct PastEvent {
  std::uint64_t seq = 0;
  std::int64_t unix_ms = 0;
  Event event;

  friend bool operator==(const PastEvent&, const PastEvent&) = default;
};

[[nodiscard]] std::string to_json(const Event& event);
[[nodiscard]] std::string to_json(const PastEvent& event);
[[nodiscard]] Result<Event> event_from_json(const Json& json);

}  // namespace dibs
