#include "rules/lease_history.h"

#include <fmt/core.h>

#include <map>
#include <optional>

namespace dibs {

namespace {

/// Who holds what, as the history tells it so far.
class Holders {
 public:
  void follow(const Event& event) {
    switch (event.op) {
      case Op::acquire:
        return begin(event, event.lease, event.agent);
      case Op::release:
      case Op::land:
      case Op::auto_evict:
      case Op::force_evict:
        return end(event);
      case Op::transfer:
        end(event);
        return begin(event, event.to_lease.value_or(LeaseId{}), event.to_agent.value_or(AgentId{}));
      case Op::renew:
      case Op::heartbeat:
      case Op::upgrade:
      case Op::downgrade:
        return check_held(event);
      case Op::wait:
      case Op::leave:
        return;
    }
  }
  std::vector<std::string> contradictions;

 private:
  struct Holder {
    LeaseId lease;
    AgentId agent;
  };

  void begin(const Event& event, const LeaseId& lease, const AgentId& agent) {
    if (const auto held = holders_.find(event.resource); held != holders_.end())
      contradictions.push_back(fmt::format("{}: {} got it while {} held it", event.resource.text,
                                           agent.text, held->second.agent.text));
    holders_[event.resource] = {.lease = lease, .agent = agent};
  }
  void end(const Event& event) {
    check_held(event);
    holders_.erase(event.resource);
  }
  void check_held(const Event& event) {
    const auto held = holders_.find(event.resource);
    if (held != holders_.end() && held->second.lease == event.lease) return;
    contradictions.push_back(fmt::format("{}: {} of a lease of {} that did not hold it",
                                         event.resource.text, name_of(event.op), event.agent.text));
  }

  std::map<Key, Holder> holders_;
};

}  // namespace

std::vector<std::string> contradictions_in(std::span<const PastEvent> history) {
  Holders holders;
  for (const PastEvent& past : history) holders.follow(past.event);
  return std::move(holders.contradictions);
}

}  // namespace dibs
