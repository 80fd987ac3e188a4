#include "verbs/heartbeat.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/name_encoding.h"
#include "base/text.h"
#include "verbs/claim.h"
#include "verbs/served_sessions.h"

namespace dibs::verbs {

namespace {

constexpr std::int64_t kFirstPatienceMs = 10'000;

// The file that shows people and other tools who is alive. Leases live by their records, not by it.
void write_heartbeat_file(Workspace& workspace, const Claimant& who, const Instant& now,
                          std::int64_t interval_secs) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return;
  const std::string folder = *directory + "/heartbeat";
  const auto status = workspace.system().files.status(folder);
  if (!status || !status->has_value() || (*status)->kind != FileKind::directory) {
    workspace.warn(
        fmt::format("{} is not a directory; put it right with: dibs doctor", printable(folder)));
    return;
  }
  JsonObject json;
  json.add("schema_version", 1)
      .add("agent_id", who.agent.text)
      .add("session", who.session.text)
      .add("worktree_id", who.worktree.text)
      .add("branch", who.branch)
      .add("pid", who.process ? who.process->pid : workspace.system().machine.own_pid())
      .add("last_beat", rfc3339(now.unix_ms))
      .add("interval_secs", interval_secs);
  const std::string path = folder + "/" + encode_name(who.agent.text) + ".json";
  (void)workspace.system().files.replace_file(path, json.text() + "\n", workspace.file_mode());
}

std::string daemon_lock(const std::string& directory, const SessionId& session) {
  return directory + "/locks/heartbeat-" + encode_name(session.text) + ".lock";
}

Result<std::unique_ptr<FileLock>> lock_daemon(Workspace& workspace, const SessionId& session) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  return workspace.system().files.lock(daemon_lock(*directory, session), Patience::at_once,
                                       workspace.file_mode());
}

// How long ago the last sign of life was, of the lease that has waited longest. A clock that was
// set back says nothing, and then it has been for ever.
std::int64_t waited_ms(const Grants& held, const Instant& now) {
  std::int64_t longest_ms = 0;
  for (const HeldLease& one : held) {
    const std::int64_t ago_ms = -ms_until(one.lease.beat, now);
    longest_ms = std::max(longest_ms, ago_ms < 0 ? INT64_MAX : ago_ms);
  }
  return longest_ms;
}

// Whoever beats does so a full pace after the last beat; until half of that, another has just done
// it.
bool is_due(const Grants& held, std::int64_t every_secs, const Instant& now) {
  return waited_ms(held, now) >= pace_ms(held, every_secs) / 2;
}

// From now until a pace after the last beat, whoever did that.
std::int64_t pause_ms(const Beat& beat, std::int64_t every_secs, const Instant& now) {
  constexpr std::int64_t kLeastMs = 100;
  const std::int64_t pace = pace_ms(beat.extended, every_secs);
  const std::int64_t waited = waited_ms(beat.extended, now);
  return waited >= pace ? pace : std::max(pace - waited, kLeastMs);
}

// Whether nothing is left to keep alive: every lease of the last good beat has ended by now.
bool all_over(const Beat& last, const Instant& now) {
  return std::ranges::all_of(last.extended, [&](const HeldLease& held) {
    return held.lease.expires && has_passed(*held.lease.expires, now);
  });
}

bool has_ended(Workspace& workspace, const ProcessTie& process) {
  return workspace.system().machine.presence(process.pid, process.start_ticks) == Presence::gone;
}

// In short steps, so that the end of the holder's process is noticed soon.
void pause(Workspace& workspace, const Claimant& who, std::int64_t ms) {
  constexpr std::int64_t kStepMs = 500;
  for (std::int64_t left_ms = ms; left_ms > 0; left_ms -= kStepMs) {
    workspace.system().clock.sleep_ms(std::min(left_ms, kStepMs));
    if (who.process && has_ended(workspace, *who.process)) return;
  }
}

