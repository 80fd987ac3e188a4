#include "items/foreign_merge.h"

#include <algorithm>
#include <vector>

#include "items/json_line.h"
#include "rules/item_merge.h"

namespace dibs {

namespace {

// A base that cannot be read tells nothing, so everything counts as added.
std::optional<Item> base_of(const ForeignVersions& versions) {
  if (versions.base == nullptr) return std::nullopt;
  Result<Item> item = meant_by(*versions.base);
  return item ? std::optional(*std::move(item)) : std::nullopt;
}

Result<JsonMembers> own_members(const ForeignText& text) {
  const Result<Item> said = text.said();
  if (!said) return fail(said.error());
  return members_in(said->unknown_members);
}

bool is_own_of(const ForeignText* text, std::string_view name) {
  if (text == nullptr) return false;
  const Result<JsonMembers> members = own_members(*text);
  return members && find_member(*members, name) != nullptr;
}

// Those of the text itself, and of the merged ones those that no version has in its own text.
Result<std::string> members_of(const ForeignText& text, const ForeignVersions& versions,
                               const std::string& merged) {
  Result<JsonMembers> members = own_members(text);
  if (!members) return fail(members.error());
  for (auto& [name, json] : members_in(merged)) {
    const bool in_a_text = is_own_of(&text, name) || is_own_of(versions.base, name) ||
                           is_own_of(&versions.ours, name) || is_own_of(&versions.theirs, name);
    if (!in_a_text) members->emplace_back(name, std::move(json));
  }
  return joined(*members);
}

}  // namespace

Done merge_meanings(ForeignText& text, const ForeignVersions& versions) {
  const Result<Item> ours = meant_by(versions.ours);
  if (!ours) return fail(ours.error());
  const Result<Item> theirs = meant_by(versions.theirs);
  if (!theirs) return fail(theirs.error());
  Item merged = merge_items(base_of(versions), *ours, *theirs);
  Result<std::string> members = members_of(text, versions, merged.unknown_members);
  if (!members) return fail(members.error());
  merged.unknown_members = *std::move(members);
  if (Done checked = check_item(merged); !checked) return checked;
  return rewrite(text, merged);
}

}  // namespace dibs
