// What really happened in a store, entry by entry, and how things stood in between. It is read from
// where the store keeps its truth (the log on the disk, the refs of the remote), not through the
// store, and an entry that the store lost again is taken out.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "model/lease.h"
#include "model/line.h"
#include "store/log_line.h"

namespace dibs::sim {

/// A record, and what it means.
struct Kept {
  Record record;
  Holding holding;
  Line line;
};

struct State {
  std::map<Key, std::shared_ptr<const Kept>> kept;
  std::map<Key, Fence> highest;  // of all leases that a resource ever had

  [[nodiscard]] const Holding& holding(const Key& resource) const;
  [[nodiscard]] const Line& line(const Key& resource) const;
  [[nodiscard]] const Lease* lease(const LeaseId& id) const;
};

/// How much of the chronicle somebody had seen.
struct Sighting {
  std::size_t entries = 0;
  std::size_t cuts = 0;  // that there had been
};

class Chronicle {
 public:
  Chronicle() : states_(1) {}

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const LogLine& entry(std::size_t i) const { return entries_[i]; }
  // As it was before that entry; after the last one: as it is now.
  [[nodiscard]] const State& before(std::size_t i) const { return states_[i]; }
  [[nodiscard]] const State& now() const { return states_.back(); }

  // An error when the entry makes no sense.
  [[nodiscard]] Done add(LogLine entry);
  void cut_to(std::size_t size);
  [[nodiscard]] Sighting sighting(std::size_t entries) const { return {entries, cuts_.size()}; }
  // As many of the entries that were seen then as are still the same.
  [[nodiscard]] std::size_t left_of(const Sighting& sighting) const;

 private:
  std::vector<LogLine> entries_;
  std::vector<std::size_t> cuts_;  // how much each left
  std::vector<State> states_;
};

}  // namespace dibs::sim
