#include "rules/deadlock.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "rules/cycles.h"

namespace dibs {

namespace {

constexpr std::int64_t kMinuteMs = 60'000;

bool share(Mode one, Mode other) { return one == Mode::shared && other == Mode::shared; }

bool waits(const Waiter& waiter, const Board& board) {
  return !waiter.must_give_way() && !why_gone(waiter, board);
}

void add_waits(std::vector<Wait>& all, const Board& board, const Policy& policy,
               const Key& resource, const Line& line) {
  for (auto waiter = line.waiters.begin(); waiter != line.waiters.end(); ++waiter) {
    if (!waits(*waiter, board)) continue;
    const auto add = [&](const SessionId& blocker, Mode mode, Wait::For why) {
      if (blocker == waiter->session || share(mode, waiter->mode)) return;
      all.push_back(
          {.session = waiter->session, .blocker = blocker, .resource = resource, .why = why});
    };
    for (const Lease& lease : board.seat(resource).holding.leases) {
      if (standing_of(lease, board, policy).held())
        add(lease.session, lease.mode, Wait::For::what_it_holds);
    }
    for (auto before = line.waiters.begin(); before != waiter; ++before) {
      if (waits(*before, board)) add(before->session, before->mode, Wait::For::its_turn);
    }
  }
}

/// Sessions as numbers, so that the search for cycles among items serves here too.
struct WaitGraph {
  std::map<SessionId, ItemNumber> numbers;
  std::vector<SessionId> sessions;
  std::vector<std::uint32_t> first{0};
  std::vector<ItemNumber> blockers;

  [[nodiscard]] DependencyGraph graph() const { return {.first = first, .depends_on = blockers}; }
};

WaitGraph graph_of(const std::vector<Wait>& all) {
  WaitGraph made;
  const auto number = [&](const SessionId& session) {
    const auto [found, is_new] =
        made.numbers.emplace(session, static_cast<ItemNumber>(made.numbers.size()));
    if (is_new) made.sessions.push_back(session);
    return found->second;
  };
  std::map<ItemNumber, std::vector<ItemNumber>> of;
  for (const Wait& wait : all) {
    const ItemNumber session = number(wait.session);
    of[session].push_back(number(wait.blocker));
  }
  for (ItemNumber session = 0; session < made.sessions.size(); ++session) {
    std::ranges::sort(of[session]);
    const auto repeated = std::ranges::unique(of[session]);
    of[session].erase(repeated.begin(), repeated.end());
    made.blockers.insert(made.blockers.end(), of[session].begin(), of[session].end());
    made.first.push_back(static_cast<std::uint32_t>(made.blockers.size()));
  }
  return made;
}

std::vector<Wait> ring_of(const Cycle& cycle, const WaitGraph& graph,
                          const std::vector<Wait>& all) {
  std::vector<Wait> ring;
  for (std::size_t at = 0; at < cycle.ring; ++at) {
    const SessionId& session = graph.sessions[cycle.members[at]];
    const SessionId& next = graph.sessions[cycle.members[(at + 1) % cycle.ring]];
    // What another holds says more than who comes first.
    const Wait* best = nullptr;
    for (const Wait& wait : all) {
      if (wait.session != session || wait.blocker != next) continue;
      if (best == nullptr || wait.why < best->why) best = &wait;
    }
    ring.push_back(*best);
  }
  return ring;
}

/// What speaks for letting a session go on; who has the least gives way.
struct Standpoint {
  std::int64_t held_minutes = 0;
  int urgency = 0;
  std::int64_t running_for_ms = 0;
  SessionId session;  // so that everyone chooses the same

  friend auto operator<=>(const Standpoint&, const Standpoint&) = default;
};

Standpoint standpoint_of(const SessionId& session, const Board& board, const Policy& policy) {
  Standpoint found{.urgency = -kWaitPriorityLeast, .session = session};
  std::int64_t held_ms = 0;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      if (lease.session != session || !standing_of(lease, board, policy).held()) continue;
      const std::int64_t ms = std::max<std::int64_t>(board.now.unix_ms - lease.acquired_unix_ms, 0);
      held_ms += ms;
      found.running_for_ms = std::max(found.running_for_ms, ms);
    }
    for (const Waiter& waiter : seat.line.waiters) {
      if (waiter.session == session && waits(waiter, board))
        found.urgency = std::max(found.urgency, -waiter.priority);
    }
  }
  found.held_minutes = held_ms / kMinuteMs;
  return found;
}

SessionId victim_of(const std::vector<Wait>& ring, const Board& board, const Policy& policy) {
  std::vector<Standpoint> all;
  for (const Wait& wait : ring) all.push_back(standpoint_of(wait.session, board, policy));
  return std::ranges::min(all).session;
}

}  // namespace

std::vector<Wait> waits_on(const Board& board, const Policy& policy) {
  std::vector<Wait> all;
  for (const auto& [key, seat] : board.seats) {
    if (const std::optional<Key> resource = waited_for(key))
      add_waits(all, board, policy, *resource, seat.line);
  }
  return all;
}

std::vector<Deadlock> deadlocks_on(const Board& board, const Policy& policy) {
  const std::vector<Wait> all = waits_on(board, policy);
  if (all.empty()) return {};
  const WaitGraph graph = graph_of(all);
  std::vector<Deadlock> found;
  for (const Cycle& cycle : cycles(graph.graph()).all) {
    Deadlock deadlock{.ring = ring_of(cycle, graph, all), .victim = {}};
    deadlock.victim = victim_of(deadlock.ring, board, policy);
    found.push_back(std::move(deadlock));
  }
  return found;
}

std::string in_words(const Deadlock& deadlock) {
  std::string text;
  for (const Wait& wait : deadlock.ring) {
    text += fmt::format("{}{} waits for {}, which {} {}", text.empty() ? "" : "; ",
                        wait.session.text, wait.resource.text, wait.blocker.text,
                        wait.why == Wait::For::what_it_holds ? "holds" : "is to get first");
  }
  return text;
}

}  // namespace dibs
