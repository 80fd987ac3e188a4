// Looking at what happened: history, the stream of events, the numbers, and what they warn of.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "sys/counters.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct Events {
  std::uint64_t since = 0;
  std::optional<std::string> resource;
  std::size_t limit = 1000;  // the newest so many
};
[[nodiscard]] Result<History> events(Workspace& workspace, const Events& request);

// Hands over every event after `since`, as it comes, until `on_event` returns false.
[[nodiscard]] Done follow_events(Workspace& workspace, const Events& request,
                                 const std::function<bool(const PastEvent&)>& on_event);

/// Something that the settings say is worth a warning.
struct Alert {
  enum class About { stale, success_rate, held_long };
  About about = About::stale;
  std::string what;
  std::string fix;  // a command
};

using OpTotals = std::array<std::uint64_t, kOpCount>;

/// Leases that ended as they should.
struct Finished {
  std::uint64_t landed = 0;
  std::uint64_t released = 0;

  Finished& operator+=(const Finished& other);
  friend bool operator==(const Finished&, const Finished&) = default;
};

struct Metrics {
  Counts counts{};
  OpTotals ops{};
  std::size_t active = 0;
  std::size_t stale = 0;
  std::uint64_t granted = 0;  // on this clone, as the refusals are
  Finished last_hour;         // to ten minutes
  Finished last_day;
  std::int64_t longest_held_ms = 0;
  std::vector<Alert> alerts;

  [[nodiscard]] std::uint64_t count(Counter counter) const {
    return counts[static_cast<std::size_t>(counter)];
  }
  [[nodiscard]] std::uint64_t count(Op op) const { return ops[static_cast<std::size_t>(op)]; }
  [[nodiscard]] double average_acquisition_ms() const;
  // Granted of all that were asked for; none while nobody asked.
  [[nodiscard]] std::optional<double> success_rate() const;
  // Refusals for each grant; none while nothing was granted.
  [[nodiscard]] std::optional<double> contention() const;
};
// What the numbers are too much of, by the settings `metrics.*`.
[[nodiscard]] std::vector<Alert> alerts_of(const Metrics& metrics, const Settings& settings);

/// Whether what was counted is written down, so that the next question is answered faster.
enum class Counting { kept, passing };
[[nodiscard]] Result<Metrics> metrics(Workspace& workspace, Counting counting = Counting::kept);

}  // namespace dibs::verbs
