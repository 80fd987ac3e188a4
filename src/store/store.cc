#include "store/store.h"

#include <algorithm>

namespace dibs {

const Record* View::find(const Key& key) const {
  const auto found = std::ranges::find(records, key, &Record::key);
  return found == records.end() ? nullptr : &*found;
}

void keep_newest(std::vector<PastEvent>& events, std::size_t newest) {
  if (events.size() <= newest) return;
  events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(newest));
}

}  // namespace dibs
