#include "chronicle.h"

#include <algorithm>

#include "model/resource.h"
#include "store/log_tail.h"

namespace dibs::sim {

namespace {

Result<Kept> kept_of(const Record& record) {
  Kept kept{.record = record, .holding = {}, .line = {}};
  if (resource_of(record.key)) {
    Result<Holding> holding = holding_of(record);
    if (!holding) return fail(holding.error());
    kept.holding = *std::move(holding);
  } else if (waited_for(record.key)) {
    Result<Line> line = line_of(record);
    if (!line) return fail(line.error());
    kept.line = *std::move(line);
  }
  return kept;
}

}  // namespace

const Holding& State::holding(const Key& resource) const {
  static const Holding kNone;
  const auto found = kept.find(resource);
  return found == kept.end() ? kNone : found->second->holding;
}

const Line& State::line(const Key& resource) const {
  static const Line kNone;
  const auto found = kept.find(line_key(resource));
  return found == kept.end() ? kNone : found->second->line;
}

const Lease* State::lease(const LeaseId& id) const {
  for (const auto& [key, one] : kept) {
    const auto found = std::ranges::find(one->holding.leases, id, &Lease::id);
    if (found != one->holding.leases.end()) return &*found;
  }
  return nullptr;
}

Done Chronicle::add(LogLine entry) {
  State state = states_.back();
  for (const LoggedWrite& write : entry.writes) {
    if (!write.value) {
      state.kept.erase(write.key);
      continue;
    }
    Result<Kept> kept = kept_of(record_from(entry, write));
    if (!kept) return fail(kept.error());
    for (const Lease& lease : kept->holding.leases) {
      Fence& highest = state.highest[write.key];
      highest = std::max(highest, lease.fence);
    }
    state.kept[write.key] = std::make_shared<const Kept>(*std::move(kept));
  }
  entries_.push_back(std::move(entry));
  states_.push_back(std::move(state));
  return {};
}

void Chronicle::cut_to(std::size_t size) {
  entries_.resize(size);
  states_.resize(size + 1);
  cuts_.push_back(size);
}

std::size_t Chronicle::left_of(const Sighting& sighting) const {
  std::size_t left = sighting.entries;
  for (std::size_t i = sighting.cuts; i < cuts_.size(); ++i) left = std::min(left, cuts_[i]);
  return left;
}

}  // namespace dibs::sim
