#include "items/origin.h"

#include <nlohmann/json.hpp>

#include "items/json_line.h"

namespace dibs {

namespace {

constexpr std::size_t kOriginsMax = 8;  // more than there are forms

std::optional<Origin> parse_origin(std::string_view text) {
  const Result<Json> json = parse_json(text);
  const auto original = json ? text_member(*json, "text") : std::nullopt;
  if (!original) return std::nullopt;
  const auto earlier = json->find("earlier");
  return Origin{.format = text_member(*json, "format").value_or(""),
                .name = text_member(*json, "name").value_or(""),
                .line = static_cast<std::size_t>(unsigned_member(*json, "line").value_or(0)),
                .before = text_member(*json, "before").value_or(""),
                .text = *original,
                .after = text_member(*json, "after").value_or(""),
                .earlier = earlier == json->end() ? std::string() : earlier->dump()};
}

std::string to_json(const Origin& origin) {
  JsonObject json;
  json.add("format", origin.format);
  if (!origin.name.empty()) json.add("name", origin.name);
  if (origin.line > 0) json.add("line", std::uint64_t{origin.line});
  if (!origin.before.empty()) json.add("before", origin.before);
  json.add("text", origin.text);
  if (!origin.after.empty()) json.add("after", origin.after);
  if (!origin.earlier.empty()) json.add_raw("earlier", origin.earlier);
  return json.text();
}

// Empty takes it away. Through the reader, so that it has the form it will have when it comes back
// from a file.
Item with_member(Item item, const std::string& json) {
  JsonMembers members = members_in(item.unknown_members);
  std::erase_if(members, [](const auto& member) { return member.first == kOriginMember; });
  if (!json.empty()) members.emplace_back(kOriginMember, json);
  item.unknown_members = joined(members_in(joined(members)));
  return item;
}

std::string origin_member(const Item& item) {
  const JsonMembers members = members_in(item.unknown_members);
  const std::string* json = find_member(members, kOriginMember);
  return json == nullptr ? std::string() : *json;
}

}  // namespace

std::optional<Origin> origin_in(const Item& item, std::string_view format) {
  std::string json = origin_member(item);
  for (std::size_t i = 0; i < kOriginsMax && !json.empty(); ++i) {
    std::optional<Origin> origin = parse_origin(json);
    if (!origin || origin->format == format) return origin;
    json = origin->earlier;
  }
  return std::nullopt;
}

Item with_origin(Item item, const Origin& origin) {
  Origin latest = origin;
  latest.earlier = origin_member(item);
  return with_member(std::move(item), to_json(latest));
}

Item before_origin(Item item, std::string_view format) {
  const std::optional<Origin> origin = origin_in(item, format);
  return origin ? with_member(std::move(item), origin->earlier) : item;
}

}  // namespace dibs
