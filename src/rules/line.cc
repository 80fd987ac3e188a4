#include "rules/line.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "rules/changes.h"

namespace dibs {

namespace {

Event event_about(Op op, const Key& resource, const Waiter& waiter) {
  return {.op = op,
          .resource = resource,
          .lease = {waiter.id.text},
          .agent = waiter.agent,
          .session = waiter.session,
          .worktree = {},
          .expires_unix_ms = std::nullopt,
          .by = std::nullopt,
          .to_lease = std::nullopt,
          .to_agent = std::nullopt,
          .reason = {}};
}

constexpr const char* kGivesWay = "it gives way in a deadlock";

Event left(const Key& resource, const Waiter& waiter, std::string why) {
  Event event = event_about(Op::leave, resource, waiter);
  event.reason = std::move(why);
  return event;
}

void put(Changes& changes, const Key& resource, const Seat& seat, const Line& line) {
  const Key key = line_key(resource);
  expect(changes, key, seat);
  std::optional<std::string> value;
  if (!line.waiters.empty()) value = to_json(line);
  changes.writes.push_back({.key = key, .value = std::move(value)});
}

bool was_passed_over(const Waiter& waiter, const PlaceInLine& place) {
  return std::ranges::find(place.passed_over, waiter.id) != place.passed_over.end();
}

// Without those who are known to wait no more; says so for each.
Line pruned(const Board& board, const Key& resource, const PlaceInLine& place,
            std::vector<Event>& events) {
  Line line = board.line(resource);
  std::erase_if(line.waiters, [&](const Waiter& waiter) {
    std::optional<std::string> why = why_gone(waiter, board);
    if (!why && was_passed_over(waiter, place)) why = "it did not take its turn";
    if (why) events.push_back(left(resource, waiter, *std::move(why)));
    return why.has_value();
  });
  return line;
}

// Out of that line, and what is told of it; nothing when it does not stand there.
std::optional<Event> step_out(Line& line, const Key& resource, const WaitId& id,
                              const std::string& why) {
  const Waiter* own = line.find(id);
  if (own == nullptr) return std::nullopt;
  Event event = left(resource, *own, why);
  std::erase_if(line.waiters, [&](const Waiter& waiter) { return waiter.id == id; });
  return event;
}

// Who holds it already and wants more comes first: nobody else could get it before anyway.
std::pair<bool, int> rank(const Waiter& waiter) {
  return {!waiter.upgrades.has_value(), waiter.priority};
}

/// A change of several lines, tried on a copy of the board.
class Joining {
 public:
  Joining(const Board& board, const WaitRequest& request)
      : request_(request), before_(board), board_(board) {}

  [[nodiscard]] Done take_places();
  // Until there is no circle left; false when it is who asks that gives way.
  [[nodiscard]] bool resolve_deadlocks(Joined& joined);
  void give_way(Joined& joined);
  [[nodiscard]] Changes changes() const;
  [[nodiscard]] std::size_t ahead() const;

 private:
  Line& line(const Key& resource) {
    touched_.insert(resource);
    return board_.seats[line_key(resource)].line;
  }
  [[nodiscard]] bool stands_everywhere() const;
  void take_place(const Key& resource);
  void break_circle(const Deadlock& deadlock, Joined& joined);
  // Takes from the one that gives way what the others in the circle wait for.
  void evict(const Deadlock& deadlock, Joined& joined);
  void tell(const Deadlock& deadlock);
  void leave_lines();

