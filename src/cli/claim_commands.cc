// `dibs claim …`, the part that changes leases.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/render.h"
#include "verbs/claim.h"
#include "verbs/heartbeat.h"

namespace dibs::cli {

namespace {

constexpr std::array<Positional, 1> kResources{
    {{.name = "RESOURCE",
      .meaning = "an item id, or item:ID, branch:NAME, lock:NAME",
      .least = 1,
      .most = 64}}};
constexpr std::array<Positional, 1> kLease{
    {{.name = "LEASE", .meaning = "a lease id, or the resource it is on"}}};

constexpr Option kTtl{.name = "--ttl",
                      .takes = Takes::number,
                      .value = "SECS",
                      .meaning = "how long it lasts; 0 for no limit, with --reason (default 600)",
                      .least = 0,
                      .most = kTtlSecsMax};
constexpr Option kReason{.name = "--reason",
                         .takes = Takes::text,
                         .value = "TEXT",
                         .meaning = "why; kept in the history"};
constexpr Option kPid{.name = "--pid",
                      .takes = Takes::number,
                      .value = "PID",
                      .meaning = "tie it to a process: it ends when that does",
                      .least = 1,
                      .most = INT32_MAX};

void reply_with(Terminal& terminal, const HeldLease& held) {
  if (!terminal.json()) return;  // a claim is too quick to write what nobody reads
  terminal.reply(JsonObject()
                     .add_members(public_members(held.lease, held.resource))
                     .add("already_held", held.already_held));
}

constexpr Option kWait{.name = "--wait",
                       .takes = Takes::number,
                       .value = "SECS",
                       .meaning = "when it is held: stand in line for it, this long at most",
                       .least = 0,
                       .most = verbs::kWaitSecsMax};
constexpr Option kPriority{.name = "--priority",
                           .takes = Takes::number,
                           .value = "N",
                           .meaning = "in line before those with a larger one; 0 to 4 (default 2)",
                           .least = 0,
                           .most = kWaitPriorityLeast};
constexpr Option kResolve{.name = "--resolve",
                          .takes = Takes::text,
                          .value = "HOW",
                          .meaning =
                              "who gives way in a deadlock is told so (tell, the default), "
                              "or also loses what it holds (evict)",
                          .choices = "tell|evict"};

std::optional<verbs::Queueing> queueing_of(const Args& args) {
  const std::optional<std::int64_t> secs = args.number("--wait");
  if (!secs) return std::nullopt;
  return verbs::Queueing{
      .most_secs = *secs,
      .priority = static_cast<int>(args.number("--priority").value_or(kWaitPriorityDefault)),
      .resolve = args.text("--resolve") == "evict" ? Resolve::evict : Resolve::tell};
}

constexpr std::array<Option, 9> kAcquireOptions{{
    kTtl,
    {.name = "--shared", .meaning = "share it with others who ask for it shared"},
    {.name = "--strategy",
     .takes = Takes::text,
     .value = "HOW",
     .meaning = "when it is held: fail-fast, retry, steal-stale or force",
     .choices = "fail-fast|retry|steal-stale|force"},
    {.name = "--max-retries",
     .takes = Takes::number,
     .value = "N",
     .meaning = "tries of --strategy retry (default 5)",
     .least = 0,
     .most = 1000},
    kWait,
    kPriority,
    kResolve,
    kPid,
    kReason,
}};

Done run_acquire(Invocation& call) {
  verbs::Acquire request{
      .resources = call.args.words(),
      .ttl_secs = call.args.number("--ttl"),
      .mode = call.args.has("--shared") ? Mode::shared : Mode::exclusive,
      .strategy = verbs::parse_strategy(call.args.text("--strategy").value_or("fail-fast"))
                      .value_or(verbs::Strategy::fail_fast),
      .max_retries = call.args.number("--max-retries"),
      .pid = call.args.number("--pid"),
      .reason = call.args.text("--reason").value_or("")};
  request.queueing = queueing_of(call.args);
  const Result<Grants> grants = verbs::acquire(call.workspace, request);
  if (!grants) return fail(grants.error());
  if (request.resources.size() == 1) {
    reply_with(call.terminal, grants->front());
  } else {
    JsonArray leases;
    for (const HeldLease& held : *grants) leases.add_raw(lease_json(held));
    call.terminal.reply(
        JsonObject().add_raw("leases", leases.text()).add("count", std::uint64_t{grants->size()}));
  }
  print_granted(call.terminal, *grants);
  return {};
}

constexpr std::array<Option, 1> kRenewOptions{
    {{.name = "--ttl",
      .takes = Takes::number,
      .value = "SECS",
      .meaning = "how long from now; never shorter than what is left",
      .least = 0,
      .most = kTtlSecsMax}}};

Done run_renew(Invocation& call) {
  const Result<HeldLease> held = verbs::renew(
      call.workspace, {.lease = call.args.words().front(), .ttl_secs = call.args.number("--ttl")});
  if (!held) return fail(held.error());
  reply_with(call.terminal, *held);
  print_lease(call.terminal, "renewed", *held);
  return {};
}

Done run_release(Invocation& call) {
  const Result<verbs::Released> released =
      verbs::release(call.workspace, call.args.words().front());
  if (!released) return fail(released.error());
  call.terminal.reply(JsonObject()
                          .add("lease_id", released->lease.text)
                          .add("resource", released->resource.text)
                          .add("released", true)
                          .add("already_released", released->already));
  call.terminal.say(fmt::format(
      "{} {}",
      call.terminal.styled(Style::good, released->already ? "already released" : "released"),
      printable(released->resource.text)));
  return {};
}

constexpr std::array<Option, 3> kTransferOptions{{
    {.name = "--to", .takes = Takes::text, .value = "AGENT", .meaning = "who gets it"},
    {.name = "--to-worktree",
     .takes = Takes::text,
     .value = "WT",
     .meaning = "in which worktree (default: this one)"},
    {.name = "--to-session",
     .takes = Takes::text,
     .value = "SESSION",
     .meaning = "in which session, if it names one"},
}};

Done run_transfer(Invocation& call) {
  const std::optional<std::string> to = call.args.text("--to");
  if (!to) return fail(ErrorKind::usage, "--to is missing", "say who gets it: --to agent:name");
  const Result<HeldLease> held =
      verbs::transfer(call.workspace, {.lease = call.args.words().front(),
                                       .to_agent = *to,
                                       .to_worktree = call.args.text("--to-worktree"),
                                       .to_session = call.args.text("--to-session")});
  if (!held) return fail(held.error());
  reply_with(call.terminal, *held);
  print_lease(call.terminal, fmt::format("handed over to {}:", held->lease.agent.text), *held);
  return {};
}

constexpr std::array<Option, 1> kEvictOptions{{kReason}};

Done run_force_evict(Invocation& call) {
  const std::optional<std::string> reason = call.args.text("--reason");
  if (!reason || reason->empty()) {
    return fail(ErrorKind::usage, "evicting a lease needs a reason",
                "add one: --reason \"its agent crashed\"");
  }
  const Result<Grants> evicted =
      verbs::force_evict(call.workspace, call.args.words().front(), *reason);
  if (!evicted) return fail(evicted.error());
  JsonArray leases;
  for (const HeldLease& held : *evicted) {
    leases.add_raw(JsonObject().add_members(public_members(held.lease, held.resource)).text());
    call.terminal.say(fmt::format("{} {} from {}", call.terminal.styled(Style::good, "evicted"),
                                  printable(held.resource.text), held.lease.agent.text));
  }
  call.terminal.reply(JsonObject()
                          .add("resource", evicted->front().resource.text)
                          .add("lease_id", evicted->front().lease.id.text)
                          .add("evicted", true)
                          .add_raw("leases", leases.text()));
  return {};
}

constexpr std::array<Option, 3> kUpgradeOptions{{kWait, kPriority, kResolve}};

Done run_upgrade(Invocation& call) {
  const Result<HeldLease> held =
      verbs::upgrade(call.workspace, call.args.words().front(), queueing_of(call.args));
  if (!held) return fail(held.error());
  reply_with(call.terminal, *held);
  print_lease(call.terminal, held->already_held ? "already exclusive:" : "now exclusive:", *held);
  return {};
}

Done run_downgrade(Invocation& call) {
  const Result<HeldLease> held = verbs::downgrade(call.workspace, call.args.words().front());
  if (!held) return fail(held.error());
  reply_with(call.terminal, *held);
  print_lease(call.terminal, held->already_held ? "already shared:" : "now shared:", *held);
  return {};
}

constexpr std::array<Option, 4> kHeartbeatOptions{{
    {.name = "--every",
     .takes = Takes::number,
     .value = "SECS",
     .meaning = "go on beating, this often",
     .least = 1,
     .most = 86'400},
    {.name = "--daemon", .meaning = "go on in the background until the session ends"},
    kPid,
    {.name = "--detached", .meaning = "the daemon itself", .hidden = true},
}};

JsonObject beat_json(const verbs::Beat& beat) {
  const auto array = [](const Grants& grants) {
    JsonArray leases;
    for (const HeldLease& held : grants)
      leases.add_raw(JsonObject().add_members(public_members(held.lease, held.resource)).text());
    return leases.text();
  };
  JsonObject json;
  json.add("session", beat.session.text)
      .add("count", std::uint64_t{beat.extended.size()})
      .add_raw("extended", array(beat.extended))
      .add_raw("lost", array(beat.lost));
  return json;
}

void show_beat(Terminal& terminal, const verbs::Beat& beat) {
  for (const std::string& warning : beat.warnings) terminal.warn(warning);
  for (const HeldLease& held : beat.lost) {
    terminal.warn(fmt::format("the lease on {} had ended; take it again: dibs claim acquire {}",
                              printable(held.resource.text), shell_word(held.resource.text)));
  }
  terminal.reply(beat_json(beat));
  terminal.say(fmt::format("{} {} lease{} of {}", terminal.styled(Style::good, "extended"),
                           beat.extended.size(), beat.extended.size() == 1 ? "" : "s",
                           beat.session.text));
}

Done run_heartbeat(Invocation& call) {
  const std::optional<std::int64_t> pid = call.args.number("--pid");
  std::optional<std::int64_t> every = call.args.number("--every");
  if (!every && !call.args.has("--daemon")) {
    const Result<verbs::Beat> beat = verbs::heartbeat(call.workspace, pid);
    if (!beat) return fail(beat.error());
    show_beat(call.terminal, *beat);
    return {};
  }
  const Result<const Settings*> settings = call.workspace.settings();
  if (!settings) return fail(settings.error());
  const verbs::BeatLoop loop{
      .every_secs = every.value_or((*settings)->integer("coordination.heartbeat_interval_secs")),
      .pid = pid,
      .detached = call.args.has("--detached")};
  if (!call.args.has("--daemon")) {
    return verbs::heartbeat_loop(call.workspace, loop, [&](const verbs::Beat& beat) {
      show_beat(call.terminal, beat);
      call.terminal.flush();
    });
  }
  const Result<verbs::Daemon> daemon = verbs::start_heartbeat_daemon(call.workspace, loop);
  if (!daemon) return fail(daemon.error());
  JsonObject reply;
  reply.add("session", daemon->session.text).add("started", daemon->pid.has_value());
  if (daemon->pid) reply.add("pid", *daemon->pid);
  call.terminal.reply(reply);
  call.terminal.say(
      daemon->pid
          ? fmt::format("heartbeats for {} run in process {}", daemon->session.text, *daemon->pid)
          : fmt::format("heartbeats for {} are running already", daemon->session.text));
  return {};
}

constexpr std::array<Command, 8> kCommands{{
    {.name = "claim acquire",
     .summary = "take a lease on one or more resources, all or none",
     .details = "Exit 0 with the lease, or exit 3 when another holds it, with who and until when. "
                "Asking again\n"
                "for what this session holds returns the same lease. A lease outlives the command; "
                "it ends by\n"
                "its ttl, by release, or with the process named by --pid.\n\n"
                "Strategies: fail-fast (default) answers at once; retry waits 1 s, 2 s, 4 s … up "
                "to 16 s between\n"
                "tries; steal-stale also takes a lease without a time limit whose heartbeats "
                "stopped; force\n"
                "takes it from whoever has it, with --reason.\n\n"
                "With --wait it stands in line: first come, first served within a priority, exit 7 "
                "when the time is\n"
                "over, exit 9 when to wait would be a deadlock and this is the one to give way. "
                "What the session\n"
                "holds is kept alive meanwhile. `dibs queue list` shows the line.",
     .positionals = kResources,
     .options = kAcquireOptions,
     .example = "dibs claim acquire 42 --ttl 1800",
     .run = run_acquire},
    {.name = "claim renew",
     .summary = "extend a lease this session holds",
     .details = "A lease that has ended is not revived: exit 5, and take it again.",
     .positionals = kLease,
     .options = kRenewOptions,
     .example = "dibs claim renew 42",
     .run = run_renew},
    {.name = "claim release",
     .summary = "give a lease back",
     .details = "Releasing twice answers the same. Only the holding session can release.",
     .positionals = kLease,
     .options = {},
     .example = "dibs claim release 42",
     .run = run_release},
    {.name = "claim transfer",
     .summary = "hand a lease over to another agent",
     .details =
         "The new holder gets a new lease and a higher fence; the old one can no longer land.",
     .positionals = kLease,
     .options = kTransferOptions,
     .example = "dibs claim transfer 42 --to agent:copilot-2",
     .run = run_transfer},
    {.name = "claim force-evict",
     .summary = "end somebody's lease, with a reason",
     .details =
         "Who did it and why is kept in the history. Named by resource, every lease on it ends.",
     .positionals = kLease,
     .options = kEvictOptions,
     .example = "dibs claim force-evict 42 --reason \"its agent crashed\"",
     .run = run_force_evict},
    {.name = "claim upgrade",
     .summary = "make a shared lease exclusive",
     .details = "Exit 3 while others share it; with --wait it waits until they have gone, and no "
                "more are let in.\n"
                "Two who share it and both wait for that would wait for each other: one of them "
                "gets exit 9 at once.\n"
                "The lease gets a higher fence.",
     .positionals = kLease,
     .options = kUpgradeOptions,
     .example = "dibs claim upgrade lock:schema",
     .run = run_upgrade},
    {.name = "claim downgrade",
     .summary = "make an exclusive lease shared",
     .details = "Others can then share it.",
     .positionals = kLease,
     .options = {},
     .example = "dibs claim downgrade lock:schema",
     .run = run_downgrade},
    {.name = "claim heartbeat",
     .summary = "extend every lease of this session",
     .details =
         "One beat, or with --every a beat now and then, or with --daemon a process in the "
         "background.\n"
         "The daemon ends with the process named by --pid; tied to none, it ends when the session\n"
         "holds nothing.",
     .positionals = {},
     .options = kHeartbeatOptions,
     .example = "dibs claim heartbeat --daemon --pid $$",
     .run = run_heartbeat},
}};

}  // namespace

std::span<const Command> claim_commands() { return kCommands; }

}  // namespace dibs::cli
