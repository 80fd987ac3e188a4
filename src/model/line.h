// Who waits for a resource, in order. A Line is the typed form of one record, beside the record of
// the resource itself: there, everybody can see who is next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/lease.h"
#include "model/record.h"

namespace dibs {

inline constexpr std::size_t kWaitersMax = 128;  // in one line
inline constexpr int kWaitPriorityDefault = 2;
inline constexpr int kWaitPriorityLeast = 4;  // 0 is the most urgent

using WaitId = Id<struct WaitTag>;

/// Work that one who waits to land has ready. Whoever has the branch may land it together with its
/// own.
struct Offer {
  Key item;
  LeaseId lease;
  std::string work;  // a commit

  friend bool operator==(const Offer&, const Offer&) = default;
};

[[nodiscard]] std::string to_json(const Offer& offer);
// What cannot be read is as if nothing was offered: who offers it lands for itself.
[[nodiscard]] std::optional<Offer> offer_from(const Json& json);

struct Waiter {
  WaitId id;
  AgentId agent;
  SessionId session;
  Mode mode = Mode::exclusive;
  int priority = kWaitPriorityDefault;
  std::int64_t since_unix_ms = 0;
  Instant until;  // it is taken for dead then, unless it has said before that it goes on waiting
  std::optional<ProcessTie> process;
  int lines = 1;  // how many it stands in: it takes all that it waits for, or nothing
  std::optional<LeaseId> upgrades;  // it holds this one, shared, and wants the resource for itself
  std::optional<Offer> offer;
  std::string victim_of;  // not empty: it was chosen to give way, and this is why

  [[nodiscard]] bool must_give_way() const { return !victim_of.empty(); }
  friend bool operator==(const Waiter&, const Waiter&) = default;
};

struct Line {
  std::vector<Waiter> waiters;  // the next one first

  [[nodiscard]] const Waiter* find(const WaitId& id) const;
  friend bool operator==(const Line&, const Line&) = default;
};

// The record of the line for a resource, and the way back; nothing when it is no line's.
[[nodiscard]] Key line_key(const Key& resource);
[[nodiscard]] std::optional<Key> waited_for(const Key& key);

[[nodiscard]] std::string to_json(const Line& line);
[[nodiscard]] Result<Line> line_of(const Record& record);

// What people and scripts see.
[[nodiscard]] std::string public_members(const Waiter& waiter);

}  // namespace dibs
