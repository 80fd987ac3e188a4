// One simulated world from its beginning to its end: what a seed makes of it, and whether a promise
// was broken on the way.
//
//   const Verdict verdict = simulate({.seed = 7, .ground = Ground::local});
//   EXPECT_FALSE(verdict.broken) << verdict.text();
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planted.h"
#include "witness.h"

namespace dibs::sim {

struct Plan {
  std::uint64_t seed = 0;
  Ground ground = Ground::local;
  Bug bug = Bug::none;
  bool keeps_trace = false;
};

struct Verdict {
  std::optional<Violation> broken;
  std::uint64_t trace_hash = 0;
  std::size_t entries = 0;  // how much happened in the store
  std::string trace;        // when it was asked for
};

[[nodiscard]] Verdict simulate(const Plan& plan);

}  // namespace dibs::sim
