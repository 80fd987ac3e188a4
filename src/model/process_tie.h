// One process of one boot of one machine: what a lease, or a place in a line, can be tied to, so
// that it ends when the process does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/json.h"

namespace dibs {

/// The start time tells it from a later one with its pid; the namespace tells it from a process of
/// a container that has the same number.
struct ProcessTie {
  std::string host;
  BootId boot;
  std::uint64_t pid_namespace = 0;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;

  friend bool operator==(const ProcessTie&, const ProcessTie&) = default;
};

[[nodiscard]] std::string to_json(const ProcessTie& process);
[[nodiscard]] std::optional<ProcessTie> process_from(const Json& json);

}  // namespace dibs
