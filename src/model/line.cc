#include "model/line.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "model/boot_reading.h"

namespace dibs {

namespace {

constexpr std::string_view kPrefix = "line:";

constexpr std::size_t kCommitTextMax = 64;

bool is_commit_text(std::string_view text) {
  return !text.empty() && text.size() <= kCommitTextMax &&
         std::ranges::all_of(text, [](char c) { return hex_digit(c) >= 0; });
}

}  // namespace

std::string to_json(const Offer& offer) {
  return JsonObject()
      .add("item", offer.item.text)
      .add("lease_id", offer.lease.text)
      .add("work", offer.work)
      .text();
}

std::optional<Offer> offer_from(const Json& json) {
  const auto item = text_member(json, "item");
  const auto lease = text_member(json, "lease_id");
  const auto work = text_member(json, "work");
  if (!item || !lease || !work || !is_commit_text(*work)) return std::nullopt;
  return Offer{.item = {*item}, .lease = {*lease}, .work = *work};
}

namespace {

std::string to_json(const Waiter& waiter) {
  JsonObject object;
  object.add("wait_id", waiter.id.text)
      .add("agent_id", waiter.agent.text)
      .add("session", waiter.session.text)
      .add("mode", name_of(waiter.mode))
      .add("priority", waiter.priority)
      .add("since", rfc3339(waiter.since_unix_ms))
      .add("until", rfc3339(waiter.until.unix_ms));
  if (!waiter.until.boot.empty())
    object.add("boot_id", waiter.until.boot.text).add("until_boot_ms", waiter.until.boot_ms);
  if (waiter.lines != 1) object.add("lines", waiter.lines);
  if (waiter.process) object.add_raw("process", to_json(*waiter.process));
  if (waiter.upgrades) object.add("upgrades", waiter.upgrades->text);
  if (waiter.offer) object.add_raw("offer", to_json(*waiter.offer));
  if (waiter.must_give_way()) object.add("victim_of", waiter.victim_of);
  return object.text();
}

std::optional<Waiter> waiter_from(const Json& json) {
  const auto id = text_member(json, "wait_id");
  const auto agent = text_member(json, "agent_id");
  const auto session = text_member(json, "session");
  const auto mode = parse_mode(text_member(json, "mode").value_or(""));
  const auto priority = integer_member(json, "priority");
  const auto since = parse_rfc3339(text_member(json, "since").value_or(""));
  const auto until = parse_rfc3339(text_member(json, "until").value_or(""));
  if (!id || !agent || !session || !mode || !priority || !since || !until) return std::nullopt;
  if (*priority < 0 || *priority > kWaitPriorityLeast) return std::nullopt;
  Waiter waiter{.id = {*id},
                .agent = {*agent},
                .session = {*session},
                .mode = *mode,
                .priority = static_cast<int>(*priority),
                .since_unix_ms = *since,
                .until = {.unix_ms = *until,
                          .boot_ms = boot_ms_member(json, "until_boot_ms").value_or(0),
                          .boot = {text_member(json, "boot_id").value_or("")}},
                .process = std::nullopt,
                .lines = 1,
                .upgrades = std::nullopt,
                .offer = std::nullopt,
                .victim_of = text_member(json, "victim_of").value_or("")};
  if (const auto lines = integer_member(json, "lines"); lines && *lines > 0 && *lines < INT32_MAX)
    waiter.lines = static_cast<int>(*lines);
  if (json.contains("process")) waiter.process = process_from(json["process"]);
  if (json.contains("offer")) waiter.offer = offer_from(json["offer"]);
  if (const auto upgrades = text_member(json, "upgrades")) waiter.upgrades = LeaseId{*upgrades};
  return waiter;
}

}  // namespace

const Waiter* Line::find(const WaitId& id) const {
  const auto found = std::ranges::find(waiters, id, &Waiter::id);
  return found == waiters.end() ? nullptr : &*found;
}

Key line_key(const Key& resource) { return {fmt::format("{}{}", kPrefix, resource.text)}; }

std::optional<Key> waited_for(const Key& key) {
  if (!key.text.starts_with(kPrefix)) return std::nullopt;
  return Key{key.text.substr(kPrefix.size())};
}

std::string to_json(const Line& line) {
  JsonArray waiters;
  for (const Waiter& waiter : line.waiters) waiters.add_raw(to_json(waiter));
  return JsonObject().add_raw("waiters", waiters.text()).text();
}

Result<Line> line_of(const Record& record) {
  const auto damaged = [&](std::string_view why) {
    return fail(ErrorKind::internal,
                fmt::format("the record of {} cannot be read: {}", record.key.text, why),
                "run: dibs doctor");
  };
  const Result<Json> json = parse_json(record.value);
  if (!json) return damaged(json.error().message);
  if (!json->is_object() || !json->contains("waiters") || !(*json)["waiters"].is_array())
    return damaged("it has no waiters");
  Line line;
  for (const Json& entry : (*json)["waiters"]) {
    std::optional<Waiter> waiter = waiter_from(entry);
    if (!waiter) return damaged("a waiter lacks a field or has one out of range");
    line.waiters.push_back(*std::move(waiter));
  }
  return line;
}

std::string public_members(const Waiter& waiter) {
  JsonObject object;
  object.add("wait_id", waiter.id.text)
      .add("agent_id", waiter.agent.text)
      .add("session", waiter.session.text)
      .add("mode", name_of(waiter.mode))
      .add("priority", waiter.priority)
      .add("waiting_since", rfc3339(waiter.since_unix_ms));
  if (waiter.process) object.add("pid", waiter.process->pid);
  if (waiter.upgrades) object.add("upgrades", waiter.upgrades->text);
  if (waiter.offer) object.add("item", waiter.offer->item.text);
  if (waiter.must_give_way()) object.add("victim_of", waiter.victim_of);
  return std::string(object.members());
}

}  // namespace dibs