  const WaitRequest& request_;
  const Board& before_;
  Board board_;
  std::set<Key> touched_;  // resources whose line has changed
  std::set<Key> emptied_;  // resources that somebody was evicted from
  std::vector<Event> events_;
};

bool Joining::stands_everywhere() const {
  return std::ranges::all_of(request_.resources, [&](const Resource& resource) {
    return board_.line(resource.key()).find(request_.id) != nullptr;
  });
}

void Joining::take_place(const Key& resource) {
  Line& line = this->line(resource);
  Waiter waiter{.id = request_.id,
                .agent = request_.who.agent,
                .session = request_.who.session,
                .mode = request_.mode,
                .priority = request_.priority,
                .since_unix_ms = board_.now.unix_ms,
                .until = later_by(board_.now, request_.sign_of_life_ms),
                .process = request_.who.process,
                .lines = static_cast<int>(request_.resources.size()),
                .upgrades = request_.upgrades,
                .offer = request_.offer,
                .victim_of = {}};
  const auto own = std::ranges::find(line.waiters, request_.id, &Waiter::id);
  if (own != line.waiters.end()) {
    own->until = waiter.until;
    return;
  }
  const auto later = std::ranges::find_if(
      line.waiters, [&](const Waiter& other) { return rank(waiter) < rank(other); });
  events_.push_back(event_about(Op::wait, resource, waiter));
  line.waiters.insert(later, std::move(waiter));
}

Done Joining::take_places() {
  // Whoever lost one of its places begins anew in all lines, so that two who wait for the same
  // things have the same order in each.
  const bool goes_on = stands_everywhere();
  for (const Resource& resource : request_.resources) {
    const Key key = resource.key();
    Line rest = pruned(board_, key, {}, events_);
    if (!goes_on)
      std::erase_if(rest.waiters, [&](const Waiter& other) { return other.id == request_.id; });
    if (rest.waiters.size() >= kWaitersMax && !goes_on) {
      return fail(ErrorKind::refused,
                  fmt::format("{} wait in line for {} already, the most there may be",
                              rest.waiters.size(), key.text),
                  "take something else: dibs next --claim");
    }
    line(key) = std::move(rest);
    take_place(key);
  }
  return {};
}

void Joining::tell(const Deadlock& deadlock) {
  for (auto& [key, seat] : board_.seats) {
    const std::optional<Key> resource = waited_for(key);
    if (!resource) continue;
    for (Waiter& waiter : seat.line.waiters) {
      if (waiter.session != deadlock.victim || waiter.must_give_way()) continue;
      waiter.victim_of = in_words(deadlock).substr(0, kReasonMax);
      touched_.insert(*resource);
    }
  }
}

void Joining::evict(const Deadlock& deadlock, Joined& joined) {
  for (const Wait& wait : deadlock.ring) {
    if (wait.blocker != deadlock.victim || wait.why != Wait::For::what_it_holds) continue;
    Holding& holding = board_.seats[wait.resource].holding;
    for (const Lease& lease : holding.leases) {
      if (lease.session != deadlock.victim) continue;
      events_.push_back(forced_eviction(wait.resource, lease, request_.who.agent, kGivesWay));
      joined.evicted.push_back({.resource = wait.resource, .lease = lease});
    }
    std::erase_if(holding.leases,
                  [&](const Lease& lease) { return lease.session == deadlock.victim; });
    emptied_.insert(wait.resource);
  }
}

void Joining::leave_lines() {
  for (const Resource& resource : request_.resources) {
    const Key key = resource.key();
    Line rest = board_.line(key);
    std::optional<Event> event = step_out(rest, key, request_.id, kGivesWay);
    if (!event) continue;
    events_.push_back(*std::move(event));
    line(key) = std::move(rest);
  }
}

bool Joining::resolve_deadlocks(Joined& joined) {
  // Each round takes at least one session out of all circles.
  while (true) {
    const std::vector<Deadlock> found = deadlocks_on(board_, request_.policy);
    if (found.empty()) return true;
    for (const Deadlock& deadlock : found) {
      joined.deadlocks.push_back(deadlock);
      if (deadlock.victim == request_.who.session) return false;
      break_circle(deadlock, joined);
    }
  }
}

void Joining::break_circle(const Deadlock& deadlock, Joined& joined) {
  if (request_.resolve == Resolve::evict) evict(deadlock, joined);
  tell(deadlock);
}

// A circle that is there without this wait was closed by a hand-over, and nobody was told: another
// wait of this session may be part of it.
void Joining::give_way(Joined& joined) {
  leave_lines();
  if (request_.resolve == Resolve::evict) evict(joined.deadlocks.back(), joined);
  while (true) {
    const std::vector<Deadlock> left = deadlocks_on(board_, request_.policy);
    if (left.empty()) return;
    for (const Deadlock& deadlock : left) break_circle(deadlock, joined);
  }
}

Changes Joining::changes() const {
  Changes changes;
  for (const Key& resource : touched_)
    put(changes, resource, before_.seat(line_key(resource)), board_.line(resource));
  for (const Key& resource : emptied_)
    dibs::put(changes, resource, before_.seat(resource), board_.seat(resource).holding);
  changes.events = events_;
  return changes;
}

std::size_t Joining::ahead() const {
  std::size_t most = 0;
  for (const Resource& resource : request_.resources)
    most = std::max(most, count_ahead(board_, resource.key(), request_.id));
  return most;
}

// Who gives way has no place in any line, not even one that it had, and tells nobody else to on
// account of it: that would be one too many.
Decision<Joined> giving_way(const Board& board, const WaitRequest& request, Joined joined) {
  Joining joining(board, request);
  joined.must_give_way = true;
  joined.evicted.clear();
  joining.give_way(joined);
  return {.changes = joining.changes(), .reply = std::move(joined)};
}

}  // namespace

const Key& waits_guard() {
  static const Key kGuard{"guard:waits"};
  return kGuard;
}

Result<Decision<Joined>> join(const Board& board, const WaitRequest& request) {
  Decision<Joined> decision;
  Joining joining(board, request);
  if (Done taken = joining.take_places(); !taken) return fail(taken.error());
  if (!joining.resolve_deadlocks(decision.reply)) return giving_way(board, request, decision.reply);
  decision.reply.ahead = joining.ahead();
  decision.changes = joining.changes();
  expect(decision.changes, waits_guard(), board.seat(waits_guard()));
  decision.changes.writes.push_back(
      {.key = waits_guard(), .value = JsonObject().add("last", request.id.text).text()});
  return decision;
}

Decision<std::monostate> leave(const Board& board, const WaitId& id,
                               const std::vector<Resource>& resources, const std::string& why) {
  Decision<std::monostate> decision;
  decision.changes.gives_back = true;
  for (const Resource& resource : resources) {
    const Key key = resource.key();
    Line line = board.line(key);
    std::optional<Event> event = step_out(line, key, id, why);
    if (!event) continue;
    decision.changes.events.push_back(*std::move(event));
    put(decision.changes, key, board.seat(line_key(key)), line);
  }
  return decision;
}

const Waiter* ahead_of(const Board& board, const Key& resource, Mode mode, const SessionId& session,
                       const PlaceInLine& place) {
  for (const Waiter& waiter : board.line(resource).waiters) {
    if (place.id == waiter.id) return nullptr;
    const bool shares = mode == Mode::shared && waiter.mode == Mode::shared;
    if (shares || waiter.session == session || waiter.must_give_way()) continue;
    if (!was_passed_over(waiter, place) && !why_gone(waiter, board)) return &waiter;
  }
  return nullptr;
}

std::size_t count_ahead(const Board& board, const Key& resource, const WaitId& id) {
  std::size_t count = 0;
  for (const Waiter& waiter : board.line(resource).waiters) {
    if (waiter.id == id) break;
    if (!waiter.must_give_way() && !why_gone(waiter, board)) ++count;
  }
  return count;
}

Outlook outlook(const Board& board, const std::vector<Resource>& resources, const WaitId& id,
                const Policy& policy) {
  Outlook seen;
  const auto lapses = [&](const Instant& when) {
    const std::int64_t ms = ms_until(when, board.now) + board.margin_ms;
    seen.lapse_ms = std::min(seen.lapse_ms.value_or(ms), ms);
  };
  for (const Resource& resource : resources) {
    const Key key = resource.key();
    seen.ahead = std::max(seen.ahead, count_ahead(board, key, id));
    bool held = false;
    for (const Lease& lease : board.seat(key).holding.leases) {
      if (!standing_of(lease, board, policy).held()) continue;
      held = true;
      if (lease.expires) lapses(*lease.expires);
    }
    for (const Waiter& waiter : board.line(key).waiters) {
      if (waiter.id == id) break;
      if (waiter.must_give_way() || why_gone(waiter, board)) continue;
      lapses(waiter.until);
      // One that waits for more than this may have to wait on.
      if (!held && waiter.lines == 1 && !seen.has_its_turn) seen.has_its_turn = waiter.id;
    }
  }
  return seen;
}

void take_out(Changes& changes, const Board& board, const Key& resource, const PlaceInLine& place) {
  Line line = pruned(board, resource, place, changes.events);
  std::erase_if(line.waiters, [&](const Waiter& waiter) { return place.id == waiter.id; });
  if (line == board.line(resource)) return;
  put(changes, resource, board.seat(line_key(resource)), line);
}

const Waiter* told_to_give_way(const Board& board, const Key& resource, const PlaceInLine& place) {
  if (!place.id) return nullptr;
  const Waiter* own = board.line(resource).find(*place.id);
  return own != nullptr && own->must_give_way() ? own : nullptr;
}

Error not_its_turn(const Board& board, const Key& resource, const Waiter& next) {
  const std::size_t waiting = board.line(resource).waiters.size();
  Error error{.kind = ErrorKind::held,
              .message = fmt::format("{} is not held, but {} is next in line for it", resource.text,
                                     next.agent.text),
              .hint = fmt::format("stand in line too: dibs claim acquire {} --wait 600",
                                  shell_word(resource.text)),
              .fields = {{"resource", json_string(resource.text)},
                         {"next_in_line", json_string(next.agent.text)},
                         {"waiting", std::to_string(waiting)}}};
  if (waiting > 1) error.message += fmt::format(", of {} who wait", waiting);
  return error;
}

Error gives_way(const std::string& deadlock) {
  return {.kind = ErrorKind::deadlock_victim,
          .message = fmt::format("to wait on would be a deadlock: {}", deadlock),
          .hint = "release what the others wait for, then try again: dibs claim status",
          .fields = {{"deadlock", json_string(deadlock)}}};
}

}  // namespace dibs
