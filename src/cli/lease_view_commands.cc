// `dibs claim …`, the part that looks: status, list, history, verify, and cleanup.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/render.h"
#include "verbs/claim.h"
#include "verbs/observe.h"

namespace dibs::cli {

namespace {

// Warns the holder, and nobody else, about a lease that is about to end.
Done warn_if_ending(Invocation& call, const std::vector<verbs::ListedLease>& leases) {
  const Result<const Settings*> settings = call.workspace.settings();
  if (!settings) return fail(settings.error());
  const std::int64_t threshold_pct =
      (*settings)->integer("coordination.lease_renewal_threshold_pct");
  for (const verbs::ListedLease& entry : leases) {
    const auto warning = verbs::expiry_warning({.resource = entry.resource, .lease = entry.lease},
                                               call.workspace.system().clock.now(), threshold_pct);
    if (!warning) continue;
    // Who asks is looked up only now: most answers need no identity, and some callers have none.
    const Result<Claimant> who = call.workspace.claimant();
    if (who && who->session == entry.lease.session) call.terminal.warn(*warning);
  }
  return {};
}

void reply_list(Terminal& terminal, const std::vector<verbs::ListedLease>& leases) {
  if (!terminal.json())
    return;  // what nobody reads is not written: it would be a seventh of a status
  JsonArray array;
  for (const verbs::ListedLease& entry : leases) array.add_raw(listed_json(entry));
  terminal.reply(
      JsonObject().add_raw("leases", array.text()).add("count", std::uint64_t{leases.size()}));
}

constexpr std::array<Positional, 1> kMaybeResource{
    {{.name = "RESOURCE",
      .meaning = "what to look at; without it, what this session holds",
      .least = 0}}};
constexpr std::array<Option, 1> kStatusOptions{
    {{.name = "--item", .takes = Takes::text, .value = "ID", .meaning = "the same as item:ID"}}};

void reply_status(Terminal& terminal, const verbs::Status& status) {
  JsonObject reply;
  reply.add("resource", status.resource.text).add("is_locked", !status.leases.empty());
  if (!status.leases.empty()) reply.add_raw("lease", listed_json(status.leases.front()));
  if (status.leases.size() > 1) {
    JsonArray all;
    for (const verbs::ListedLease& entry : status.leases) all.add_raw(listed_json(entry));
    reply.add_raw("leases", all.text());
  }
  terminal.reply(reply);
}

Done run_status(Invocation& call) {
  std::optional<std::string> resource = call.args.word(0);
  if (const auto item = call.args.text("--item")) {
    if (resource)
      return fail(ErrorKind::usage, "a resource and --item are one too many", "name one of them");
    resource = "item:" + *item;
  }
  if (!resource) {
    const Result<std::vector<verbs::ListedLease>> own =
        verbs::list(call.workspace, {.agent_id = {}, .stale = false, .own_session = true});
    if (!own) return fail(own.error());
    reply_list(call.terminal, *own);
    if (own->empty()) call.terminal.say("this session holds nothing");
    print_listed(call.terminal, *own);
    return warn_if_ending(call, *own);
  }
  const Result<verbs::Status> status = verbs::status(call.workspace, *resource);
  if (!status) return fail(status.error());
  if (call.terminal.json()) reply_status(call.terminal, *status);
  if (status->leases.empty())
    call.terminal.say(fmt::format("{} is free", printable(status->resource.text)));
  print_listed(call.terminal, status->leases);
  return warn_if_ending(call, status->leases);
}

constexpr std::array<Option, 1> kListOptions{
    {{.name = "--stale", .meaning = "those that have ended or gone stale, and are still listed"}}};

Done run_list(Invocation& call) {
  const Result<std::vector<verbs::ListedLease>> leases =
      verbs::list(call.workspace, {.agent_id = call.args.text("--agent-id"),
                                   .stale = call.args.has("--stale"),
                                   .own_session = false});
  if (!leases) return fail(leases.error());
  reply_list(call.terminal, *leases);
  if (leases->empty())
    call.terminal.say(call.args.has("--stale") ? "nothing is stale" : "nothing is held");
  print_listed(call.terminal, *leases);
  if (call.args.has("--stale")) return {};
  return warn_if_ending(call, *leases);
}

constexpr std::array<Positional, 1> kHistoryOf{
    {{.name = "RESOURCE", .meaning = "only what happened to this", .least = 0}}};
constexpr std::array<Option, 1> kHistoryOptions{
    {{.name = "--limit",
      .takes = Takes::number,
      .value = "N",
      .meaning = "at most so many, the newest (default 100)",
      .least = 1,
      .most = 1'000'000}}};

Done run_history(Invocation& call) {
  const Result<History> history =
      verbs::events(call.workspace,
                    {.since = 0,
                     .resource = call.args.word(0),
                     .limit = static_cast<std::size_t>(call.args.number("--limit").value_or(100))});
  if (!history) return fail(history.error());
  JsonArray events;
  for (const PastEvent& past : history->events) {
    events.add_raw(to_json(past));
    print_event(call.terminal, past);
  }
  call.terminal.reply(JsonObject()
                          .add_raw("events", events.text())
                          .add("count", std::uint64_t{history->events.size()}));
  if (history->events.empty()) call.terminal.say("nothing happened yet");
  return {};
}

constexpr std::array<Positional, 1> kVerifyWhat{
    {{.name = "RESOURCE", .meaning = "what the fence is for"}}};
constexpr std::array<Option, 1> kVerifyOptions{{{.name = "--fence",
                                                 .takes = Takes::number,
                                                 .value = "N",
                                                 .meaning = "the fence to check",
                                                 .least = 0}}};

Done run_verify(Invocation& call) {
  const std::optional<std::int64_t> fence = call.args.number("--fence");
  if (!fence)
    return fail(ErrorKind::usage, "--fence is missing",
                "give the fence that the lease came with: --fence 17");
  const Result<verbs::ListedLease> entry =
      verbs::verify(call.workspace, call.args.words().front(), static_cast<std::uint64_t>(*fence));
  if (!entry) return fail(entry.error());
  call.terminal.reply(JsonObject()
                          .add("resource", entry->resource.text)
                          .add("fence", entry->lease.fence.value)
                          .add("live", true)
                          .add_raw("lease", listed_json(*entry)));
  call.terminal.say(fmt::format("fence {} of {} is live, held by {}", *fence,
                                printable(entry->resource.text), entry->lease.agent.text));
  return {};
}

constexpr std::array<Option, 2> kCleanupOptions{{
    {.name = "--older-than",
     .takes = Takes::number,
     .value = "SECS",
     .meaning = "only without a sign of life for so long",
     .least = 0,
     .most = kTtlSecsMax * 100},
    {.name = "--dry-run", .meaning = "say what would go, and change nothing"},
}};

Done run_cleanup(Invocation& call) {
  const bool dry_run = call.args.has("--dry-run");
  const Result<std::vector<Ended>> ended = verbs::cleanup(
      call.workspace,
      {.older_than_secs = call.args.number("--older-than").value_or(0), .dry_run = dry_run});
  if (!ended) return fail(ended.error());
  JsonArray removed;
  for (const Ended& entry : *ended) {
    removed.add_raw(JsonObject()
                        .add("resource", entry.resource.text)
                        .add("lease_id", entry.lease.id.text)
                        .add("agent_id", entry.lease.agent.text)
                        .add("why", entry.standing.why)
                        .text());
    call.terminal.say(fmt::format("{} {} of {}: {}", dry_run ? "would remove" : "removed",
                                  printable(entry.resource.text), entry.lease.agent.text,
                                  entry.standing.why));
  }
  call.terminal.reply(JsonObject()
                          .add_raw("removed", removed.text())
                          .add("count", std::uint64_t{ended->size()})
                          .add("dry_run", dry_run));
  if (ended->empty()) call.terminal.say("nothing to clean up");
  return {};
}

constexpr std::array<Command, 5> kCommands{{
    {.name = "claim status",
     .summary = "show who holds a resource, or what this session holds",
     .details = "Exit 0 whether it is held or free; exit 11 when that cannot be known.",
     .positionals = kMaybeResource,
     .options = kStatusOptions,
     .example = "dibs claim status 42",
     .run = run_status},
    {.name = "claim list",
     .summary = "list the leases that are held",
     .details = "With --agent-id, those of one agent.",
     .positionals = {},
     .options = kListOptions,
     .example = "dibs claim list --stale",
     .run = run_list},
    {.name = "claim history",
     .summary = "show what happened, oldest first",
     .details = "Every acquire, renew, release, transfer and eviction, with who and why.",
     .positionals = kHistoryOf,
     .options = kHistoryOptions,
     .example = "dibs claim history 42 --limit 10",
     .run = run_history},
    {.name = "claim verify",
     .summary = "check that a fence is still the live one",
     .details =
         "Exit 0 if it is, exit 5 if the lease was lost. For scripts that guard a step by hand.",
     .positionals = kVerifyWhat,
     .options = kVerifyOptions,
     .example = "dibs claim verify 42 --fence 17",
     .run = run_verify},
    {.name = "claim cleanup",
     .summary = "remove leases that have ended or gone stale, and say why",
     .details = "Claims do this by themselves for what they want; cleaning up only tidies the "
                "list. A live lease\n"
                "is never touched, but on a branch of lock files those without a time limit whose "
                "task is archived.",
     .positionals = {},
     .options = kCleanupOptions,
     .example = "dibs claim cleanup --dry-run",
     .run = run_cleanup},
}};

}  // namespace

std::span<const Command> lease_view_commands() { return kCommands; }

}  // namespace dibs::cli
