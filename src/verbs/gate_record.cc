#include "verbs/gate_record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/name_encoding.h"
#include "base/text.h"
#include "base/time.h"
#include "model/configured.h"

namespace dibs::verbs {

namespace {

constexpr std::size_t kFileMax = 8UL * 1024 * 1024;

constexpr std::array<std::string_view, 4> kOutcomes{"passed", "failed", "timed_out", "stopped"};

GateOutcome outcome_of(std::string_view name) {
  const auto* found = std::ranges::find(kOutcomes, name);
  return found == kOutcomes.end() ? GateOutcome::failed
                                  : static_cast<GateOutcome>(found - kOutcomes.begin());
}

Result<std::string> file_of(Workspace& workspace, const std::string& item) {
  Result<std::string> directory = workspace.directory();
  if (!directory) return directory;
  return *directory + "/gates/" + encode_name(item) + ".json";
}

std::string to_json(const GateResult& result) {
  return JsonObject()
      .add("gate", result.gate)
      .add("outcome", name_of(result.outcome))
      .add("exit_code", result.exit_code)
      .add("at_unix_ms", result.at_unix_ms)
      .add("took_ms", result.took_ms)
      .add("agent_id", result.agent)
      .add("work", result.work)
      .add("reason", result.reason)
      .add("output", result.output)
      .text();
}

GateResult from_json(const Json& json) {
  const auto text = [&](const char* name) { return text_member(json, name).value_or(""); };
  return {.gate = text("gate"),
          .outcome = outcome_of(text("outcome")),
          .exit_code = static_cast<int>(integer_member(json, "exit_code").value_or(0)),
          .at_unix_ms = integer_member(json, "at_unix_ms").value_or(0),
          .took_ms = integer_member(json, "took_ms").value_or(0),
          .agent = text("agent_id"),
          .work = text("work"),
          .reason = text("reason"),
          .output = text("output")};
}

// A file that cannot be understood says nothing: gates are run again, and passed again.
std::vector<GateResult> parse_results(const std::string& text) {
  const Result<Json> json = parse_json(text);
  if (!json || !json->is_object()) return {};
  const auto list = json->find("results");
  if (list == json->end() || !list->is_array()) return {};
  std::vector<GateResult> results;
  for (const Json& entry : *list) results.push_back(from_json(entry));
  return results;
}

Result<std::unique_ptr<FileLock>> lock_records(Workspace& workspace) {
  const Result<std::string> directory = workspace.directory();
  if (!directory) return fail(directory.error());
  return workspace.system().files.lock(*directory + "/locks/gates.lock", Patience::wait,
                                       workspace.file_mode());
}

}  // namespace

std::string_view name_of(GateOutcome outcome) {
  return kOutcomes.at(static_cast<std::size_t>(outcome));
}

Result<std::vector<GateResult>> gate_results(Workspace& workspace, const std::string& item) {
  const Result<std::string> path = file_of(workspace, item);
  if (!path) return fail(path.error());
  const Result<std::optional<std::string>> text =
      workspace.system().files.read_file(*path, kFileMax);
  if (!text) return fail(text.error());
  return text->has_value() ? parse_results(**text) : std::vector<GateResult>{};
}

Done keep_gate_result(Workspace& workspace, const std::string& item, const GateResult& result) {
  const Result<std::string> path = file_of(workspace, item);
  if (!path) return fail(path.error());
  const auto lock = lock_records(workspace);
  if (!lock) return fail(lock.error());
  Result<std::vector<GateResult>> results = gate_results(workspace, item);
  if (!results) return fail(results.error());
  std::erase_if(*results, [&](const GateResult& old) { return old.gate == result.gate; });
  results->push_back(result);
  // Of gates that are configured no more, the oldest go.
  if (results->size() > kConfiguredMax) results->erase(results->begin());
  JsonArray list;
  for (const GateResult& one : *results) list.add_raw(to_json(one));
  FileSystem& files = workspace.system().files;
  const unsigned mode = workspace.file_mode();
  const unsigned searchable = mode | ((mode & 0444U) >> 2U);
  if (Done made = files.make_directory(path->substr(0, path->rfind('/')), searchable); !made)
    return made;
  return files.replace_file(*path,
                            JsonObject()
                                    .add("schema_version", 1)
                                    .add("item", item)
                                    .add_raw("results", list.text())
                                    .text() +
                                "\n",
                            mode);
}

Done forget_gate_results(Workspace& workspace, const std::string& item) {
  const Result<std::string> path = file_of(workspace, item);
  if (!path) return fail(path.error());
  return workspace.system().files.remove(*path);
}

}  // namespace dibs::verbs