std::vector<std::string> expiry_warnings(const Board& board, const SessionId& session,
                                         std::int64_t threshold_pct) {
  std::vector<std::string> warnings;
  for (const auto& [key, seat] : board.seats) {
    for (const Lease& lease : seat.holding.leases) {
      if (lease.session != session) continue;
      if (auto warning =
              expiry_warning({.resource = key, .lease = lease}, board.now, threshold_pct))
        warnings.push_back(*std::move(warning));
    }
  }
  return warnings;
}

/// Whose leases one beat extends.
struct Round {
  Claimant who;                     // whose beat it is
  std::vector<SessionId> sessions;  // who beat with it, `who` among them
  Selection selection;
  bool only_if_due = false;  // another may have beaten for us
};

Result<Beat> beat_round(Workspace& workspace, const Round& round, std::int64_t interval_secs) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const std::int64_t threshold_pct =
      (*settings)->integer("coordination.lease_renewal_threshold_pct");
  const SessionId& own = round.who.session;
  Instant now;
  Beat beat{.session = own};
  std::optional<Key> after;
  do {
    std::vector<std::string> warnings;
    auto settled = (*ledger)->settle<HeartbeatReply>(
        round.selection, [&](const Board& board) -> Result<Decision<HeartbeatReply>> {
          now = board.now;
          if (!after) warnings = expiry_warnings(board, own, threshold_pct);
          if (!after && round.only_if_due) {
            HeartbeatReply standing = leases_of(board, own);
            if (!is_due(standing.extended, interval_secs, now))
              return Decision<HeartbeatReply>{.changes = {}, .reply = std::move(standing)};
          }
          return dibs::heartbeat(board, round.sessions, after);
        });
    if (!settled) return fail(settled.error());
    const auto is_own = [&](const HeldLease& held) { return held.lease.session == own; };
    std::ranges::copy_if(settled->reply.extended, std::back_inserter(beat.extended), is_own);
    std::ranges::copy_if(settled->reply.lost, std::back_inserter(beat.lost), is_own);
    std::ranges::move(warnings, std::back_inserter(beat.warnings));
    after = settled->reply.goes_on_after;
  } while (after);
  write_heartbeat_file(workspace, round.who, now, interval_secs);
  return beat;
}

Result<Beat> beat_alone(Workspace& workspace, const Claimant& who, std::int64_t interval_secs) {
  return beat_round(
      workspace,
      {.who = who, .sessions = {who.session}, .selection = Selection::with_text(who.session.text)},
      interval_secs);
}

// With all sessions of this clone that have a loop, unless another loop has just done that.
Result<Beat> beat_together(Workspace& workspace, const Claimant& who, std::int64_t interval_secs) {
  Round round{.who = who,
              .sessions = served_sessions(workspace),
              .selection = Selection::everything(),
              .only_if_due = true};
  if (std::ranges::find(round.sessions, who.session) == round.sessions.end())
    round.sessions.push_back(who.session);
  Result<Beat> beat = beat_round(workspace, round, interval_secs);
  // A record of somebody else's that cannot be read, or changes, must not end our leases.
  if (!beat && beat.error().kind != ErrorKind::unreachable)
    return beat_alone(workspace, who, interval_secs);
  return beat;
}

// Held for the moment of a beat, so that of many loops one beats and the others see that it did.
// Null when it was not to be had in time: whoever has it may be paused, and leases do not wait.
Result<std::unique_ptr<FileLock>> wait_for_turn(Workspace& workspace, const Claimant& who,
                                                std::int64_t most_ms) {
  constexpr std::int64_t kStepMs = 100;
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  for (std::int64_t left_ms = most_ms;; left_ms -= kStepMs) {
    Result<std::unique_ptr<FileLock>> turn = workspace.system().files.lock(
        *directory + "/locks/beat.lock", Patience::at_once, workspace.file_mode());
    if (!turn || *turn || left_ms <= 0) return turn;
    workspace.system().clock.sleep_ms(kStepMs);
    if (who.process && has_ended(workspace, *who.process)) return turn;
  }
}

Result<Beat> beat_in_turn(Workspace& workspace, const Claimant& who, std::int64_t interval_secs,
                          std::int64_t patience_ms) {
  const Result<std::unique_ptr<FileLock>> turn = wait_for_turn(workspace, who, patience_ms);
  if (!turn) return fail(turn.error());
  return *turn ? beat_together(workspace, who, interval_secs)
               : beat_alone(workspace, who, interval_secs);
}

}  // namespace

