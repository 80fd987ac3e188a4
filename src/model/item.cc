#include "model/item.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"

namespace dibs {

namespace {

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

}  // namespace dibs
