#include "spoiling.h"

#include <algorithm>

#include "model/line.h"

namespace dibs::sim {

namespace {

constexpr std::int64_t kLongMs = 3'600'000;

using Every = void (*)(Lease& lease, const Board& board, const Spoiled& by);

void change_leases(Board& board, const Spoiled& by, Every change) {
  const Board seen = board;
  for (auto& [key, seat] : board.seats) {
    for (Lease& lease : seat.holding.leases) change(lease, seen, by);
  }
}

void drop_leases_of_others(Board& board, const SessionId& session) {
  for (auto& [key, seat] : board.seats) {
    std::erase_if(seat.holding.leases,
                  [&](const Lease& lease) { return lease.session != session; });
  }
}

void seem_shared(Lease& lease, const Board&, const Spoiled&) { lease.mode = Mode::shared; }
void seem_own(Lease& lease, const Board&, const Spoiled& by) { lease.session = by.session; }
void seem_near_their_end(Lease& lease, const Board& board, const Spoiled&) {
  if (lease.expires) lease.expires = later_by(board.now, 1);
}

// The record of a resource among the changes, to be written otherwise.
template <class Change>
void rewrite_holdings(Changes& changes, const Change& change) {
  for (Write& write : changes.writes) {
    if (!write.value || waited_for(write.key) || write.key.text.starts_with("guard:")) continue;
    Result<Holding> holding = holding_of({.key = write.key, .value = *write.value});
    if (!holding) continue;
    change(write.key, *holding);
    write.value = to_json(*holding);
  }
}

template <class Change>
void rewrite_lines(Changes& changes, const Change& change) {
  for (Write& write : changes.writes) {
    if (!write.value || !waited_for(write.key)) continue;
    Result<Line> line = line_of({.key = write.key, .value = *write.value});
    if (!line) continue;
    change(*line);
    write.value = to_json(*line);
  }
}

void keep_old_fences(Changes& changes, const Board& board) {
  rewrite_holdings(changes, [&](const Key& key, Holding& holding) {
    const std::vector<Lease>& before = board.seat(key).holding.leases;
    for (Lease& lease : holding.leases) {
      if (lease.fence.value == 0 && !before.empty()) lease.fence = before.front().fence;
    }
  });
}

void restore_modes(Changes& changes, const Board& board) {
  rewrite_holdings(changes, [&](const Key& key, Holding& holding) {
    for (Lease& lease : holding.leases) {
      for (const Lease& before : board.seat(key).holding.leases) {
        if (before.id == lease.id) lease.mode = before.mode;
      }
    }
  });
}

}  // namespace

Board spoiled_board(const Board& board, const Spoiled& by) {
  Board seen = board;
  switch (by.bug) {
    case Bug::shared_beside_exclusive:
      if (by.verb == "acquire") change_leases(seen, by, seem_shared);
      break;
    case Bug::renewed_after_its_end:
      if (by.verb == "renew" || by.verb == "beat") {
        seen.now = later_by(seen.now, -kLongMs);
        seen.gone.clear();
      }
      break;
    case Bug::renewing_shortens:
      if (by.verb == "renew") change_leases(seen, by, seem_near_their_end);
      break;
    case Bug::released_by_anyone:
      if (by.verb == "release") change_leases(seen, by, seem_own);
      break;
    case Bug::upgraded_beside_readers:
      if (by.verb == "upgrade") drop_leases_of_others(seen, by.session);
      break;
    case Bug::outsiders_come_first:
      if (by.verb == "acquire")
        std::erase_if(seen.seats,
                      [](const auto& seat) { return waited_for(seat.first).has_value(); });
      break;
    case Bug::circles_are_not_looked_for:
      if (by.verb == "wait") drop_leases_of_others(seen, {});
      break;
    case Bug::cleanup_ends_the_living:
      if (by.verb == "cleanup") seen.now = later_by(seen.now, kLongMs);
      break;
    default:
      break;
  }
  return seen;
}

void spoil(Changes& changes, const Board& board, const Spoiled& by) {
  switch (by.bug) {
    case Bug::shared_beside_exclusive:
      restore_modes(changes, board);
      break;
    case Bug::a_fence_is_used_twice:
      keep_old_fences(changes, board);
      break;
    case Bug::evicted_without_a_reason:
      for (Event& event : changes.events) {
        if (event.op != Op::force_evict) continue;
        event.by.reset();
        event.reason.clear();
      }
      break;
    case Bug::taken_over_without_a_word:
      std::erase_if(changes.events, [](const Event& event) { return event.op == Op::auto_evict; });
      break;
    case Bug::a_waiter_is_forgotten:
      rewrite_lines(changes, [](Line& line) {
        if (line.waiters.size() > 1) line.waiters.erase(line.waiters.begin());
      });
      break;
    case Bug::newcomers_go_first:
      if (by.verb == "wait")
        rewrite_lines(changes, [](Line& line) {
          std::ranges::rotate(line.waiters, std::prev(line.waiters.end()));
        });
      break;
    default:
      break;
  }
}

}  // namespace dibs::sim
