// What the rules look at: the records a decision concerns, the store's clock, and which processes
// are known to be gone. Everything a rule may know is on the board; rules touch nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "model/lease.h"
#include "model/line.h"
#include "model/resource.h"

namespace dibs {

/// One record as the store has it now.
struct Seat {
  std::optional<Version> version;  // none: there is no record
  Holding holding;                 // a resource's
  Line line;                       // a line's
};

/// What a repository has settled on; from its configuration.
struct Policy {
  std::int64_t stale_after_secs = 600;
  std::size_t indefinite_per_agent = 2;
  std::size_t indefinite_per_repository = 16;
};

struct Board {
  Instant now;
  std::int64_t margin_ms =
      0;  // how far this store's clock may be off; a taker waits that much longer
  std::map<Key, Seat> seats;
  std::map<LeaseId, std::string> gone;  // leases tied to a process that has ended, and how we know
  std::map<WaitId, std::string> gone_waiters;  // the same of those who wait

  // The seat of a resource; an empty one when there is no record.
  [[nodiscard]] const Seat& seat(const Key& key) const;
  // Who waits for it, as far as the board shows that.
  [[nodiscard]] const Line& line(const Key& resource) const {
    return seat(line_key(resource)).line;
  }
};

enum class Condition {
  live,
  stale,   // indefinite, and no sign of life for too long: held, but `steal-stale` may take it
  lapsed,  // its time is over
  dead,    // its process is gone
};

/// How a lease stands towards others who want its resource.
struct Standing {
  Condition condition = Condition::live;
  std::string why;  // for people: "expired 12 s ago"

  // Whether the holder still has the right.
  [[nodiscard]] bool held() const {
    return condition == Condition::live || condition == Condition::stale;
  }
};

[[nodiscard]] Standing standing_of(const Lease& lease, const Board& board, const Policy& policy);

// Whether the holder itself may still act on the lease. Stricter than what others see by the
// clock's margin, so that the holder stops before anyone else may start.
[[nodiscard]] bool holder_may_act(const Lease& lease, const Board& board);

// Whether one who stands in line is known to wait no more: its process is gone, or it has not said
// for long that it does. Says why, for people.
[[nodiscard]] std::optional<std::string> why_gone(const Waiter& waiter, const Board& board);

}  // namespace dibs
