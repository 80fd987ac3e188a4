#include "store/landing_file.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace dibs {

std::string to_json(const PendingLanding& landing) {
  JsonArray refs;
  for (const RefMove& move : landing.refs)
    refs.add_raw(
        JsonObject().add("name", move.name).add("from", move.from).add("to", move.to).text());
  return JsonObject()
             .add("schema_version", 1)
             .add_raw("refs", refs.text())
             .add("line", landing.line)
             .add("reason", landing.reason)
             .text() +
         "\n";
}

Result<PendingLanding> pending_landing_from_json(std::string_view text) {
  const Result<Json> json = parse_json(text);
  const auto line = json ? text_member(*json, "line") : std::nullopt;
  if (!line || !json->contains("refs") || !json->at("refs").is_array())
    return fail(ErrorKind::unreachable, "it is not what dibs writes there");
  PendingLanding landing{
      .refs = {}, .line = *line, .reason = text_member(*json, "reason").value_or("")};
  for (const Json& ref : json->at("refs")) {
    const auto name = text_member(ref, "name");
    const auto from = text_member(ref, "from");
    const auto to = text_member(ref, "to");
    if (!name || !from || !to)
      return fail(ErrorKind::unreachable, "it is not what dibs writes there");
    landing.refs.push_back({.name = *name, .from = *from, .to = *to});
  }
  return landing;
}

}  // namespace dibs
