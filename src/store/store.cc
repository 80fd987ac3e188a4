#include "store/store.h"

#include <algorithm>

namespace dibs {

const Record* View::find(const Key& key) const {
  const auto found = std::ranges::find(records, key, &Record::key);
  return found == records.end() ? nullptr : &*found;
}

}  // namespace dibs
