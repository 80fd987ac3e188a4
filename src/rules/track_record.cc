#include "rules/track_record.h"

#include <algorithm>
#include <ranges>

namespace dibs {

namespace {

bool is_end(Op op) { return std::ranges::find(kLeaseEnds, op) != kLeaseEnds.end(); }

TypeRecord& record_of(TrackRecord& track, const std::string& type) {
  const auto found = std::ranges::find(track.types, type, &TypeRecord::type);
  return found != track.types.end() ? *found : track.types.emplace_back(TypeRecord{.type = type});
}

void count(TrackRecord& track, const Event& event, const PastFacts& facts) {
  const bool landed = event.op == Op::land;
  if (!is_end(event.op) || !facts.counts(event.agent)) return;
  const std::optional<std::string> type = facts.type_of(event.resource);
  if (!type || (!landed && facts.is_finished(event.resource))) return;
  TypeRecord& record = record_of(track, *type);
  ++(landed ? record.landed : record.lost);
}

}  // namespace

TrackRecord track_record_of(const AgentId& agent, std::span<const PastEvent> oldest_first,
                            const PastFacts& facts) {
  TrackRecord track;
  for (const PastEvent& past : oldest_first | std::views::reverse) {
    count(track, past.event, facts);
    const bool own_landing = past.event.op == Op::land && past.event.agent == agent;
    if (!own_landing || track.landed_last.size() == kLandedLastMax) continue;
    if (std::ranges::find(track.landed_last, past.event.resource) == track.landed_last.end())
      track.landed_last.push_back(past.event.resource);
  }
  return track;
}

}  // namespace dibs
