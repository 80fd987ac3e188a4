// The rules of waiting. Whoever wants what is held may stand in its line: first in, first out
// within a priority, and nobody from outside takes what one in line is waiting for. A place in the
// line is a record like any other, so everybody sees the same order, and whoever dies leaves it.
//
//   Result<Decision<Joined>> joined = join(board, request);   // the board shows everything
//   … when something has changed: acquire(board, {…, .place = {.id = request.id}})
//   … at the end of one's patience: leave(board, who, resources, "gave up")
//
// To wait is to say it before all others that wait: joins share one guard record. So a circle of
// waits is seen by the last to join it (rules/deadlock.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "rules/claim.h"
#include "rules/deadlock.h"

namespace dibs {

// The record that everyone who begins to wait shares.
[[nodiscard]] const Key& waits_guard();

/// What becomes of the one who has to give way in a deadlock.
enum class Resolve {
  tell,   // its wait ends, and it is told; it keeps what it holds
  evict,  // what it holds of the circle is taken from it as well
};

struct WaitRequest {
  Claimant who;
  std::vector<Resource> resources;  // one place in the line of each: all, or none
  WaitId id;
  Mode mode = Mode::exclusive;
  int priority = kWaitPriorityDefault;
  std::optional<LeaseId> upgrades;  // then it stands before all who hold nothing
  std::optional<Offer> offer;
  std::int64_t sign_of_life_ms = 0;  // it is taken for dead after this, unless it joins again
  Resolve resolve = Resolve::tell;
  Policy policy;
};

struct Joined {
  std::size_t ahead = 0;            // how many come first, where most do
  std::vector<Deadlock> deadlocks;  // that there would have been, each with who gives way
  bool must_give_way = false;       // it is who asks that does: it does not wait
  Grants evicted;                   // what was taken from those who give way
};

// Asked again with the same id, it keeps its place and gives a sign of life.
[[nodiscard]] Result<Decision<Joined>> join(const Board& board, const WaitRequest& request);

[[nodiscard]] Decision<std::monostate> leave(const Board& board, const WaitId& id,
                                             const std::vector<Resource>& resources,
                                             const std::string& why);

// Who comes before one that stands there, or outside, and will not share with it; null: it is its
// turn.
[[nodiscard]] const Waiter* ahead_of(const Board& board, const Key& resource, Mode mode,
                                     const SessionId& session, const PlaceInLine& place);
// How many there are.
[[nodiscard]] std::size_t count_ahead(const Board& board, const Key& resource, const WaitId& id);

/// What one who waits can expect.
struct Outlook {
  std::size_t ahead = 0;                 // how many come first, where most do
  std::optional<std::int64_t> lapse_ms;  // until the next right or place ends by itself
  std::optional<WaitId> has_its_turn;    // nobody holds it, and yet this one does not take it
};
[[nodiscard]] Outlook outlook(const Board& board, const std::vector<Resource>& resources,
                              const WaitId& id, const Policy& policy);

// Part of a grant, or of saying that it was given before: takes the one who has it out of the line,
// and who is known to wait no more.
void take_out(Changes& changes, const Board& board, const Key& resource, const PlaceInLine& place);

// Its place, if it has been told to leave it; null otherwise.
[[nodiscard]] const Waiter* told_to_give_way(const Board& board, const Key& resource,
                                             const PlaceInLine& place);

// The refusal for one who is outside, or not the next one.
[[nodiscard]] Error not_its_turn(const Board& board, const Key& resource, const Waiter& next);
// `deadlock`: in words.
[[nodiscard]] Error gives_way(const std::string& deadlock);

}  // namespace dibs
