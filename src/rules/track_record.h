// How an agent's work has ended so far, from the events of the past: what `next` weighs beside what
// the team says about its agents.
//
// A lease that landed is a success. One that was given back, ran out or was taken is not, unless
// the item is finished all the same: then somebody else did it, or it was done without landing.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/event.h"
#include "rules/worker_fit.h"

namespace dibs {

inline constexpr std::size_t kLandedLastMax = 8;

// The events that count; others may be left out.
inline constexpr std::array kLeaseEnds{Op::land, Op::release, Op::auto_evict, Op::force_evict};

/// What the events do not say.
struct PastFacts {
  std::function<bool(const AgentId&)> counts;  // whether that agent's work is this worker's record
  std::function<std::optional<std::string>(const Key&)> type_of;  // nothing: it is no item, or gone
  std::function<bool(const Key&)> is_finished;
};

struct TrackRecord {
  std::vector<TypeRecord> types;  // each once
  std::vector<Key> landed_last;   // by the agent itself, the newest first, each once
};

[[nodiscard]] TrackRecord track_record_of(const AgentId& agent,
                                          std::span<const PastEvent> oldest_first,
                                          const PastFacts& facts);

}  // namespace dibs
