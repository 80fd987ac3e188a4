// How well an item suits a worker, as a sum of named parts: how urgent the item is, and what speaks
// for this worker. `choose` sorts by the sum and `next --explain` shows the parts.
//
// Whole hundredths of a point everywhere: the same on every machine, and the sum that is shown is
// the sum that was used.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/agent_profile.h"
#include "rules/dependency_graph.h"
#include "rules/ready_order.h"

namespace dibs {

// The most points a weight may have, so that no sum overflows.
inline constexpr std::int64_t kWeightMax = 100'000;

/// In points; the settings may change them.
struct Weights {
  std::int64_t priority = 100;   // for each level above the least
  std::int64_t path = 10;        // for each doubling of what waits behind the item
  std::int64_t path_most = 60;   // and no more than this
  std::int64_t estimate = 5;     // for the shortest work
  std::int64_t age = 5;          // for the oldest items
  std::int64_t capability = 50;  // the item asks for what the worker has
  std::int64_t economical = 30;  // it asks for nothing, and the worker is one for such work
  std::int64_t load = 30;        // for a worker with free hands
  std::int64_t cost = 10;        // taken off for the longest work, at the usual cost
  std::int64_t success = 20;     // when this worker always lands this type
  std::int64_t same_files = 15;  // it touches what the worker worked on last
};

/// How claims of one type of item ended for an agent.
struct TypeRecord {
  std::string type;
  std::uint32_t landed = 0;
  std::uint32_t lost = 0;  // or given up
};

struct Worker {
  AgentProfile profile;
  std::uint32_t held = 0;  // items it holds now
  std::vector<TypeRecord> record;
};

/// What the columns do not say of an item. The views are the caller's.
struct Asked {
  std::string_view type;
  std::vector<std::string_view> needs;  // capabilities, from needs_of
  bool same_files = false;              // its globs touch what the worker worked on last
};

// The X of each label needs:X.
[[nodiscard]] std::vector<std::string_view> needs_of(std::span<const std::string_view> labels);

// Whether the worker has all that the item needs. What it has not is not offered to it.
[[nodiscard]] bool suits(const Worker& worker, const Asked& asked);

/// The parts, in the order in which they are shown.
enum class Factor : std::uint8_t {
  priority,
  path,
  estimate,
  age,
  order,  // taken off so that the worker alone can change the order of `ready`; see choose
  capability,
  load,
  cost,
  success,
  same_files,
};
inline constexpr std::size_t kFactors = 10;
[[nodiscard]] std::string_view name_of(Factor factor);

struct Score {
  std::array<std::int64_t, kFactors> hundredths{};

  [[nodiscard]] std::int64_t& operator[](Factor factor) {
    return hundredths[static_cast<std::size_t>(factor)];
  }
  [[nodiscard]] std::int64_t operator[](Factor factor) const {
    return hundredths[static_cast<std::size_t>(factor)];
  }
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] std::int64_t without_worker() const;  // priority to order

  friend bool operator==(const Score&, const Score&) = default;
};

[[nodiscard]] Score score_of(const Weights& weights, const OrderColumns& columns, ItemNumber item,
                             std::int64_t now_unix_ms, const Worker& worker, const Asked& asked);

}  // namespace dibs
