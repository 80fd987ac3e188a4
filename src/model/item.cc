#include "model/item.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"

namespace dibs {

namespace {

constexpr std::array<std::string_view, 19> kKnownMembers{
    "schema_version", "id",    "title",        "body",  "state",       "priority",   "labels",
    "depends_on",     "files", "estimate_min", "type",  "created_at",  "updated_at", "created_by",
    "came_from",      "tries", "comments",     "lease", "is_shortened"};

std::string array_of(const std::vector<std::string>& texts) {
  JsonArray array;
  for (const std::string& text : texts) array.add(text);
  return array.text();
}

std::string array_of(const std::vector<ItemId>& ids) {
  JsonArray array;
  for (const ItemId& id : ids) array.add(id.text);
  return array.text();
}

std::string array_of(const std::vector<Comment>& comments) {
  JsonArray array;
  for (const Comment& comment : comments) {
    array.add_raw(JsonObject()
                      .add("by", comment.by)
                      .add("at", rfc3339(comment.unix_ms))
                      .add("text", comment.text)
                      .text());
  }
  return array.text();
}

enum class Form { whole, card };

JsonObject members_of(const Item& item, Form form) {
  JsonObject object;
  object.add("id", item.id.text).add("title", item.title);
  if (form == Form::whole) object.add("body", item.body);
  object.add("state", item.state)
      .add("priority", item.priority)
      .add_raw("labels", array_of(item.labels))
      .add_raw("depends_on", array_of(item.depends_on))
      .add_raw("files", array_of(item.files));
  if (item.estimate_min) object.add("estimate_min", *item.estimate_min);
  object.add("type", item.type)
      .add("created_at", rfc3339(item.created_unix_ms))
      .add("updated_at", rfc3339(item.updated_unix_ms))
      .add("created_by", item.created_by);
  if (!item.came_from.empty()) object.add("came_from", item.came_from);
  if (item.tries != 0) object.add("tries", item.tries);
  if (form == Form::whole && !item.comments.empty())
    object.add_raw("comments", array_of(item.comments));
  return object;
}

// Where a member that may be left out is there, it must be what it is said to be.
Result<std::string> text_or(const Json& json, const char* name, std::string fallback) {
  const auto member = json.find(name);
  if (member == json.end()) return fallback;
  if (!member->is_string()) return fail(ErrorKind::refused, fmt::format("{} is not text", name));
  return member->get<std::string>();
}

Result<std::vector<std::string>> texts_in(const Json& json, const char* name) {
  std::vector<std::string> texts;
  const auto member = json.find(name);
  if (member == json.end()) return texts;
  const bool all_text = member->is_array() && std::ranges::all_of(*member, [](const Json& entry) {
                          return entry.is_string();
                        });
  if (!all_text) return fail(ErrorKind::refused, fmt::format("{} is not a list of texts", name));
  for (const Json& entry : *member) texts.push_back(entry.get<std::string>());
  return texts;
}

Result<std::int64_t> time_in(const Json& json, const char* name) {
  const auto member = json.find(name);
  if (member == json.end()) return 0;
  const std::optional<std::int64_t> time =
      member->is_string() ? parse_rfc3339(member->get<std::string>()) : std::nullopt;
  if (!time)
    return fail(ErrorKind::refused, fmt::format("{} is no time like 2026-01-31T12:00:00Z", name));
  return *time;
}

Result<std::vector<Comment>> comments_in(const Json& json) {
  std::vector<Comment> comments;
  const auto member = json.find("comments");
  if (member == json.end()) return comments;
  if (!member->is_array()) return fail(ErrorKind::refused, "comments is not a list");
  for (const Json& entry : *member) {
    const auto text = text_member(entry, "text");
    const auto at = parse_rfc3339(text_member(entry, "at").value_or(""));
    if (!text || !at) return fail(ErrorKind::refused, "a comment lacks its text or its time");
    comments.push_back(
        {.by = text_member(entry, "by").value_or(""), .unix_ms = *at, .text = *text});
  }
  return comments;
}

Done read_numbers(const Json& json, Item& item) {
  if (json.contains("priority")) {
    const auto priority = integer_member(json, "priority");
    if (!priority || *priority < 0 || *priority > kPriorityLeast)
      return fail(ErrorKind::refused, fmt::format("priority is not 0 to {}", kPriorityLeast));
    item.priority = static_cast<int>(*priority);
  }
  if (json.contains("estimate_min")) {
    item.estimate_min = integer_member(json, "estimate_min");
    if (!item.estimate_min) return fail(ErrorKind::refused, "estimate_min is not a number");
  }
  if (json.contains("tries")) {
    const auto tries = integer_member(json, "tries");
    if (!tries) return fail(ErrorKind::refused, "tries is not a number");
    item.tries = *tries;
  }
  return {};
}

Done read_texts(const Json& json, Item& item) {
  const std::array<std::pair<const char*, std::string*>, 6> members{
      {{"title", &item.title},
       {"body", &item.body},
       {"state", &item.state},
       {"type", &item.type},
       {"created_by", &item.created_by},
       {"came_from", &item.came_from}}};
  for (const auto& [name, target] : members) {
    Result<std::string> text = text_or(json, name, *target);
    if (!text) return fail(text.error());
    *target = *std::move(text);
  }
  return {};
}

Done read_lists(const Json& json, Item& item) {
  Result<std::vector<std::string>> labels = texts_in(json, "labels");
  Result<std::vector<std::string>> depends_on = texts_in(json, "depends_on");
  Result<std::vector<std::string>> files = texts_in(json, "files");
  Result<std::vector<Comment>> comments = comments_in(json);
  if (!labels) return fail(labels.error());
  if (!depends_on) return fail(depends_on.error());
  if (!files) return fail(files.error());
  if (!comments) return fail(comments.error());
  item.labels = *std::move(labels);
  for (std::string& id : *depends_on) item.depends_on.push_back({std::move(id)});
  item.files = *std::move(files);
  item.comments = *std::move(comments);
  return {};
}

Done read_times(const Json& json, Item& item) {
  const Result<std::int64_t> created = time_in(json, "created_at");
  const Result<std::int64_t> updated = time_in(json, "updated_at");
  if (!created) return fail(created.error());
  if (!updated) return fail(updated.error());
  item.created_unix_ms = *created;
  item.updated_unix_ms = *updated;
  return {};
}

std::string unknown_members_of(const Json& json) {
  JsonObject unknown;
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(kKnownMembers, name) == kKnownMembers.end())
      unknown.add_raw(name, value.dump());
  }
  return std::string(unknown.members());
}

