#include "items/origin.h"

#include <nlohmann/json.hpp>

#include "items/json_line.h"

namespace dibs {

std::optional<Origin> origin_of(const Item& item) {
  const JsonMembers members = members_in(item.unknown_members);
  const std::string* json = find_member(members, kOriginMember);
  const Result<Json> origin = parse_json(json == nullptr ? "null" : *json);
  if (!origin || !origin->is_object()) return std::nullopt;
  const auto text = text_member(*origin, "text");
  if (!text) return std::nullopt;
  return Origin{.format = text_member(*origin, "format").value_or(""),
                .name = text_member(*origin, "name").value_or(""),
                .line = static_cast<std::size_t>(unsigned_member(*origin, "line").value_or(0)),
                .before = text_member(*origin, "before").value_or(""),
                .text = *text,
                .after = text_member(*origin, "after").value_or("")};
}

Item without_origin(Item item) {
  JsonMembers members = members_in(item.unknown_members);
  if (std::erase_if(members, [](const auto& member) { return member.first == kOriginMember; }) > 0)
    item.unknown_members = joined(members);
  return item;
}

Item with_origin(Item item, const Origin& origin) {
  item = without_origin(std::move(item));
  JsonObject json;
  json.add("format", origin.format);
  if (!origin.name.empty()) json.add("name", origin.name);
  if (origin.line > 0) json.add("line", std::uint64_t{origin.line});
  if (!origin.before.empty()) json.add("before", origin.before);
  json.add("text", origin.text);
  if (!origin.after.empty()) json.add("after", origin.after);
  JsonMembers members = members_in(item.unknown_members);
  // Through the reader, so that it has the form it will have when it comes back from a file.
  JsonMembers added = members_in(JsonObject().add_raw(kOriginMember, json.text()).members());
  members.insert(members.end(), added.begin(), added.end());
  item.unknown_members = joined(members);
  return item;
}

}  // namespace dibs
