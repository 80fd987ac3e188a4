#include "wait_circles.h"

#include <set>
#include <vector>

namespace dibs::sim {

namespace {

bool share(Mode one, Mode other) { return one == Mode::shared && other == Mode::shared; }

/// Whom one session waits for, as far as it was to be seen.
class Blockers {
 public:
  Blockers(const WaitSight& sight, const SessionId& session) : sight_(sight), session_(session) {}

  [[nodiscard]] std::vector<SessionId> all() {
    for (const auto& [key, kept] : sight_.now.kept) {
      if (const std::optional<Key> resource = waited_for(key)) look_at(*resource, kept->line);
    }
    return found_;
  }

 private:
  void look_at(const Key& resource, const Line& line) {
    for (const Waiter& waiter : line.waiters) {
      if (waiter.session != session_ || !waits(waiter, resource)) continue;
      add_holders(resource, waiter);
      add_those_before(resource, line, waiter);
    }
  }
  void add_holders(const Key& resource, const Waiter& waiter) {
    for (const Lease& lease : sight_.now.holding(resource).leases) {
      // One that was upgraded since could be shared with when it was seen, one that was downgraded
      // since can be now, and one that a stopped process renewed since was over.
      const Lease* seen = sight_.then.lease(lease.id);
      if (seen == nullptr || !sight_.counts(*seen) || !sight_.counts(lease)) continue;
      if (!share(seen->mode, waiter.mode) && !share(lease.mode, waiter.mode)) add(lease.session);
    }
  }
  void add_those_before(const Key& resource, const Line& line, const Waiter& waiter) {
    for (const Waiter& other : line.waiters) {
      if (other.id == waiter.id) return;
      if (waits(other, resource) && !share(other.mode, waiter.mode)) add(other.session);
    }
  }
  [[nodiscard]] bool waits(const Waiter& waiter, const Key& resource) const {
    if (waiter.must_give_way() || !sight_.waits(waiter)) return false;
    return waiter.id == sight_.joined || sight_.then.line(resource).find(waiter.id) != nullptr;
  }
  void add(const SessionId& session) {
    if (session != session_) found_.push_back(session);
  }

  const WaitSight& sight_;
  const SessionId& session_;
  std::vector<SessionId> found_;
};

}  // namespace

bool waits_in_a_circle(const WaitSight& sight, const SessionId& session) {
  std::set<SessionId> seen;
  std::vector<SessionId> left{session};
  while (!left.empty()) {
    const SessionId next = left.back();
    left.pop_back();
    for (const SessionId& blocker : Blockers(sight, next).all()) {
      if (blocker == session) return true;
      if (seen.insert(blocker).second) left.push_back(blocker);
    }
  }
  return false;
}

}  // namespace dibs::sim