Done check_text(std::string_view what, std::string_view text, std::size_t most) {
  if (text.size() > most)
    return fail(ErrorKind::refused, fmt::format("{} is {} bytes long; at most {} are allowed", what,
                                                text.size(), most));
  if (!is_utf8(text)) return fail(ErrorKind::refused, fmt::format("{} is not UTF-8", what));
  return {};
}

// A word is shown in lists and typed in commands.
Done check_word(std::string_view what, std::string_view word, std::size_t most) {
  if (word.empty()) return fail(ErrorKind::refused, fmt::format("{} is empty", what));
  if (Done text = check_text(what, word, most); !text) return text;
  if (!is_printable(word) || trim(word) != word)
    return fail(ErrorKind::refused, fmt::format("{} '{}' has blanks at its ends or characters that "
                                                "cannot be shown",
                                                what, printable(word)));
  return {};
}

Done check_count(std::string_view what, std::size_t count, std::size_t most) {
  if (count <= most) return {};
  return fail(ErrorKind::refused,
              fmt::format("there are {} {}; at most {} are allowed", count, what, most));
}

Done check_lists(const Item& item) {
  for (const Done& counted : {check_count("labels", item.labels.size(), kLabelsMax),
                              check_count("dependencies", item.depends_on.size(), kDependenciesMax),
                              check_count("globs", item.files.size(), kGlobsMax),
                              check_count("comments", item.comments.size(), kCommentsMax)}) {
    if (!counted) return counted;
  }
  for (const std::string& label : item.labels) {
    if (Done word = check_word("the label", label, kWordMax); !word) return word;
  }
  for (const ItemId& id : item.depends_on) {
    if (Done word = check_word("the dependency", id.text, kItemIdMax); !word) return word;
  }
  for (const std::string& glob : item.files) {
    if (Done word = check_word("the glob", glob, kGlobMax); !word) return word;
  }
  for (const Comment& comment : item.comments) {
    if (Done text = check_text("a comment", comment.text, kBodyBytesMax); !text) return text;
  }
  return {};
}

}  // namespace

