// What a snapshot says about itself: a line for people, and a line of JSON.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "git/rescue.h"

namespace dibs {

namespace {

std::string member(const Json& json, const char* name) {
  return text_member(json, name).value_or("");
}

std::vector<std::pair<std::string, std::string>> refs_of(const Json& json) {
  std::vector<std::pair<std::string, std::string>> refs;
  const auto found = json.find("refs");
  if (found == json.end() || !found->is_object()) return refs;
  for (const auto& [name, commit] : found->items()) {
    if (commit.is_string()) refs.emplace_back(name, commit.get<std::string>());
  }
  return refs;
}

std::vector<RescueNote::Submodule> submodules_of(const Json& json) {
  std::vector<RescueNote::Submodule> submodules;
  const auto found = json.find("submodules");
  if (found == json.end() || !found->is_array()) return submodules;
  for (const Json& entry : *found) {
    if (!entry.is_object()) continue;
    submodules.push_back({.path = member(entry, "path"),
                          .name = member(entry, "name"),
                          .commit = member(entry, "commit")});
  }
  return submodules;
}

}  // namespace

std::string to_message(const RescueNote& note) {
  JsonObject refs;
  for (const auto& [name, commit] : note.refs) refs.add(name, commit);
  JsonArray submodules;
  for (const RescueNote::Submodule& submodule : note.submodules) {
    submodules.add_raw(JsonObject()
                           .add("path", submodule.path)
                           .add("name", submodule.name)
                           .add("commit", submodule.commit)
                           .text());
  }
  JsonObject json;
  json.add("schema_version", 1)
      .add("label", note.label)
      .add("why", note.why)
      .add("at", rfc3339(note.unix_ms))
      .add("agent_id", note.agent)
      .add("worktree_id", note.worktree_id)
      .add("path", note.path)
      .add("branch", note.branch)
      .add("head", note.head)
      .add("index", note.index)
      .add("things", note.things)
      .add("tracked", std::uint64_t{note.tracked})
      .add("untracked", std::uint64_t{note.untracked});
  if (!note.url.empty()) json.add("url", note.url);
  if (!note.refs.empty()) json.add_raw("refs", refs.text());
  if (!note.submodules.empty()) json.add_raw("submodules", submodules.text());
  return fmt::format("work of {} kept: {}\n\n{}\n", printable(note.label), printable(note.why),
                     json.text());
}

std::optional<RescueNote> parse_rescue_message(std::string_view message) {
  const std::size_t gap = message.find("\n\n");
  if (gap == std::string_view::npos) return std::nullopt;
  const Result<Json> json = parse_json(trim(message.substr(gap)));
  if (!json || !json->is_object()) return std::nullopt;
  const std::optional<std::int64_t> at = parse_rfc3339(member(*json, "at"));
  if (!at || member(*json, "index").empty() || member(*json, "things").empty()) return std::nullopt;
  return RescueNote{.label = member(*json, "label"),
                    .why = member(*json, "why"),
                    .agent = member(*json, "agent_id"),
                    .worktree_id = member(*json, "worktree_id"),
                    .path = member(*json, "path"),
                    .branch = member(*json, "branch"),
                    .head = member(*json, "head"),
                    .index = member(*json, "index"),
                    .things = member(*json, "things"),
                    .url = member(*json, "url"),
                    .unix_ms = *at,
                    .tracked = unsigned_member(*json, "tracked").value_or(0),
                    .untracked = unsigned_member(*json, "untracked").value_or(0),
                    .refs = refs_of(*json),
                    .submodules = submodules_of(*json)};
}

}  // namespace dibs
