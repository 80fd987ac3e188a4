// Standing in line until it is one's turn: what `claim acquire --wait`, `claim upgrade --wait` and
// landing share. The store's own wake-up ends each pause, so that waiting costs nothing while
// nothing happens.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "rules/line.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

/// What to do when something has changed: it takes what is waited for, or says `held`.
struct Turn {
  Selection selection;  // what it looks at, the lines included
  std::function<Result<Decision<Grants>>(const Board&, const PlaceInLine&)> take;
};

// `timed_out` when it was not to be had in time, `deadlock_victim` when to wait on would be a
// deadlock. Whatever the session holds meanwhile is kept alive. `wait` needs no id yet.
[[nodiscard]] Result<Grants> take_in_line(Workspace& workspace, Ledger& ledger,
                                          const WaitRequest& wait, const Turn& turn,
                                          std::int64_t most_secs);

}  // namespace dibs::verbs