std::int64_t pace_ms(const Grants& held, std::int64_t every_secs) {
  std::int64_t ms = every_secs * 1000;
  for (const HeldLease& one : held) {
    if (!one.lease.indefinite()) ms = std::min(ms, one.lease.ttl_secs * 1000 / 3);
  }
  return std::max<std::int64_t>(ms, 100);
}

Result<Beat> heartbeat_for(Workspace& workspace, const Claimant& who) {
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  return beat_alone(workspace, who, (*settings)->integer("coordination.heartbeat_interval_secs"));
}

Result<Beat> heartbeat(Workspace& workspace, std::optional<std::int64_t> pid) {
  const Result<Claimant> who = workspace.claimant(pid);
  if (!who) return fail(who.error());
  return heartbeat_for(workspace, *who);
}

Done heartbeat_loop(Workspace& workspace, const BeatLoop& request,
                    const std::function<void(const Beat&)>& on_beat) {
  const Result<Claimant> who = workspace.claimant(request.pid);
  if (!who) return fail(who.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  std::unique_ptr<FileLock> only_one;
  if (request.detached) {
    Result<std::unique_ptr<FileLock>> lock = lock_daemon(workspace, who->session);
    if (!lock) return fail(lock.error());
    if (!*lock) return {};
    only_one = *std::move(lock);
  }
  const Result<const StoreBackend*> backend = workspace.backend();
  if (!backend) return fail(backend.error());
  std::optional<ServedSession> served;
  if ((*backend)->is_remote) served.emplace(workspace, who->session);
  Clock& clock = workspace.system().clock;
  // A session tied to no process may have died unseen; beating for it for ever would keep its work
  // from everyone else.
  const std::int64_t give_up_ms =
      clock.now().boot_ms + (*settings)->integer("coordination.daemon_max_secs") * 1000;
  std::optional<Beat> last;
  while (true) {
    if (who->process && has_ended(workspace, *who->process)) return {};
    if (!who->process && clock.now().boot_ms >= give_up_ms) return {};
    // How short the leases are is known only after the first beat.
    const std::int64_t patience_ms =
        last ? pace_ms(last->extended, request.every_secs) : kFirstPatienceMs;
    Result<Beat> beat = served ? beat_in_turn(workspace, *who, request.every_secs, patience_ms)
                               : beat_alone(workspace, *who, request.every_secs);
    if (beat) {
      on_beat(*beat);
      last = *std::move(beat);
    } else if (!last || all_over(*last, clock.now())) {
      return fail(beat.error());
    } else {
      // A full disk may have room again before the leases end: they are not given up for one beat.
      workspace.warn(beat.error().message);
    }
    if (!who->process && last->extended.empty()) return {};
    pause(workspace, *who, pause_ms(*last, request.every_secs, clock.now()));
  }
}

Result<Daemon> start_heartbeat_daemon(Workspace& workspace, const BeatLoop& request) {
  const Result<Claimant> who = workspace.claimant(request.pid);
  if (!who) return fail(who.error());
  {
    const Result<std::unique_ptr<FileLock>> lock = lock_daemon(workspace, who->session);
    if (!lock) return fail(lock.error());
    if (!*lock) return Daemon{.session = who->session, .pid = std::nullopt};
  }
  if (!who->process) {
    workspace.warn(
        "this session is tied to no process, so its leases are kept alive until it holds none; tie "
        "it with --pid $$");
  }
  std::vector<std::string> arguments{"-C",         workspace.system().current_directory,
                                     "--agent-id", who->agent.text,
                                     "claim",      "heartbeat",
                                     "--every",    std::to_string(request.every_secs),
                                     "--detached"};
  if (who->process) {
    arguments.emplace_back("--pid");
    arguments.push_back(std::to_string(who->process->pid));
  }
  const Result<std::int64_t> pid = workspace.system().machine.start_detached(arguments);
  if (!pid) return fail(pid.error());
  return Daemon{.session = who->session, .pid = *pid};
}

}  // namespace dibs::verbs
