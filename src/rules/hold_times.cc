#include "rules/hold_times.h"

#include <algorithm>
#include <map>
#include <vector>

#include "rules/track_record.h"

namespace dibs {

namespace {
constexpr std::size_t kHoldsMax = 20;
}

std::optional<std::int64_t> usual_hold_ms(std::span<const PastEvent> past) {
  std::map<LeaseId, std::int64_t> began;
  std::vector<std::int64_t> holds;
  for (const PastEvent& one : past) {
    if (one.event.op == Op::acquire) began[one.event.lease] = one.unix_ms;
    const auto since = began.find(one.event.lease);
    if (since == began.end() || std::ranges::find(kLeaseEnds, one.event.op) == kLeaseEnds.end())
      continue;
    holds.push_back(std::max<std::int64_t>(one.unix_ms - since->second, 0));
    began.erase(since);
  }
  if (holds.empty()) return std::nullopt;
  if (holds.size() > kHoldsMax) holds.erase(holds.begin(), holds.end() - kHoldsMax);
  const auto middle = holds.begin() + static_cast<std::ptrdiff_t>(holds.size() / 2);
  std::ranges::nth_element(holds, middle);
  return *middle;
}

}  // namespace dibs
