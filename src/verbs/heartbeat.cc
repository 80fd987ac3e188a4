#include "verbs/heartbeat.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/name_encoding.h"
#include "base/text.h"
#include "verbs/claim.h"

namespace dibs::verbs {

namespace {

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

// A third of the shortest lease at most: two beats may fail before anything is lost.
std::int64_t pause_ms(const Beat& beat, std::int64_t every_secs) {
  std::int64_t ms = every_secs * 1000;
  for (const HeldLease& held : beat.extended) {
    if (!held.lease.indefinite()) ms = std::min(ms, held.lease.ttl_secs * 1000 / 3);
  }
  return std::max<std::int64_t>(ms, 100);
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

Result<Beat> beat_once(Workspace& workspace, const Claimant& who, std::int64_t interval_secs) {
  const Result<Ledger*> ledger = workspace.ledger();
  if (!ledger) return fail(ledger.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  const std::int64_t threshold_pct =
      (*settings)->integer("coordination.lease_renewal_threshold_pct");
  Instant now;
  Beat beat{.session = who.session};
  std::optional<Key> after;
  do {
    std::vector<std::string> warnings;
    auto settled = (*ledger)->settle<HeartbeatReply>(
        Selection::with_text(who.session.text),
        [&](const Board& board) -> Result<Decision<HeartbeatReply>> {
          now = board.now;
          if (!after) warnings = expiry_warnings(board, who.session, threshold_pct);
          return dibs::heartbeat(board, who, after);
        });
    if (!settled) return fail(settled.error());
    std::ranges::move(settled->reply.extended, std::back_inserter(beat.extended));
    std::ranges::move(settled->reply.lost, std::back_inserter(beat.lost));
    std::ranges::move(warnings, std::back_inserter(beat.warnings));
    after = settled->reply.goes_on_after;
  } while (after);
  write_heartbeat_file(workspace, who, now, interval_secs);
  return beat;
}

}  // namespace

Result<Beat> heartbeat(Workspace& workspace, std::optional<std::int64_t> pid) {
  const Result<Claimant> who = workspace.claimant(pid);
  if (!who) return fail(who.error());
  const Result<const Settings*> settings = workspace.settings();
  if (!settings) return fail(settings.error());
  return beat_once(workspace, *who, (*settings)->integer("coordination.heartbeat_interval_secs"));
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
  Clock& clock = workspace.system().clock;
  // A session tied to no process may have died unseen; beating for it for ever would keep its work
  // from everyone else.
  const std::int64_t give_up_ms =
      clock.now().boot_ms + (*settings)->integer("coordination.daemon_max_secs") * 1000;
  std::optional<Beat> last;
  while (true) {
    if (who->process && has_ended(workspace, *who->process)) return {};
    if (!who->process && clock.now().boot_ms >= give_up_ms) return {};
    Result<Beat> beat = beat_once(workspace, *who, request.every_secs);
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
    pause(workspace, *who, pause_ms(*last, request.every_secs));
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
