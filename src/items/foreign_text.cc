#include "items/foreign_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "items/json_line.h"
#include "items/origin.h"

namespace dibs {

namespace {

constexpr const char* kStandsFor = "as";     // the id that the text had when ours was put there
constexpr const char* kMembers = "members";  // those that dibs does not know either

template <class Visit>
decltype(auto) with_member(ItemField field, Visit visit) {
  switch (field) {
    case ItemField::id:
      return visit(&Item::id);
    case ItemField::title:
      return visit(&Item::title);
    case ItemField::body:
      return visit(&Item::body);
    case ItemField::state:
      return visit(&Item::state);
    case ItemField::priority:
      return visit(&Item::priority);
    case ItemField::labels:
      return visit(&Item::labels);
    case ItemField::depends_on:
      return visit(&Item::depends_on);
    case ItemField::files:
      return visit(&Item::files);
    case ItemField::estimate_min:
      return visit(&Item::estimate_min);
    case ItemField::type:
      return visit(&Item::type);
    case ItemField::created_at:
      return visit(&Item::created_unix_ms);
    case ItemField::updated_at:
      return visit(&Item::updated_unix_ms);
    case ItemField::created_by:
      return visit(&Item::created_by);
    case ItemField::came_from:
      return visit(&Item::came_from);
    case ItemField::tries:
      return visit(&Item::tries);
    case ItemField::comments:
      return visit(&Item::comments);
    case ItemField::unknown:
      break;
  }
  return visit(&Item::unknown_members);
}

void copy(const Item& from, Item& to, ItemField field) {
  with_member(field, [&](auto member) { to.*member = from.*member; });
}

// What stands in the carried object, with what every item must have filled in.
Result<Item> carried_item(const JsonLine& carried, const Item& said) {
  JsonLine whole = carried;
  if (!whole.raw("id")) whole.set("id", json_string(said.id.text));
  if (!whole.raw("title")) whole.set("title", json_string(said.title));
  whole.remove(kStandsFor);
  whole.remove(kMembers);
  return item_from_json(whole.text());
}

std::string with_members(const std::string& said, const Json& carried) {
  JsonMembers members = members_in(said);
  const auto more = carried.find(kMembers);
  if (more == carried.end() || !more->is_object()) return said;
  for (const auto& [name, value] : more->items()) {
    if (find_member(members, name) == nullptr) members.emplace_back(name, value.dump());
  }
  return joined(members);
}

// Those of the item that the text does not have by itself.
std::string members_beyond(const std::string& said, const std::string& meant) {
  const JsonMembers there = members_in(said);
  JsonMembers beyond;
  for (auto& [name, json] : members_in(meant)) {
    const std::string* value = find_member(there, name);
    if (value == nullptr || *value != json) beyond.emplace_back(name, std::move(json));
  }
  return joined(beyond);
}

Result<std::string> difference(const Item& said, const Item& meant) {
  JsonObject carried;
  const Result<JsonLine> whole = JsonLine::parse("{" + public_members(meant) + "}");
  if (!whole) return fail(whole.error());
  for (const ItemField field : kItemFields) {
    if (same(said, meant, field) || field == ItemField::unknown) continue;
    if (const auto raw = whole->raw(name_of(field))) carried.add_raw(name_of(field), *raw);
    if (field == ItemField::id) carried.add(kStandsFor, said.id.text);
  }
  const std::string beyond = members_beyond(said.unknown_members, meant.unknown_members);
  if (!beyond.empty()) carried.add_raw(kMembers, "{" + beyond + "}");
  return carried.members().empty() ? std::string() : carried.text();
}

// Whoever writes them keeps the order where nothing stood before, and only there.
JsonMembers sorted_members(const Item& item) {
  JsonMembers members = members_in(item.unknown_members);
  std::ranges::sort(members);
  return members;
}

}  // namespace

std::string_view name_of(ItemField field) {
  switch (field) {
    case ItemField::id:
      return "id";
    case ItemField::title:
      return "title";
    case ItemField::body:
      return "body";
    case ItemField::state:
      return "state";
    case ItemField::priority:
      return "priority";
    case ItemField::labels:
      return "labels";
    case ItemField::depends_on:
      return "depends_on";
    case ItemField::files:
      return "files";
    case ItemField::estimate_min:
      return "estimate_min";
    case ItemField::type:
      return "type";
    case ItemField::created_at:
      return "created_at";
    case ItemField::updated_at:
      return "updated_at";
    case ItemField::created_by:
      return "created_by";
    case ItemField::came_from:
      return "came_from";
    case ItemField::tries:
      return "tries";
    case ItemField::comments:
      return "comments";
    case ItemField::unknown:
      break;
  }
  return kMembers;
}

bool same(const Item& one, const Item& other, ItemField field) {
  if (field == ItemField::unknown && one.unknown_members != other.unknown_members)
    return sorted_members(one) == sorted_members(other);
  return with_member(field, [&](auto member) { return one.*member == other.*member; });
}

bool is_item_member(std::string_view name) {
  if (name == "schema_version" || name == "lease" || name == kOriginMember) return true;
  return std::ranges::any_of(kItemFields, [&](ItemField field) {
    return field != ItemField::unknown && name_of(field) == name;
  });
}

Result<Item> meant_by(const ForeignText& text) {
  Result<Item> said = text.said();
  const std::string json = said ? text.carried() : std::string();
  if (json.empty()) return said;
  const auto broken = [](const Error& error) {
    return fail(ErrorKind::refused, fmt::format("what it keeps for dibs: {}", error.message));
  };
  const Result<JsonLine> carried = JsonLine::parse(json);
  if (!carried) return broken(carried.error());
  const Result<Item> ours = carried_item(*carried, *said);
  if (!ours) return broken(ours.error());
  Item item = *said;
  for (const ItemField field : kItemFields) {
    if (field == ItemField::unknown || !carried->raw(name_of(field))) continue;
    const bool moved =
        field == ItemField::id && text_member(carried->json(), kStandsFor) != said->id.text;
    if (moved || text.in_its_words(*ours, field) != text.in_its_words(*said, field)) continue;
    copy(*ours, item, field);
  }
  item.unknown_members = with_members(said->unknown_members, carried->json());
  return item;
}

Done rewrite(ForeignText& text, const Item& item) {
  const Result<Item> before = meant_by(text);
  if (!before) return fail(before.error());
  if (*before == item) return {};
  for (const ItemField field : kItemFields) {
    if (text.in_its_words(*before, field) != text.in_its_words(item, field))
      text.write(field, item);
  }
  const Result<Item> said = text.said();
  if (!said) return fail(said.error());
  const Result<std::string> beyond = difference(*said, item);
  if (!beyond) return fail(beyond.error());
  if (*beyond != text.carried()) text.carry(*beyond);
  const Result<Item> after = meant_by(text);
  if (!after) return fail(after.error());
  for (const ItemField field : kItemFields) {
    if (!same(*after, item, field))
      return fail(ErrorKind::refused, fmt::format("the {} of {} cannot be written in this form",
                                                  name_of(field), printable(item.id.text)));
  }
  return {};
}

}  // namespace dibs
