#include "store/store.h"

#include <algorithm>

namespace dibs {

const Record* View::find(const Key& key) const {
  const auto found = std::ranges::find(records, key, &Record::key);
  return found == records.end() ? nullptr : &*found;
}

bool is_about(const PastEvent& past, const HistoryQuery& query) {
  if (past.seq <= query.since.seq) return false;
  if (query.resource && past.event.resource != *query.resource) return false;
  return query.ops.empty() || std::ranges::find(query.ops, past.event.op) != query.ops.end();
}

HistoryQuery begun_at(HistoryQuery query, Cursor newest) {
  if (newest.seq > query.last_entries)
    query.since = std::max(query.since, Cursor{newest.seq - query.last_entries});
  return query;
}

void keep_newest(std::vector<PastEvent>& events, std::size_t newest) {
  if (events.size() <= newest) return;
  events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(newest));
}

}  // namespace dibs
