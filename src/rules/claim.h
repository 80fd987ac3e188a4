// The rules of leases: who may take, keep, hand over and end one. Pure functions from a board and
// a request to the changes to commit, or to the refusal that the person reads.
//
//   Result<Decision<Grants>> decision = acquire(board, request);
//   if (!decision) …                       refused: held, not found, lost…
//   commit decision->changes               nothing to commit when it has no writes
//   stamp(decision->reply, fence)          the fence is known only after the commit
//
// A change expects every record it read, so whatever a rule decided still holds when it is written.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/lease.h"
#include "model/record.h"
#include "model/ref_move.h"
#include "model/resource.h"
#include "rules/board.h"

namespace dibs {

/// The record that claims of indefinite leases share, so that two of them cannot both pass the
/// limit.
[[nodiscard]] const Key& indefinite_guard();

/// Who asks, and from where.
struct Claimant {
  AgentId agent;
  SessionId session;
  WorktreeId worktree;
  std::string branch;
  std::optional<ProcessTie> process;
};

struct Changes {
  std::vector<Expectation> expectations;
  std::vector<Write> writes;
  std::vector<Event> events;
  std::vector<RefMove> refs = {};  // git refs that move in the same step
  bool gives_back = false;         // only ends leases: must succeed even on a full disk
};

template <class Reply>
struct Decision {
  Changes changes;
  Reply reply;
};

struct HeldLease {
  Key resource;
  Lease lease;
  bool already_held = false;  // acquire: this session had it before it asked
};
using Grants = std::vector<HeldLease>;

// Two decisions about different resources in one: both happen, or neither.
void add_to(Decision<Grants>& all, Decision<Grants> more);

// Gives every lease that the commit granted the commit's fence.
void stamp(Grants& grants, Fence fence);

/// Which leases of others an acquire may end.
enum class Takeover {
  ended_only,  // expired, or their process is gone
  stale_too,
  any,  // by force, with a reason
};

/// Where someone stands who asks for a resource.
struct PlaceInLine {
  std::optional<WaitId> id;  // none: outside
  // Those that were seen not to take what they could have had: a process may be stopped.
  std::vector<WaitId> passed_over;
};

struct AcquireRequest {
  Claimant who;
  std::vector<Resource> resources;
  std::vector<LeaseId> new_ids;  // one for each resource
  Mode mode = Mode::exclusive;
  std::int64_t ttl_secs = 0;
  Takeover takeover = Takeover::ended_only;
  std::string reason;
  Policy policy;
  // What the visible branch of each resource begins with; none: as the store's settings say.
  std::vector<std::string> claim_states = {};
  PlaceInLine place = {};
};
[[nodiscard]] Result<Decision<Grants>> acquire(const Board& board, const AcquireRequest& request);

/// A lease, by its id or by what it is on.
using LeaseRef = std::variant<LeaseId, Resource>;
[[nodiscard]] std::string text_of(const LeaseRef& ref);

// The lease, if this session holds it and it still counts.
[[nodiscard]] Result<HeldLease> own_lease(const Board& board, const Claimant& who,
                                          const LeaseRef& lease);

struct RenewRequest {
  Claimant who;
  LeaseRef lease;
  std::optional<std::int64_t> ttl_secs;  // none: as before
};
[[nodiscard]] Result<Decision<Grants>> renew(const Board& board, const RenewRequest& request);

struct HeartbeatReply {
  Grants extended;
  Grants lost;  // the sessions' leases that had ended before the beat; it revives none
  std::optional<Key> goes_on_after;  // more of them than fit in one change: beat on from here
};
// Of several sessions in one change, where every change is dear. `after` is where the last beat
// stopped.
[[nodiscard]] Decision<HeartbeatReply> heartbeat(const Board& board,
                                                 std::span<const SessionId> sessions,
                                                 const std::optional<Key>& after = {});
[[nodiscard]] Decision<HeartbeatReply> heartbeat(const Board& board, const Claimant& who,
                                                 const std::optional<Key>& after = {});
// What a beat would extend and what it would find lost, each as it stands.
[[nodiscard]] HeartbeatReply leases_of(const Board& board, const SessionId& session);

[[nodiscard]] Result<Decision<Grants>> release(const Board& board, const Claimant& who,
                                               const LeaseRef& lease,
                                               const std::string& reason = {});

/// Work that is ready to become part of the target branch.
struct Landing {
  std::string target;         // the branch
  std::string commit;         // where it will stand
  std::string work;           // the commit that was brought there, in whatever form
  std::vector<RefMove> refs;  // what moves with it, the target first
};
// Gives the lease back and moves the refs, in one step: whoever has lost the lease cannot land.
[[nodiscard]] Result<Decision<Grants>> land(const Board& board, const Claimant& who,
                                            const LeaseRef& lease, const Landing& landing);

struct TransferRequest {
  Claimant who;
  LeaseRef lease;
  Claimant to;
  LeaseId new_id;
};
[[nodiscard]] Result<Decision<Grants>> transfer(const Board& board, const TransferRequest& request);

[[nodiscard]] Result<Decision<Grants>> force_evict(const Board& board, const AgentId& by,
                                                   const LeaseRef& lease,
                                                   const std::string& reason);

[[nodiscard]] Result<Decision<Grants>> upgrade(const Board& board, const Claimant& who,
                                               const LeaseRef& lease, const Policy& policy,
                                               const PlaceInLine& place = {});
[[nodiscard]] Result<Decision<Grants>> downgrade(const Board& board, const Claimant& who,
                                                 const LeaseRef& lease);

/// A lease that has ended or gone stale, and why.
struct Ended {
  Key resource;
  Lease lease;
  Standing standing;
};
// What `cleanup` would end: everything not live whose last sign of life is at least this old.
[[nodiscard]] std::vector<Ended> ended_leases(const Board& board, const Policy& policy,
                                              std::int64_t older_than_secs);
[[nodiscard]] Decision<std::vector<Ended>> cleanup(const Board& board, const Policy& policy,
                                                   std::int64_t older_than_secs);

// What became of a lease that is not on the board. `past` are the events about it, oldest first.
// The release event, if it was this session that ended it: releasing again answers the same.
[[nodiscard]] const PastEvent* own_release(std::span<const PastEvent> past, const Claimant& who,
                                           const LeaseRef& lease);
[[nodiscard]] Error explain_absence(std::span<const PastEvent> past, const Claimant& who,
                                    const LeaseRef& lease);

// The refusal that names the holder; shared by every rule that meets one.
[[nodiscard]] Error held_by(const Key& resource, const Lease& lease, const Board& board,
                            const Claimant& asking);

}  // namespace dibs
