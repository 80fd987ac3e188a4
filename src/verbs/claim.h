// The verbs on leases: what `dibs claim …` does, for every front. A request is what the person
// said, a reply is what they are told; texts are the front's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/claim.h"
#include "rules/line.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

inline constexpr std::size_t kResourcesMax = 64;

enum class Strategy { retry, fail_fast, steal_stale, force };
[[nodiscard]] std::optional<Strategy> parse_strategy(std::string_view name);

/// How to stand in line for what is held.
struct Queueing {
  std::int64_t most_secs = 0;
  int priority = kWaitPriorityDefault;
  Resolve resolve = Resolve::tell;
};
inline constexpr std::int64_t kWaitSecsMax = 7LL * 86'400;

struct Acquire {
  std::vector<std::string> resources;
  std::optional<std::int64_t> ttl_secs;  // 0: no time limit
  Mode mode = Mode::exclusive;
  Strategy strategy = Strategy::fail_fast;
  std::optional<std::int64_t> max_retries;
  std::optional<std::int64_t> pid;
  std::string reason;
  /// Where the work will be done, if not here.
  struct Elsewhere {
    WorktreeId worktree;
    std::string branch;
  };
  std::optional<Elsewhere> elsewhere = std::nullopt;
  std::optional<Queueing> queueing = std::nullopt;  // none: whatever the strategy does, but no line
};
[[nodiscard]] Result<Grants> acquire(Workspace& workspace, const Acquire& request);

struct Renew {
  std::string lease;
  std::optional<std::int64_t> ttl_secs;
};
[[nodiscard]] Result<HeldLease> renew(Workspace& workspace, const Renew& request);

struct Released {
  Key resource;
  LeaseId lease;
  bool already = false;  // this session had released it before
};
[[nodiscard]] Result<Released> release(Workspace& workspace, const std::string& lease);

struct Transfer {
  std::string lease;
  std::string to_agent;
  std::optional<std::string> to_worktree;
  std::optional<std::string> to_session;
  std::optional<std::string> to_branch = std::nullopt;  // that will be checked out there
};
[[nodiscard]] Result<HeldLease> transfer(Workspace& workspace, const Transfer& request);

[[nodiscard]] Result<Grants> force_evict(Workspace& workspace, const std::string& lease,
                                         const std::string& reason);
[[nodiscard]] Result<HeldLease> upgrade(Workspace& workspace, const std::string& lease,
                                        const std::optional<Queueing>& queueing = std::nullopt);
[[nodiscard]] Result<HeldLease> downgrade(Workspace& workspace, const std::string& lease);

/// A lease with how it stands, seen from outside.
struct ListedLease {
  Key resource;
  Lease lease;
  Standing standing;
  std::optional<std::int64_t> left_ms;  // none when it has no time limit
};

[[nodiscard]] ListedLease listed(const Key& resource, const Lease& lease, const Board& board,
                                 const Policy& policy);

struct Status {
  Key resource;
  std::vector<ListedLease> leases;  // those that are held
};
[[nodiscard]] Result<Status> status(Workspace& workspace, const std::string& resource);

// Those of these resources that are held, and by whom.
[[nodiscard]] Result<std::vector<ListedLease>> held_among(Workspace& workspace,
                                                          std::vector<Key> keys);

struct List {
  std::optional<std::string> agent_id;
  bool stale = false;        // those that have ended or gone stale, instead of those that are held
  bool own_session = false;  // only the caller's
};
[[nodiscard]] Result<std::vector<ListedLease>> list(Workspace& workspace, const List& request);

// Succeeds when `fence` is that of a lease that is held; `lease_lost` otherwise.
[[nodiscard]] Result<ListedLease> verify(Workspace& workspace, const std::string& resource,
                                         std::uint64_t fence);

struct Cleanup {
  std::int64_t older_than_secs = 0;
  bool dry_run = false;
};
[[nodiscard]] Result<std::vector<Ended>> cleanup(Workspace& workspace, const Cleanup& request);

// The warning about a lease that is about to end, with the command that renews it; nothing when
// there is time.
[[nodiscard]] std::optional<std::string> expiry_warning(const HeldLease& held, const Instant& now,
                                                        std::int64_t threshold_pct);

// A refusal for want of a lease, made precise: it was lost, and how, or there never was one. By
// resource, another may hold it by now; what the caller needs to know is that it lost it.
[[nodiscard]] Error explained(Ledger& ledger, const Error& error, const Claimant& who,
                              const LeaseRef& ref);

// Checks at the edge.
[[nodiscard]] Done check_reason(const std::string& reason);
[[nodiscard]] Result<LeaseRef> parse_lease_ref(const std::string& text);
[[nodiscard]] Selection selection_of(const LeaseRef& ref);
// These resources, and who waits for them.
[[nodiscard]] Selection selection_with_lines(const std::vector<Resource>& resources);

}  // namespace dibs::verbs
