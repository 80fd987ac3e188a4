#include "items/beads_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/time.h"
#include "items/foreign_words.h"

namespace dibs {

namespace {

constexpr std::string_view kOurs = "dibs";
constexpr std::string_view kTombstone = "tombstone";
// Read into an item, or following from it; everything else is kept as a member of its own.
constexpr std::array<std::string_view, 15> kMapped{
    "id",         "title",      "description", "status",    "priority",
    "issue_type", "created_at", "updated_at",  "closed_at", "estimated_minutes",
    "labels",     "comments",   "created_by",  kOurs,       "dependencies"};

std::string state_of(std::string_view status) {
  // Whether something is blocked follows from its dependencies.
  if (status.empty() || status == "open" || status == "blocked" || status == kTombstone)
    return "ready";
  if (status == "in_progress" || status == "hooked") return "in_progress";
  if (status == "closed") return "done";
  if (status == "deferred" || status == "pinned") return "pending";
  return std::string(status);
}

std::string status_of(std::string_view state) {
  if (state.empty() || state == "ready" || state == "backlog") return "open";
  if (state == "in_progress" || state == "in_review") return "in_progress";
  if (state == "done" || state == "rejected") return "closed";
  if (state == "pending") return "deferred";
  // A state of a team's own is its own word, unless beads means something else by that.
  const std::string read = state_of(state);
  return read == state ? read : status_of(read);
}

// Nothing when it is not there, or null.
const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  for (const auto& [key, value] : object.get_ref<const Json::object_t&>()) {
    if (key == name) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

std::string text_in(const Json& object, const char* name) {
  return text_member(object, name).value_or("");
}

Result<std::int64_t> time_in(const Json& object, const char* name) {
  if (member(object, name) == nullptr) return 0;
  const auto time = parse_any_rfc3339(text_in(object, name));
  if (!time) return fail(ErrorKind::refused, fmt::format("{} is no time", name));
  return *time;
}

// The dependency that makes an issue wait; beads has many more that do not.
std::optional<ItemId> waits_for(const Json& dependency) {
  std::string type = text_in(dependency, "type");
  if (type.empty()) type = text_in(dependency, "dep_type");
  const bool waits =
      type.empty() || type == "blocks" || type == "conditional-blocks" || type == "waits-for";
  const auto on = text_member(dependency, "depends_on_id");
  if (!waits || !on || on->empty()) return std::nullopt;
  return ItemId{*on};
}

std::optional<Comment> comment_of(const Json& entry) {
  const auto text = text_member(entry, "text");
  if (!text) return std::nullopt;
  return Comment{.by = text_in(entry, "author"),
                 .unix_ms = parse_any_rfc3339(text_in(entry, "created_at")).value_or(0),
                 .text = *text};
}

Done read_numbers(const Json& json, Item& item) {
  // Beads itself takes a missing priority for 0.
  const auto priority = integer_member(json, "priority");
  item.priority = static_cast<int>(std::clamp<std::int64_t>(priority.value_or(0), -1, 9));
  if (member(json, "priority") != nullptr && !priority)
    return fail(ErrorKind::refused, "priority is not a number");
  const auto minutes = integer_member(json, "estimated_minutes");
  if (minutes && *minutes > 0 && *minutes <= kEstimateMinMax) item.estimate_min = minutes;
  return {};
}

Done read_lists(const Json& json, Item& item) {
  const auto each = [&](const char* name, auto take) -> Done {
    const Json* list = member(json, name);
    if (list == nullptr) return {};
    if (!list->is_array()) return fail(ErrorKind::refused, fmt::format("{} is not a list", name));
    for (const Json& entry : *list) take(entry);
    return {};
  };
  Done labels = each("labels", [&](const Json& entry) {
    const std::string label = entry.is_string() ? entry.get<std::string>() : std::string();
    if (!trim(label).empty()) item.labels.emplace_back(trim(label));
  });
  Done dependencies = each("dependencies", [&](const Json& entry) {
    const auto on = waits_for(entry);
    if (on && std::ranges::find(item.depends_on, *on) == item.depends_on.end())
      item.depends_on.push_back(*on);
  });
  Done comments = each("comments", [&](const Json& entry) {
    if (auto comment = comment_of(entry)) item.comments.push_back(*std::move(comment));
  });
  if (!labels) return labels;
  return !dependencies ? dependencies : comments;
}

Done read_times(const Json& json, Item& item) {
  const auto created = time_in(json, "created_at");
  const auto updated = time_in(json, "updated_at");
  if (!created) return fail(created.error());
  if (!updated) return fail(updated.error());
  item.created_unix_ms = *created;
  item.updated_unix_ms = *updated;
  return {};
}

bool is_unknown(std::string_view name) {
  return !BeadsLine::is_read(name) && !is_item_member(name);
}

std::string unknown_in(const Json& json) {
  JsonObject unknown;
  for (const auto& [name, value] : json.items()) {
    if (is_unknown(name)) unknown.add_raw(name, value.dump());
  }
  return std::string(unknown.members());
}

// The entries of an array as they stand.
std::vector<std::string_view> entries_of(std::string_view array) {
  std::vector<std::string_view> entries;
  for (std::size_t at = 1; at < array.size();) {
    const std::size_t end = skip_json_value(array, at);
    const std::string_view entry = trim(array.substr(at, end - at));
    if (!entry.empty()) entries.push_back(entry);
    if (end == std::string_view::npos || array[end] != ',') break;
    at = end + 1;
  }
  return entries;
}

template <class Text>
std::string array_of(const std::vector<Text>& texts) {
  JsonArray array;
  for (const Text& text : texts) array.add(text);
  return array.text();
}

std::string array_of(const std::vector<Comment>& comments) {
  JsonArray array;
  for (const Comment& comment : comments)
    array.add(comment.by).add(rfc3339(comment.unix_ms)).add(comment.text);
  return array.text();
}

// In no order: beads has none.
std::string set_of(const std::vector<ItemId>& ids) {
  std::vector<std::string> texts;
  for (const ItemId& id : ids) texts.push_back(id.text);
  std::ranges::sort(texts);
  return array_of(texts);
}

// The array with the entries that are still wanted as they stand, and new ones behind them.
template <class Wanted, class Read, class Render>
std::string kept_and_added(std::string_view array, std::vector<Wanted> wanted, Read read,
                           Render render) {
  JsonArray out;
  bool any = false;
  for (const std::string_view entry : entries_of(array)) {
    const Result<Json> json = parse_json(entry);
    const auto value = json ? read(*json) : std::nullopt;
    const auto found = value ? std::ranges::find(wanted, *value) : wanted.end();
    if (value && found == wanted.end()) continue;
    if (value) wanted.erase(found);
    out.add_raw(entry);
    any = true;
  }
  for (const Wanted& more : wanted) out.add_raw(render(more));
  return any || !wanted.empty() ? out.text() : std::string();
}

}  // namespace

Result<BeadsLine> BeadsLine::parse(std::string_view line) {
  Result<JsonLine> json = JsonLine::parse(line);
  if (!json) return fail(json.error());
  return BeadsLine(*std::move(json));
}

BeadsLine BeadsLine::empty(const ItemId& id) {
  const std::string line = JsonObject()
                               .add("id", id.text)
                               .add("title", id.text)
                               .add("status", "open")
                               .add("priority", kPriorityDefault)
                               .add("issue_type", "task")
                               .text();
  return BeadsLine(*JsonLine::parse(line));
}

bool BeadsLine::is_deleted() const {
  return text_in(line_.json(), "status") == kTombstone ||
         member(line_.json(), "deleted_at") != nullptr;
}

bool BeadsLine::is_read(std::string_view name) {
  return std::ranges::find(kMapped, name) != kMapped.end();
}

ItemId BeadsLine::id() const { return {text_in(line_.json(), "id")}; }

std::vector<ItemId> BeadsLine::parents() const {
  std::vector<ItemId> parents;
  const Json* list = member(line_.json(), "dependencies");
  if (list == nullptr || !list->is_array()) return parents;
  for (const Json& entry : *list) {
    if (text_in(entry, "type") == "parent-child" || text_in(entry, "dep_type") == "parent-child")
      parents.push_back({text_in(entry, "depends_on_id")});
  }
  return parents;
}

Result<Item> BeadsLine::said() const {
  const Json& json = line_.json();
  Item item;
  item.id = id();
  item.title = shown_title(text_in(json, "title"), item.id.text);
  item.body = text_in(json, "description");
  item.state = state_of(text_in(json, "status"));
  item.type = text_in(json, "issue_type");
  if (item.type.empty()) item.type = "task";
  item.created_by = text_in(json, "created_by");
  if (Done numbers = read_numbers(json, item); !numbers) return fail(numbers.error());
  if (Done lists = read_lists(json, item); !lists) return fail(lists.error());
  if (Done times = read_times(json, item); !times) return fail(times.error());
  item.unknown_members = unknown_in(json);
  if (Done checked = check_item(item); !checked) return fail(checked.error());
  return item;
}

std::string BeadsLine::carried() const {
  const auto raw = line_.raw(kOurs);
  return raw && raw->starts_with('{') ? std::string(*raw) : std::string();
}

std::string BeadsLine::in_its_words(const Item& item, ItemField field) const {
  switch (field) {
    case ItemField::id:
      return item.id.text;
    case ItemField::title:
      return item.title;
    case ItemField::body:
      return item.body;
    case ItemField::state:
      return status_of(item.state);
    case ItemField::priority:
      return std::to_string(item.priority);
    case ItemField::labels:
      return array_of(item.labels);
    case ItemField::depends_on:
      return set_of(item.depends_on);
    case ItemField::estimate_min:
      return item.estimate_min ? std::to_string(*item.estimate_min) : std::string();
    case ItemField::type:
      return item.type;
    case ItemField::created_at:
      return rfc3339(item.created_unix_ms);
    case ItemField::updated_at:
      return rfc3339(item.updated_unix_ms);
    case ItemField::created_by:
      return item.created_by;
    case ItemField::comments:
      return array_of(item.comments);
    case ItemField::unknown:
      return item.unknown_members;
    case ItemField::files:
    case ItemField::came_from:
    case ItemField::tries:
      break;
  }
  return {};
}

// Empty text takes the member away, as beads leaves out what is empty.
void BeadsLine::put(std::string_view name, const std::string& json) {
  if (json.empty() || json == "\"\"" || json == "[]") {
    line_.remove(name);
  } else {
    line_.set(name, json);
  }
}

void BeadsLine::put_state(const Item& item) {
  const std::string status = status_of(item.state);
  line_.set("status", json_string(status));
  // Beads refuses a closed issue without the time, and an open one with it.
  if (status != "closed") {
    line_.remove("closed_at");
  } else if (member(line_.json(), "closed_at") == nullptr) {
    line_.set("closed_at", json_string(rfc3339(item.updated_unix_ms)));
  }
}

void BeadsLine::put_dependencies(const Item& item) {
  put("dependencies", kept_and_added(line_.raw("dependencies").value_or("[]"), item.depends_on,
                                     waits_for, [&](const ItemId& on) {
                                       return JsonObject()
                                           .add("issue_id", item.id.text)
                                           .add("depends_on_id", on.text)
                                           .add("type", "blocks")
                                           .add("created_at", rfc3339(item.updated_unix_ms))
                                           .add("created_by", item.created_by)
                                           .text();
                                     }));
}

void BeadsLine::put_comments(const Item& item) {
  const std::string_view raw = line_.raw("comments").value_or("[]");
  std::size_t number = entries_of(raw).size();
  put("comments", kept_and_added(raw, item.comments, comment_of, [&](const Comment& comment) {
        return JsonObject()
            .add("id", std::uint64_t{++number})
            .add("issue_id", item.id.text)
            .add("author", comment.by)
            .add("text", comment.text)
            .add("created_at", rfc3339(comment.unix_ms))
            .text();
      }));
}

// Only those that are members of the line already; new ones are carried.
void BeadsLine::put_unknown(const Item& item) {
  const JsonMembers wanted = members_in(item.unknown_members);
  for (const auto& [name, json] : members_in(unknown_in(line_.json()))) {
    const std::string* value = find_member(wanted, name);
    if (value == nullptr) line_.remove(name);
    if (value != nullptr && *value != json) line_.set(name, *value);
  }
}

void BeadsLine::write(ItemField field, const Item& item) {
  const std::string words = in_its_words(item, field);
  switch (field) {
    case ItemField::id:
      put("id", json_string(words));
      break;
    case ItemField::title:
      put("title", json_string(words));
      break;
    case ItemField::body:
      put("description", json_string(words));
      break;
    case ItemField::state:
      put_state(item);
      break;
    case ItemField::priority:
      put("priority", words);
      break;
    case ItemField::labels:
      put("labels", words);
      break;
    case ItemField::depends_on:
      put_dependencies(item);
      break;
    case ItemField::estimate_min:
      put("estimated_minutes", words);
      break;
    case ItemField::type:
      put("issue_type", json_string(words));
      break;
    case ItemField::created_at:
      put("created_at", json_string(words));
      break;
    case ItemField::updated_at:
      put("updated_at", json_string(words));
      break;
    case ItemField::created_by:
      put("created_by", json_string(words));
      break;
    case ItemField::comments:
      put_comments(item);
      break;
    case ItemField::unknown:
      put_unknown(item);
      break;
    case ItemField::files:
    case ItemField::came_from:
    case ItemField::tries:
      break;
  }
  reread();
}

void BeadsLine::carry(std::string_view json) {
  put(kOurs, std::string(json));
  reread();
}

// Past the bounds of JSON the old reading stays, and rewrite() finds that it is not what was meant.
void BeadsLine::reread() {
  if (Result<JsonLine> line = JsonLine::parse(line_.text())) line_ = *std::move(line);
}

}  // namespace dibs
