// Who waits for whom, and the circles in it. A session waits for those who hold what it stands in
// line for, and for those who come before it there; all of them have to go first, so every circle
// is a deadlock.
#pragma once

#include <vector>

#include "base/ids.h"
#include "model/record.h"
#include "rules/board.h"

namespace dibs {

/// One session waits for another.
struct Wait {
  enum class For { what_it_holds, its_turn };
  SessionId session;
  SessionId blocker;
  Key resource;
  For why = For::what_it_holds;

  friend bool operator==(const Wait&, const Wait&) = default;
};

// Every one on the board, which has to show everything. Those who have been told to give way do not
// wait any more.
[[nodiscard]] std::vector<Wait> waits_on(const Board& board, const Policy& policy);

/// Sessions that wait for one another in a circle: each for the next, and the last for the first.
struct Deadlock {
  std::vector<Wait> ring;
  SessionId victim;  // who gives way

  friend bool operator==(const Deadlock&, const Deadlock&) = default;
};

// One for each knot of circles. The victim is who has done the least (whole minutes that it has
// held its leases, added up), then who waits with the lowest priority, then who started last.
[[nodiscard]] std::vector<Deadlock> deadlocks_on(const Board& board, const Policy& policy);

// "a waits for item:1, which b holds; b waits for item:2, which a holds"
[[nodiscard]] std::string in_words(const Deadlock& deadlock);

}  // namespace dibs
