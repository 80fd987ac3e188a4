// Whether one entry of the chronicle was allowed, judged from how things stood before it, who sent
// it and what that one had seen. Written from docs/guarantees.md, not from the rules.
#pragma once

#include <string>

#include "witness.h"

namespace dibs::sim {

class EntryCheck {
 public:
  EntryCheck(Witness& witness, const LogLine& entry, const State& before, const State& after,
             const Asked& asked)
      : witness_(witness), entry_(entry), before_(before), after_(after), asked_(asked) {}

  void run();

 private:
  void check_resource(const Key& resource);
  void check_together(const Key& resource);
  void check_grant(const Key& resource, const Lease& lease);
  void check_change(const Lease& was, const Lease& is, const Key& resource);
  void check_end(const Key& resource, const Lease& lease);
  void check_own(const Lease& lease, std::string_view what);
  void check_eviction(const Lease& lease, const Event& event);
  void check_forced(const Lease& lease, const Event& event);
  [[nodiscard]] bool waits_since_the_look(const Key& resource, const Waiter& waiter) const;
  void check_turn(const Key& resource, const Lease& lease);
  void check_line(const Key& resource);
  void check_left(const Key& resource, const Waiter& waiter);
  void check_joined(const Line& line, const Waiter& waiter);
  void check_all_or_none();
  void check_circles();

  [[nodiscard]] bool is_over(const std::optional<Instant>& end, std::int64_t margin_ms) const;
  [[nodiscard]] bool is_gone(const Waiter& waiter) const;
  [[nodiscard]] const Event* event_about(const std::string& id,
                                         std::initializer_list<Op> ops) const;
  void accuse(std::string invariant, const std::string& what);

  Witness& witness_;
  const LogLine& entry_;
  const State& before_;
  const State& after_;
  const Asked& asked_;
};

// How long until then, by hand: the boot-time clock within one boot, else the wall clock.
[[nodiscard]] std::int64_t ms_left(const Instant& end, const Instant& now);

}  // namespace dibs::sim
