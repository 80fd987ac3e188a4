#include "cli/render.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/time.h"

namespace dibs::cli {

namespace {
std::string_view word_for(Condition condition) {
  switch (condition) {
    case Condition::live:
      return "live";
    case Condition::stale:
      return "stale";
    case Condition::lapsed:
      return "lapsed";
    case Condition::dead:
      return "dead";
  }
  return "?";
}

std::string time_left(const verbs::ListedLease& entry) {
  if (entry.standing.condition != Condition::live) {
    return fmt::format("{}: {}", word_for(entry.standing.condition), entry.standing.why);
  }
  return entry.left_ms ? duration_text(*entry.left_ms) + " left" : "no time limit";
}
}  // namespace

std::string lasting(const Lease& lease) {
  if (!lease.expires) return "no time limit";
  return fmt::format("{}, until {}", duration_text(lease.ttl_secs * 1000),
                     rfc3339(lease.expires->unix_ms));
}

std::string lease_json(const HeldLease& held) {
  return JsonObject()
      .add_members(public_members(held.lease, held.resource))
      .add("already_held", held.already_held)
      .text();
}

std::string listed_json(const verbs::ListedLease& entry) {
  JsonObject object;
  object.add_members(public_members(entry.lease, entry.resource))
      .add("condition", word_for(entry.standing.condition));
  if (!entry.standing.why.empty()) object.add("why", entry.standing.why);
  return object.text();
}

void print_lease(Terminal& terminal, std::string_view what_happened, const HeldLease& held) {
  terminal.say(fmt::format("{} {} ({})", terminal.styled(Style::good, what_happened),
                           printable(held.resource.text), lasting(held.lease)));
  const WorktreeId& worktree = held.lease.worktree;
  terminal.say(fmt::format("  lease {}  fence {}  {} in {}", printable(held.lease.id.text),
                           held.lease.fence.value, printable(held.lease.agent.text),
                           worktree.empty() ? "no worktree" : printable(worktree.text)));
}

void print_granted(Terminal& terminal, const Grants& grants) {
  for (const HeldLease& held : grants) {
    const bool shared = held.lease.mode == Mode::shared;
    const char* what =
        held.already_held ? "already yours:" : (shared ? "claimed, shared:" : "claimed");
    print_lease(terminal, what, held);
  }
  const std::string& id = grants.front().lease.id.text;
  terminal.say(terminal.styled(Style::dim, fmt::format("  next: dibs claim renew {}", id)));
  terminal.say(terminal.styled(Style::dim, fmt::format("        dibs claim release {}", id)));
}

void print_listed(Terminal& terminal, const std::vector<verbs::ListedLease>& leases) {
  std::size_t resource_width = 8;
  std::size_t agent_width = 5;
  for (const verbs::ListedLease& entry : leases) {
    resource_width = std::max(resource_width, printable(entry.resource.text).size());
    agent_width = std::max(agent_width, printable(entry.lease.agent.text).size());
  }
  resource_width = std::min<std::size_t>(resource_width, 32);
  agent_width = std::min<std::size_t>(agent_width, 32);
  for (const verbs::ListedLease& entry : leases) {
    terminal.say(fmt::format("{:<{}}  {:<{}}  {:<9}  fence {:<6}  {}",
                             printable(entry.resource.text), resource_width,
                             printable(entry.lease.agent.text), agent_width,
                             name_of(entry.lease.mode), entry.lease.fence.value, time_left(entry)));
  }
}

void print_event(Terminal& terminal, const PastEvent& past) {
  const Event& event = past.event;
  std::string line =
      fmt::format("{:>6}  {}  {:<11}  {}  {}", past.seq, rfc3339(past.unix_ms), name_of(event.op),
                  printable(event.resource.text), printable(event.agent.text));
  if (event.to_agent) line += " → " + printable(event.to_agent->text);
  if (event.by) line += " by " + printable(event.by->text);
  if (!event.reason.empty()) line += "  (" + printable(event.reason) + ")";
  terminal.say(line);
}

}  // namespace dibs::cli
