#include "entry_check.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent_habits.h"
#include "model/resource.h"
#include "wait_circles.h"

namespace dibs::sim {

namespace {

const Lease* find(const Holding& holding, const LeaseId& id) {
  const auto found = std::ranges::find(holding.leases, id, &Lease::id);
  return found == holding.leases.end() ? nullptr : &*found;
}

bool share(Mode one, Mode other) { return one == Mode::shared && other == Mode::shared; }

std::pair<bool, int> rank(const Waiter& waiter) {
  return {!waiter.upgrades.has_value(), waiter.priority};
}

bool contains(const std::vector<WaitId>& ids, const WaitId& id) {
  return std::ranges::find(ids, id) != ids.end();
}

// The others in the order they stand in, as far as they are in both.
std::vector<WaitId> common(const Line& line, const Line& other, const std::optional<WaitId>& but) {
  std::vector<WaitId> ids;
  for (const Waiter& waiter : line.waiters) {
    if (waiter.id != but && other.find(waiter.id) != nullptr) ids.push_back(waiter.id);
  }
  return ids;
}

}  // namespace

std::int64_t ms_left(const Instant& end, const Instant& now) {
  if (!now.boot.empty() && end.boot == now.boot) return end.boot_ms - now.boot_ms;
  return end.unix_ms - now.unix_ms;
}

void EntryCheck::accuse(std::string invariant, const std::string& what) {
  witness_.accuse(std::move(invariant), fmt::format("entry {} ({} of {}): {}", entry_.seq,
                                                    asked_.verb, asked_.session.text, what));
}

void EntryCheck::run() {
  for (const LoggedWrite& write : entry_.writes) {
    if (resource_of(write.key)) check_resource(write.key);
    if (const std::optional<Key> resource = waited_for(write.key)) check_line(*resource);
  }
  check_all_or_none();
  check_circles();
}

bool EntryCheck::is_over(const std::optional<Instant>& end, std::int64_t margin_ms) const {
  return end && ms_left(*end, asked_.now) + margin_ms <= 0;
}

bool EntryCheck::is_gone(const Waiter& waiter) const {
  if (waiter.process && witness_.is_gone_(*waiter.process)) return true;
  return is_over(waiter.until, asked_.margin_ms);
}

const Event* EntryCheck::event_about(const std::string& id, std::initializer_list<Op> ops) const {
  for (const Event& event : entry_.events) {
    if (event.lease.text == id && std::ranges::find(ops, event.op) != ops.end()) return &event;
  }
  return nullptr;
}

void EntryCheck::check_resource(const Key& resource) {
  const Holding& was = before_.holding(resource);
  const Holding& is = after_.holding(resource);
  check_together(resource);
  for (const Lease& lease : is.leases) {
    const Lease* same = find(was, lease.id);
    same != nullptr ? check_change(*same, lease, resource) : check_grant(resource, lease);
  }
  for (const Lease& lease : was.leases) {
    if (find(is, lease.id) == nullptr) check_end(resource, lease);
  }
}

void EntryCheck::check_together(const Key& resource) {
  const std::vector<Lease>& leases = after_.holding(resource).leases;
  std::set<SessionId> sessions;
  for (const Lease& lease : leases) {
    if (lease.mode == Mode::exclusive && leases.size() > 1)
      accuse("I1", lease.session.text + " does not have " + resource.text + " alone");
    if (!sessions.insert(lease.session).second)
      accuse("I1", lease.session.text + " has " + resource.text + " twice");
  }
}

void EntryCheck::check_grant(const Key& resource, const Lease& lease) {
  const auto highest = before_.highest.find(resource);
  if (highest != before_.highest.end() && lease.fence <= highest->second)
    accuse("I2", fmt::format("the fence {} on {} is not above {}", lease.fence.value, resource.text,
                             highest->second.value));
  const bool handed_over = std::ranges::any_of(
      entry_.events, [&](const Event& event) { return event.to_lease == lease.id; });
  if (handed_over) return;
  if (lease.session != asked_.session || event_about(lease.id.text, {Op::acquire}) == nullptr)
    accuse("I6", lease.session.text + " got a lease that it did not ask for");
  if (lease.expires && ms_left(*lease.expires, asked_.now) > lease.ttl_secs * 1000)
    accuse("I4", "the lease counts from a moment after it was asked for");
  check_turn(resource, lease);
}

void EntryCheck::check_own(const Lease& lease, std::string_view what) {
  if (lease.session != asked_.session)
    accuse("I6", fmt::format("the lease of {} was {}", lease.session.text, what));
  if (is_over(lease.expires, 0))
    accuse("I6", fmt::format("a lease of {} that was over was {}", lease.session.text, what));
}

void EntryCheck::check_change(const Lease& was, const Lease& is, const Key& resource) {
  if (was == is) return;
  check_own(was, "changed");
  if (is.session != was.session) accuse("I8", "a lease has another holder and the same name");
  if (was.expires.has_value() != is.expires.has_value())
    return accuse("I6", "a lease lost or got a time limit");
  if (is.expires) {
    const std::int64_t had_ms = ms_left(*was.expires, asked_.now);
    const std::int64_t has_ms = ms_left(*is.expires, asked_.now);
    if (has_ms < had_ms) accuse("I6", "a lease got shorter");
    if (has_ms > std::max(had_ms, is.ttl_secs * 1000)) accuse("I4", "a lease got too long");
  }
  const auto highest = before_.highest.find(resource);
  const bool upgraded = was.mode == Mode::shared && is.mode == Mode::exclusive;
  if (upgraded ? is.fence <= highest->second : is.fence != was.fence)
    accuse("I2", fmt::format("the fence {} became {}", was.fence.value, is.fence.value));
}

void EntryCheck::check_end(const Key& resource, const Lease& lease) {
  if (event_about(lease.id.text, {Op::release, Op::land, Op::transfer}) != nullptr)
    return check_own(lease, "given up");
  if (const Event* event = event_about(lease.id.text, {Op::auto_evict}))
    return check_eviction(lease, *event);
  if (const Event* event = event_about(lease.id.text, {Op::force_evict}))
    return check_forced(lease, *event);
  accuse("I6", fmt::format("the lease of {} on {} went without a word", lease.session.text,
                           resource.text));
}

void EntryCheck::check_eviction(const Lease& lease, const Event& event) {
  if (event.reason.empty()) accuse("I14", "an eviction does not say why");
  const bool dead = lease.process && witness_.is_gone_(*lease.process);
  const bool silent = lease.indefinite() && ms_left(lease.beat, asked_.now) < -kStaleMs;
  if (dead || silent || is_over(lease.expires, asked_.margin_ms)) return;
  accuse("I5", fmt::format("the lease of {} was taken before its end", lease.session.text));
}

void EntryCheck::check_forced(const Lease& lease, const Event& event) {
  if (!event.by || event.by->text.empty() || event.reason.empty())
    accuse("I14", fmt::format("{} was evicted, and not by whom or why", lease.session.text));
  if (!asked_.may_evict)
    accuse("I6", fmt::format("{} was evicted without being asked for", lease.session.text));
}

// Whether it has waited there ever since the one who asks looked: one that lost its place, or had
// to give way, and began anew may not have been in sight.
bool EntryCheck::waits_since_the_look(const Key& resource, const Waiter& waiter) const {
  const Chronicle& chronicle = witness_.chronicle();
  for (std::size_t i = chronicle.left_of(asked_.looked_at); i < chronicle.size(); ++i) {
    const Waiter* then = chronicle.before(i).line(resource).find(waiter.id);
    if (then == nullptr || then->must_give_way() || is_gone(*then)) return false;
  }
  return true;
}

// Nobody who was there when it looked, and still is, comes before it.
void EntryCheck::check_turn(const Key& resource, const Lease& lease) {
  if (asked_.takeover == Takeover::any || asked_.last_look) return;
  for (const Waiter& waiter : before_.line(resource).waiters) {
    if (waiter.id == asked_.place.id) return;
    if (waiter.session == lease.session || share(waiter.mode, lease.mode)) continue;
    if (contains(asked_.place.passed_over, waiter.id)) continue;
    if (!waits_since_the_look(resource, waiter)) continue;
    return accuse(
        "I16", fmt::format("{} was before it in line for {}", waiter.session.text, resource.text));
  }
}

void EntryCheck::check_line(const Key& resource) {
  const Line& was = before_.line(resource);
  const Line& is = after_.line(resource);
  if (common(was, is, asked_.place.id) != common(is, was, asked_.place.id))
    accuse("I16", "the line for " + resource.text + " has another order");
  for (const Waiter& waiter : was.waiters) {
    if (is.find(waiter.id) == nullptr) check_left(resource, waiter);
  }
  for (const Waiter& waiter : is.waiters) {
    if (was.find(waiter.id) == nullptr) check_joined(is, waiter);
  }
}

void EntryCheck::check_left(const Key& resource, const Waiter& waiter) {
  if (waiter.id == asked_.place.id) return;
  const bool told = event_about(waiter.id.text, {Op::leave}) != nullptr;
  const bool waits_no_more = is_gone(waiter) || contains(asked_.place.passed_over, waiter.id);
  if (!told || !waits_no_more)
    accuse("I16",
           fmt::format("{} lost its place in line for {}", waiter.session.text, resource.text));
}

void EntryCheck::check_joined(const Line& line, const Waiter& joined) {
  if (joined.id != asked_.place.id) accuse("I16", "somebody else was put in line");
  bool before = true;
  for (const Waiter& waiter : line.waiters) {
    if (waiter.id == joined.id)
      before = false;
    else if (before ? rank(waiter) > rank(joined) : rank(waiter) <= rank(joined))
      accuse("I16", fmt::format("{} did not join at the end of its rank", joined.session.text));
  }
}

void EntryCheck::check_all_or_none() {
  const auto has = [&](Op op) {
    return std::ranges::find(entry_.events, op, &Event::op) != entry_.events.end();
  };
  for (const Key& resource : asked_.resources) {
    const std::vector<Lease>& leases = after_.holding(resource).leases;
    const bool holds = std::ranges::find(leases, asked_.session, &Lease::session) != leases.end();
    if (has(Op::acquire) && !holds)
      accuse("I10", fmt::format("{} was left out of what was taken", resource.text));
    const bool stands = asked_.place.id && after_.line(resource).find(*asked_.place.id) != nullptr;
    if (has(Op::wait) && !stands)
      accuse("I10", fmt::format("{} was left out of what is waited for", resource.text));
  }
}

void EntryCheck::check_circles() {
  if (asked_.verb != "wait" || asked_.last_look) return;
  const Chronicle& chronicle = witness_.chronicle();
  const WaitSight sight{.then = chronicle.before(chronicle.left_of(asked_.looked_at)),
                        .now = after_,
                        .joined = asked_.place.id,
                        .waits = [&](const Waiter& waiter) { return !is_gone(waiter); },
                        .counts =
                            [&](const Lease& lease) {
                              const bool dead = lease.process && witness_.is_gone_(*lease.process);
                              return !dead && !is_over(lease.expires, asked_.margin_ms);
                            }};
  if (waits_in_a_circle(sight, asked_.session))
    accuse("I17", "it waits in a circle, and nobody was told");
}

}  // namespace dibs::sim
