#include "items/task_words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "items/foreign_text.h"
#include "items/json_line.h"

namespace dibs {

namespace {

// aitasks orders by effort, dibs by minutes: these stand for the three words, and nothing more.
constexpr std::int64_t kLowMin = 60;
constexpr std::int64_t kMediumMin = 240;
constexpr std::int64_t kHighMin = 960;

}  // namespace

std::string effort_of(std::optional<std::int64_t> minutes) {
  if (!minutes) return {};
  if (*minutes <= 2 * kLowMin) return "low";
  return *minutes <= 2 * kMediumMin ? "medium" : "high";
}

std::optional<std::int64_t> minutes_of(std::string_view effort) {
  if (effort == "low") return kLowMin;
  if (effort == "medium") return kMediumMin;
  if (effort == "high") return kHighMin;
  return std::nullopt;
}

std::string priority_word(int priority) {
  if (priority < 2) return "high";
  return priority == 2 ? "medium" : "low";
}

int priority_of(std::string_view word) {
  if (word == "high") return 1;
  return word == "low" ? 3 : kPriorityDefault;
}

std::string array_of(const std::vector<std::string>& texts) {
  JsonArray array;
  for (const std::string& text : texts) array.add(text);
  return array.text();
}

std::string unknown_keys(const FrontMatter& file, std::span<const std::string_view> mapped) {
  JsonObject unknown;
  for (const FrontField& field : file.fields()) {
    if (std::ranges::find(mapped, field.key) != mapped.end() || is_item_member(field.key) ||
        field.value.form == YamlForm::other)
      continue;
    if (field.value.is_list()) unknown.add_raw(field.key, array_of(field.value.entries));
    if (!field.value.is_list()) unknown.add(field.key, field.value.scalar);
  }
  return joined(members_in(unknown.members()));
}

void put_unknown_keys(FrontMatter& file, std::span<const std::string_view> mapped,
                      const Item& item) {
  const JsonMembers wanted = members_in(item.unknown_members);
  for (const auto& [key, json] : members_in(unknown_keys(file, mapped))) {
    const std::string* value = find_member(wanted, key);
    if (value != nullptr && *value == json) continue;
    const Result<Json> parsed = parse_json(value == nullptr ? "null" : *value);
    if (parsed && parsed->is_string()) {
      file.set(key, parsed->get<std::string>());
    } else {
      file.remove(key);
    }
  }
}

}  // namespace dibs
