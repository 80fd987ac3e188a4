// Who watches the world and says when a promise of docs/guarantees.md is broken. It knows what
// every agent asked and was told, what it believes, and what really happened in the store (the
// chronicle). Its judgements use nothing of rules/, ledger/ or the stores.
//
//   witness.sent(transaction, asked);      before a change goes to the store
//   witness.enter(entry);                  when it turns up in the store's truth
//   witness.told(asked, fence, grants);    when the agent has been told that it succeeded
//   witness.broken();                      the first promise that was broken
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chronicle.h"
#include "host.h"
#include "rules/claim.h"

namespace dibs::sim {

/// One command of an agent, as far as a witness has to know it.
struct Asked {
  std::string verb;
  SessionId session;
  Takeover takeover = Takeover::ended_only;
  bool may_evict = false;      // by force, with a reason
  std::vector<Key> resources;  // that are wanted, all or none
  PlaceInLine place;
  std::size_t since = 0;  // how long the chronicle was when it was asked
  // The last look that it decided on.
  Instant now;
  std::int64_t margin_ms = 0;
  bool last_look = false;
  Sighting looked_at;         // of the chronicle then, at least
  std::vector<Nonce> nonces;  // of what it sent
};

/// What an agent takes for granted until its own clock says otherwise.
struct Belief {
  SessionId session;
  Key resource;
  LeaseId lease;
  Mode mode = Mode::exclusive;
  std::optional<Instant> until;
  const Host* host = nullptr;
  std::int64_t pid = 0;  // of the process that was told
};

struct Violation {
  std::string invariant;
  std::string what;
};

class Witness {
 public:
  // `is_gone`: whether a process is not there any more, whatever dibs thinks.
  using IsGone = std::function<bool(const ProcessTie&)>;
  explicit Witness(IsGone is_gone) : is_gone_(std::move(is_gone)) {}

  [[nodiscard]] const std::optional<Violation>& broken() const { return broken_; }
  void accuse(std::string invariant, std::string what);
  [[nodiscard]] const Chronicle& chronicle() const { return chronicle_; }

  void sent(const Transaction& transaction, Asked& asked);
  void enter(const LogLine& entry);
  // The store has no more than so many entries any more.
  void cut_to(std::size_t size);
  void told(const Asked& asked, const std::optional<Fence>& fence, const Grants& grants);
  // Refs move now in the name of this lease.
  void landed(const LeaseId& lease);

  void believes(Belief belief);
  void gives_up(const SessionId& session, const std::optional<Key>& resource = {});
  // Nobody believes what another has by right.
  void compare_beliefs();
  void forget_ended_beliefs();
  // What the store shows is what its truth says.
  void compare_with(const std::vector<Record>& shown);

 private:
  friend class EntryCheck;
  [[nodiscard]] bool is_over(const Belief& belief) const;

  IsGone is_gone_;
  Chronicle chronicle_;
  std::optional<Violation> broken_;
  std::map<Nonce, Asked> senders_;
  std::set<Nonce> acknowledged_;
  std::set<LeaseId>
      ended_by_others_;  // by force, or silent for too long: their holders cannot know
  std::vector<Belief> beliefs_;
};

}  // namespace dibs::sim
