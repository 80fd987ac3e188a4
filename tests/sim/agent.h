// An agent of a simulated world: one session that gives dibs one command after the other, remembers
// what it was told, crashes now and then and comes back. The commands are made as verbs/ makes
// them: a selection and a rule for the ledger, over a store that is opened for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "rules/line.h"
#include "watched_store.h"
#include "world.h"

namespace dibs::sim {

class Agent {
 public:
  Agent(World& world, int number, Host& host);

  // The body of its fiber.
  void live(int commands);
  // Takes what nobody has any more, alone in a world without faults.
  void inherit(const std::vector<Resource>& resources);

 private:
  template <class Reply>
  using Rule = std::function<Result<Decision<Reply>>(const Board&)>;
  /// How a command ended for the agent; nothing when it died over it.
  template <class Reply>
  using Heard = std::optional<Result<Ledger::Settled<Reply>>>;

  template <class Reply>
  [[nodiscard]] Heard<Reply> command(Asked& asked, const Selection& selection,
                                     const Rule<Reply>& rule);
  [[nodiscard]] Heard<Grants> settle(Asked& asked, const Selection& selection,
                                     const Rule<Grants>& rule);
  [[nodiscard]] Asked asks(std::string verb, const std::vector<Resource>& resources = {});
  void note(const Asked& asked, const Error* error, const std::string& answer);

  void one_command();
  void one_quiet_command();
  void acquire(const Resource& resource);
  void acquire_one_by_one(const AcquireRequest& request);
  void wait();
  void renew();
  void beat();
  void release();
  void release_again(const Resource& resource, const Asked& before);
  void transfer();
  void evict();
  void upgrade();
  void downgrade();
  void clean_up();
  void land();

  // Standing in line (agent_waiting.cc).
  [[nodiscard]] WaitRequest wait_request(const AcquireRequest& request);
  void stand_in_line(Asked& asked, const WaitRequest& waiting, AcquireRequest& request);
  [[nodiscard]] bool take_or_stay(Asked& asked, const WaitRequest& waiting, AcquireRequest& request,
                                  std::int64_t deadline_ms);
  [[nodiscard]] bool join(Asked& asked, const WaitRequest& request);
  [[nodiscard]] Heard<Grants> take_turn(Asked& asked, AcquireRequest& request);
  void leave(Asked& asked, const WaitRequest& request);
  void watch_whose_turn_it_is(Asked& asked, const Outlook& outlook);

  void believe(const Grants& grants);
  [[nodiscard]] Resource any_resource();
  [[nodiscard]] Resource own_resource();
  [[nodiscard]] Claimant claimant() const;
  [[nodiscard]] AcquireRequest acquire_request(std::vector<Resource> resources);
  void come_back();
  [[nodiscard]] Dice& dice() { return world_.schedule.dice(); }

  World& world_;
  Host& host_;
  Claimant who_;
  std::unique_ptr<Process> process_;
  std::vector<HeldLease> held_;  // as far as it knows
  std::optional<Resource> last_wanted_;
  std::optional<WaitId> has_its_turn_;
  std::int64_t its_turn_since_ms_ = 0;
};

inline constexpr int kResources = 3;
[[nodiscard]] Resource resource_number(std::int64_t number);

}  // namespace dibs::sim