Result<ItemId> parse_item_id(std::string_view text) {
  if (Done word = check_word("the item id", text, kItemIdMax); !word)
    return fail(ErrorKind::usage, word.error().message);
  return ItemId{std::string(text)};
}

std::string slug_of(std::string_view title) {
  constexpr std::size_t kSlugMax = 32;
  std::string slug;
  for (const char c : title) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) slug += upper ? static_cast<char>(c - 'A' + 'a') : c;
    if (!plain && !slug.empty() && slug.back() != '-') slug += '-';
  }
  if (slug.size() > kSlugMax) {
    const std::size_t word_end = slug.rfind('-', kSlugMax);
    slug.resize(word_end == std::string::npos || word_end == 0 ? kSlugMax : word_end);
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "item" : slug;
}

ItemId make_item_id(std::string_view title, const std::array<std::uint8_t, 4>& chance) {
  std::string id = slug_of(title) + "-";
  for (const std::uint8_t byte : chance) append_hex(id, byte);
  return {std::move(id)};
}

Done check_item(const Item& item) {
  if (Done id = check_word("the id", item.id.text, kItemIdMax); !id) return id;
  if (Done title = check_word("the title", item.title, kTitleMax); !title) return title;
  if (Done body = check_text("the body", item.body, kBodyBytesMax); !body) return body;
  if (!item.state.empty()) {
    if (Done state = check_word("the state", item.state, kWordMax); !state) return state;
  }
  if (Done type = check_word("the type", item.type, kWordMax); !type) return type;
  if (item.priority < 0 || item.priority > kPriorityLeast)
    return fail(ErrorKind::refused, fmt::format("priority is not 0 to {}", kPriorityLeast));
  if (item.estimate_min && (*item.estimate_min < 1 || *item.estimate_min > kEstimateMinMax))
    return fail(ErrorKind::refused, fmt::format("estimate_min is not 1 to {}", kEstimateMinMax));
  if (item.tries < 0 || item.tries > kItemTriesMax)
    return fail(ErrorKind::refused, fmt::format("tries is not 0 to {}", kItemTriesMax));
  return check_lists(item);
}

std::string public_members(const Item& item) {
  return std::string(members_of(item, Form::whole).add_members(item.unknown_members).members());
}

std::string item_file(const Item& item) {
  JsonObject object;
  object.add("schema_version", 1).add_members(members_of(item, Form::whole).members());
  return one_member_a_line(object.add_members(item.unknown_members).text());
}

std::string item_card(const Item& item) {
  std::string whole = members_of(item, Form::whole).add_members(item.unknown_members).text();
  if (whole.size() <= kCardBytesMax && !item.is_shortened) return whole;
  return members_of(item, Form::card).add("is_shortened", true).text();
}

Result<Item> item_from_json(std::string_view text) {
  const Result<Json> json = parse_json(text);
  if (!json) return fail(ErrorKind::refused, json.error().message);
  return item_from(*json);
}

Result<Item> item_from(const Json& json) {
  if (!json.is_object()) return fail(ErrorKind::refused, "it is not a JSON object");
  Item item;
  item.id = {text_member(json, "id").value_or("")};
  if (Done numbers = read_numbers(json, item); !numbers) return fail(numbers.error());
  if (Done texts = read_texts(json, item); !texts) return fail(texts.error());
  if (Done lists = read_lists(json, item); !lists) return fail(lists.error());
  if (Done times = read_times(json, item); !times) return fail(times.error());
  item.unknown_members = unknown_members_of(json);
  item.is_shortened = json.contains("is_shortened");
  if (Done checked = check_item(item); !checked) return fail(checked.error());
  return item;
}

}  // namespace dibs
