#include "model/lease.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "model/boot_reading.h"

namespace dibs {

namespace {

constexpr std::array<std::string_view, 18> kKnownMembers{
    "lease_id",     "agent_id", "session",     "worktree_id",    "branch",          "mode",
    "fence",        "ttl_secs", "acquired_at", "expires_at",     "beat_at",         "boot_id",
    "beat_boot_ms", "process",  "reason",      "schema_version", "expires_boot_ms", "claim_state"};

std::string to_json(const Lease& lease) {
  JsonObject object;
  object.add("lease_id", lease.id.text)
      .add("agent_id", lease.agent.text)
      .add("session", lease.session.text)
      .add("worktree_id", lease.worktree.text)
      .add("branch", lease.branch)
      .add("mode", name_of(lease.mode));
  if (!lease.claim_state.empty()) object.add("claim_state", lease.claim_state);
  if (lease.fence.value != 0) object.add("fence", lease.fence.value);
  object.add("ttl_secs", lease.ttl_secs).add("acquired_at", rfc3339(lease.acquired_unix_ms));
  if (lease.expires) object.add("expires_at", rfc3339(lease.expires->unix_ms));
  object.add("beat_at", rfc3339(lease.beat.unix_ms));
  if (!lease.beat.boot.empty()) {
    object.add("boot_id", lease.beat.boot.text).add("beat_boot_ms", lease.beat.boot_ms);
    if (lease.expires) object.add("expires_boot_ms", lease.expires->boot_ms);
  }
  if (lease.process) object.add_raw("process", to_json(*lease.process));
  if (!lease.reason.empty()) object.add("reason", lease.reason);
  return object.add_members(lease.unknown_members).text();
}

std::string unknown_members_of(const Json& json) {
  JsonObject unknown;
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(kKnownMembers, name) == kKnownMembers.end())
      unknown.add_raw(name, value.dump());
  }
  return std::string(unknown.members());
}

// The clocks of one lease: when it last gave a sign of life and when it ends.
Done read_clocks(const Json& json, Lease& lease) {
  const auto acquired = parse_rfc3339(text_member(json, "acquired_at").value_or(""));
  const auto beat = parse_rfc3339(text_member(json, "beat_at").value_or(""));
  if (!acquired || !beat) return fail(ErrorKind::internal, "a lease has no readable times");
  lease.acquired_unix_ms = *acquired;
  lease.beat = {.unix_ms = *beat,
                .boot_ms = boot_ms_member(json, "beat_boot_ms").value_or(0),
                .boot = {text_member(json, "boot_id").value_or("")}};
  if (lease.indefinite()) return {};
  const auto expires = parse_rfc3339(text_member(json, "expires_at").value_or(""));
  const auto expires_boot_ms = boot_ms_member(json, "expires_boot_ms");
  if (!expires || (!lease.beat.boot.empty() && !expires_boot_ms)) {
    return fail(ErrorKind::internal, "a lease has a ttl and no expiry");
  }
  lease.expires = {
      .unix_ms = *expires, .boot_ms = expires_boot_ms.value_or(0), .boot = lease.beat.boot};
  return {};
}

Result<Lease> lease_from(const Json& json, Fence record_fence) {
  const auto id = text_member(json, "lease_id");
  const auto agent = text_member(json, "agent_id");
  const auto session = text_member(json, "session");
  const auto mode = parse_mode(text_member(json, "mode").value_or(""));
  const auto ttl = integer_member(json, "ttl_secs");
  if (!id || !agent || !session || !mode || !ttl || *ttl < 0 || *ttl > kTtlSecsMax) {
    return fail(ErrorKind::internal, "a lease lacks a field or has one out of range");
  }
  const std::uint64_t fence = unsigned_member(json, "fence").value_or(0);
  Lease lease{.id = {*id},
              .agent = {*agent},
              .session = {*session},
              .worktree = {text_member(json, "worktree_id").value_or("")},
              .branch = text_member(json, "branch").value_or(""),
              .claim_state = text_member(json, "claim_state").value_or(""),
              .mode = *mode,
              .fence = {fence == 0 ? record_fence.value : fence},  // as it is written: zero is none
              .ttl_secs = *ttl,
              .acquired_unix_ms = 0,
              .beat = {},
              .expires = std::nullopt,
              .process = std::nullopt,
              .reason = text_member(json, "reason").value_or(""),
              .unknown_members = unknown_members_of(json)};
  if (Done clocks = read_clocks(json, lease); !clocks) return fail(clocks.error());
  if (json.contains("process")) {
    lease.process = process_from(json["process"]);
    if (!lease.process)
      return fail(ErrorKind::internal, "a lease is tied to a process that cannot be read");
  }
  return lease;
}

}  // namespace

std::string to_json(const Holding& holding) {
  JsonArray leases;
  for (const Lease& lease : holding.leases) leases.add_raw(to_json(lease));
  return JsonObject().add_raw("leases", leases.text()).text();
}

Result<Holding> holding_of(const Record& record) {
  const auto damaged = [&](const std::string& why) {
    return fail(ErrorKind::internal,
                fmt::format("the record of {} cannot be read: {}", record.key.text, why),
                "run: dibs doctor");
  };
  const Result<Json> json = parse_json(record.value);
  if (!json) return damaged(json.error().message);
  if (!json->is_object() || !json->contains("leases") || !(*json)["leases"].is_array()) {
    return damaged("it has no leases");
  }
  Holding holding;
  for (const Json& entry : (*json)["leases"]) {
    Result<Lease> lease = lease_from(entry, record.fence);
    if (!lease) return damaged(lease.error().message);
    holding.leases.push_back(*std::move(lease));
  }
  return holding;
}

std::string public_members(const Lease& lease, const Key& resource) {
  JsonObject object;
  object.add("lease_id", lease.id.text)
      .add("resource", resource.text)
      .add("agent_id", lease.agent.text)
      .add("session", lease.session.text)
      .add("worktree_id", lease.worktree.text)
      .add("branch", lease.branch)
      .add("mode", name_of(lease.mode))
      .add("fence", lease.fence.value)
      .add("ttl_secs", lease.ttl_secs)
      .add("acquired_at", rfc3339(lease.acquired_unix_ms));
  if (lease.expires) {
    object.add("expires_at", rfc3339(lease.expires->unix_ms));
  } else {
    object.add_raw("expires_at", "null");
  }
  if (lease.process) object.add("pid", lease.process->pid);
  if (!lease.reason.empty()) object.add("reason", lease.reason);
  return std::string(object.members());
}

}  // namespace dibs
