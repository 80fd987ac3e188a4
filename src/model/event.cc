#include "model/event.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/time.h"

namespace dibs {

namespace {
struct OpName {
  Op op;
  std::string_view name;
};
constexpr std::array<OpName, kOpCount> kOps{{{Op::acquire, "acquire"},
                                             {Op::renew, "renew"},
                                             {Op::heartbeat, "heartbeat"},
                                             {Op::release, "release"},
                                             {Op::transfer, "transfer"},
                                             {Op::auto_evict, "auto-evict"},
                                             {Op::force_evict, "force-evict"},
                                             {Op::upgrade, "upgrade"},
                                             {Op::downgrade, "downgrade"},
                                             {Op::land, "land"},
                                             {Op::wait, "wait"},
                                             {Op::leave, "leave"}}};

void add_members(JsonObject& object, const Event& event) {
  object.add("op", name_of(event.op))
      .add("resource", event.resource.text)
      .add("lease_id", event.lease.text)
      .add("agent_id", event.agent.text)
      .add("session", event.session.text);
  if (!event.worktree.empty()) object.add("worktree_id", event.worktree.text);
  if (event.expires_unix_ms) object.add("expires_at", rfc3339(*event.expires_unix_ms));
  if (event.by) object.add("by", event.by->text);
  if (event.to_lease) object.add("to_lease_id", event.to_lease->text);
  if (event.to_agent) object.add("to_agent_id", event.to_agent->text);
  if (!event.reason.empty()) object.add("reason", event.reason);
}
}  // namespace

std::string_view name_of(Op op) {
  for (const OpName& known : kOps) {
    if (known.op == op) return known.name;
  }
  return "?";
}

std::optional<Op> parse_op(std::string_view name) {
  for (const OpName& known : kOps) {
    if (known.name == name) return known.op;
  }
  return std::nullopt;
}

std::string to_json(const Event& event) {
  JsonObject object;
  add_members(object, event);
  return object.text();
}

std::string to_json(const PastEvent& past) {
  JsonObject object;
  object.add("seq", past.seq).add("time", rfc3339(past.unix_ms));
  add_members(object, past.event);
  return object.text();
}

Result<Event> event_from_json(const Json& json) {
  const auto text = [&](const char* name) { return text_member(json, name).value_or(""); };
  const std::optional<Op> op = parse_op(text("op"));
  if (!op) return fail(ErrorKind::internal, "an event has no known op");
  Event event{.op = *op,
              .resource = {text("resource")},
              .lease = {text("lease_id")},
              .agent = {text("agent_id")},
              .session = {text("session")},
              .worktree = {text("worktree_id")},
              .expires_unix_ms = parse_rfc3339(text("expires_at")),
              .by = std::nullopt,
              .to_lease = std::nullopt,
              .to_agent = std::nullopt,
              .reason = text("reason")};
  if (auto by = text_member(json, "by")) event.by = AgentId{*by};
  if (auto lease = text_member(json, "to_lease_id")) event.to_lease = LeaseId{*lease};
  if (auto agent = text_member(json, "to_agent_id")) event.to_agent = AgentId{*agent};
  return event;
}

}  // namespace dibs
