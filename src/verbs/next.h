// `next`: which item this agent should take now, and taking it in the same call. A lost race moves
// on to the next candidate, so that any number of agents can ask at the same moment and each gets a
// different one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/choice.h"
#include "verbs/items.h"
#include "verbs/landing.h"

namespace dibs::verbs {

struct Next {
  enum class Take { nothing, lease, worktree };
  Take take = Take::nothing;
  std::vector<std::string> labels;
  std::vector<std::string> except = {};   // ids of items that are not wanted
  std::vector<std::string> workers = {};  // kinds that it may be for; none: for this agent
  std::optional<std::int64_t> ttl_secs;
  std::optional<std::int64_t> pid;
  std::string reason;
};

/// A candidate with what spoke for it.
struct Weighed {
  ItemId id;
  std::string worker;  // whom it suits best, of the kinds that were asked for
  Score score;
  std::optional<std::string> overlap;
};

struct NextItem {
  ShownItem shown;
  std::string worker;                  // the kind that it is for; empty when none was asked for
  std::string model;                   // as that kind says
  std::optional<HeldLease> held;       // with Take::lease
  std::optional<Started> started;      // with Take::worktree
  std::optional<std::string> overlap;  // a file that it shares with what another holds
  ChosenAs as = ChosenAs::best;
  Score score;
  std::vector<Weighed> runners_up;
};
// `nothing_ready` when there is nothing that this agent, or any of the kinds, could take. What is
// taken for a kind is held under its own agent id (verbs/worker_kinds).
[[nodiscard]] Result<NextItem> next(Workspace& workspace, const Next& request);

}  // namespace dibs::verbs
