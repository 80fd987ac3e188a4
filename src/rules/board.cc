#include "rules/board.h"

#include <fmt/core.h>

namespace dibs {

const Seat& Board::seat(const Key& key) const {
  static const Seat kEmpty;
  const auto found = seats.find(key);
  return found == seats.end() ? kEmpty : found->second;
}

Standing standing_of(const Lease& lease, const Board& board, const Policy& policy) {
  if (const auto ended = board.gone.find(lease.id); ended != board.gone.end()) {
    return {.condition = Condition::dead, .why = ended->second};
  }
  if (lease.expires) {
    const std::int64_t left_ms = ms_until(*lease.expires, board.now) + board.margin_ms;
    if (left_ms > 0) return {};
    return {.condition = Condition::lapsed,
            .why = fmt::format("expired {} ago", duration_text(left_ms))};
  }
  const std::int64_t silent_ms = -ms_until(lease.beat, board.now);
  if (silent_ms <= policy.stale_after_secs * 1000) return {};
  return {.condition = Condition::stale,
          .why = fmt::format("no heartbeat for {}", duration_text(silent_ms))};
}

std::optional<std::string> why_gone(const Waiter& waiter, const Board& board) {
  if (const auto ended = board.gone_waiters.find(waiter.id); ended != board.gone_waiters.end())
    return ended->second;
  const std::int64_t left_ms = ms_until(waiter.until, board.now) + board.margin_ms;
  if (left_ms > 0) return std::nullopt;
  return fmt::format("no sign of life for {}", duration_text(left_ms));
}

bool holder_may_act(const Lease& lease, const Board& board) {
  if (board.gone.contains(lease.id)) return false;
  return !lease.expires || !has_passed(*lease.expires, board.now);
}

}  // namespace dibs
