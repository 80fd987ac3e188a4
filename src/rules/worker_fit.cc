#include "rules/worker_fit.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "model/item.h"

namespace dibs {

namespace {

constexpr std::int64_t kPoint = 100;
constexpr std::string_view kNeeds = "needs:";
// Work of this length is half long; items of this age are half old.
constexpr std::int64_t kHalfLongMin = 60;
constexpr std::int64_t kHalfOldHours = 7LL * 24;
constexpr std::int64_t kOldestHours = 100LL * 365 * 24;
constexpr std::int64_t kHourMs = 3'600'000;
// As if this many of a type had landed, and as many been lost, before the first: one failure is no
// verdict.
constexpr std::int64_t kSupposedOfEach = 2;

// 65536 · log2(number), by squaring: std::log2 may differ in its last digit from machine to
// machine.
std::int64_t log2_65536(std::uint64_t number) {
  constexpr int kOne = 31;  // the bit that stands for 1 in the mantissa
  const int whole = static_cast<int>(std::bit_width(number)) - 1;
  std::uint64_t mantissa = whole <= kOne ? number << (kOne - whole) : number >> (whole - kOne);
  std::int64_t result = whole;
  for (int bit = 0; bit < 16; ++bit) {
    mantissa = mantissa * mantissa >> kOne;
    const std::uint64_t carry = mantissa >> (kOne + 1);
    mantissa >>= carry;
    result = result * 2 + static_cast<std::int64_t>(carry);
  }
  return result;
}

std::int64_t priority_part(const Weights& weights, std::uint8_t priority) {
  return weights.priority * kPoint * (kPriorityLeast - std::min<int>(priority, kPriorityLeast));
}

std::int64_t path_part(const Weights& weights, std::uint32_t length) {
  const std::int64_t part = weights.path * kPoint * log2_65536(std::uint64_t{length} + 1) / 65536;
  return std::min(part, weights.path_most * kPoint);
}

std::int64_t estimate_part(const Weights& weights, std::uint32_t estimate_min) {
  if (estimate_min == 0) return 0;
  return weights.estimate * kPoint * kHalfLongMin / (kHalfLongMin + estimate_min);
}

std::int64_t age_part(const Weights& weights, std::int64_t created_unix_ms,
                      std::int64_t now_unix_ms) {
  // Hours first: what a foreign file says about its time may be anything.
  const std::int64_t hours =
      std::clamp<std::int64_t>(now_unix_ms / kHourMs - created_unix_ms / kHourMs, 0, kOldestHours);
  return weights.age * kPoint * hours / (kHalfOldHours + hours);
}

std::int64_t capability_part(const Weights& weights, const Worker& worker, const Asked& asked) {
  const bool meant = std::ranges::count(worker.profile.types, asked.type) > 0;
  if (!asked.needs.empty() || meant) return weights.capability * kPoint;
  return worker.profile.economical ? weights.economical * kPoint : 0;
}

std::int64_t load_part(const Weights& weights, const Worker& worker) {
  const std::int64_t capacity = std::max<std::int64_t>(worker.profile.capacity, 1);
  const std::int64_t free = capacity - std::min<std::int64_t>(worker.held, capacity);
  return weights.load * kPoint * free / capacity;
}

std::int64_t cost_part(const Weights& weights, const Worker& worker, std::uint32_t estimate_min) {
  const std::int64_t length = estimate_min == 0 ? kHalfLongMin : estimate_min;
  return -(weights.cost * worker.profile.cost_hundredths * length / (kHalfLongMin + length));
}

std::int64_t success_part(const Weights& weights, const Worker& worker, std::string_view type) {
  const auto found = std::ranges::find(worker.record, type, &TypeRecord::type);
  const TypeRecord record = found == worker.record.end() ? TypeRecord{} : *found;
  const std::int64_t landed = record.landed + kSupposedOfEach;
  return weights.success * kPoint * landed / (landed + record.lost + kSupposedOfEach);
}

}  // namespace

std::vector<std::string_view> needs_of(std::span<const std::string_view> labels) {
  std::vector<std::string_view> needs;
  for (const std::string_view label : labels) {
    if (label.starts_with(kNeeds)) needs.push_back(label.substr(kNeeds.size()));
  }
  return needs;
}

bool suits(const Worker& worker, const Asked& asked) {
  return std::ranges::all_of(asked.needs, [&](std::string_view need) {
    return std::ranges::count(worker.profile.capabilities, need) > 0;
  });
}

std::string_view name_of(Factor factor) {
  constexpr std::array<std::string_view, kFactors> kNames{
      "priority",   "path", "estimate", "age",     "order",
      "capability", "load", "cost",     "success", "same files"};
  return kNames.at(static_cast<std::size_t>(factor));
}

std::int64_t Score::total() const {
  return std::accumulate(hundredths.begin(), hundredths.end(), std::int64_t{0});
}

std::int64_t Score::without_worker() const {
  constexpr auto kOfItem = static_cast<std::ptrdiff_t>(Factor::capability);
  return std::accumulate(hundredths.begin(), hundredths.begin() + kOfItem, std::int64_t{0});
}

Score score_of(const Weights& weights, const OrderColumns& columns, ItemNumber item,
               std::int64_t now_unix_ms, const Worker& worker, const Asked& asked) {
  Score score;
  score[Factor::priority] = priority_part(weights, columns.priority[item]);
  score[Factor::path] = path_part(weights, columns.path_length[item]);
  score[Factor::estimate] = estimate_part(weights, columns.estimate_min[item]);
  score[Factor::age] = age_part(weights, columns.created_unix_ms[item], now_unix_ms);
  score[Factor::capability] = capability_part(weights, worker, asked);
  score[Factor::load] = load_part(weights, worker);
  score[Factor::cost] = cost_part(weights, worker, columns.estimate_min[item]);
  score[Factor::success] = success_part(weights, worker, asked.type);
  score[Factor::same_files] = asked.same_files ? weights.same_files * kPoint : 0;
  return score;
}

}  // namespace dibs
