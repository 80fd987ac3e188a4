#include "rules/item_merge.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "rules/text_merge.h"

namespace dibs {

namespace {

/// Three versions of something. Where both sides changed it, the later one counts.
template <class T>
struct Versions {
  const T& base;
  const T& earlier;
  const T& later;
};

template <class T>
const T& one_of(const Versions<T>& of) {
  return of.later == of.base ? of.earlier : of.later;
}

template <class T>
bool has(const std::vector<T>& list, const T& entry) {
  return std::ranges::find(list, entry) != list.end();
}

template <class T, class Less>
std::vector<T> added_to(const Versions<std::vector<T>>& of, Less less) {
  std::vector<T> added;
  for (const std::vector<T>* side : {&of.earlier, &of.later}) {
    std::ranges::copy_if(*side, std::back_inserter(added),
                         [&](const T& entry) { return !has(of.base, entry); });
  }
  std::ranges::sort(added, less);
  const auto twice = std::ranges::unique(added);
  added.erase(twice.begin(), twice.end());
  return added;
}

// What neither took away, in the order it had, and then what either added.
template <class T, class Less>
std::vector<T> set_of(const Versions<std::vector<T>>& of, Less less) {
  if (of.earlier == of.base || of.earlier == of.later) return of.later;
  if (of.later == of.base) return of.earlier;
  std::vector<T> merged;
  for (const T& entry : of.base) {
    if (has(of.earlier, entry) && has(of.later, entry) && !has(merged, entry))
      merged.push_back(entry);
  }
  const std::vector<T> added = added_to(of, less);
  merged.insert(merged.end(), added.begin(), added.end());
  return merged;
}

bool is_said_before(const Comment& a, const Comment& b) {
  return std::tie(a.unix_ms, a.by, a.text) < std::tie(b.unix_ms, b.by, b.text);
}

std::vector<Comment> comments_of(const Versions<std::vector<Comment>>& of) {
  std::vector<Comment> merged = set_of(of, is_said_before);
  if (merged != of.earlier && merged != of.later) std::ranges::sort(merged, is_said_before);
  return merged;
}

std::string body_of(const Versions<std::string>& of) {
  if (of.earlier == of.base || of.earlier == of.later) return of.later;
  if (of.later == of.base) return of.earlier;
  return merge_texts(of.base, of.earlier, of.later);
}

/// What dibs does not know, member by member, each as the text of its value.
struct Members {
  std::vector<std::string> names;
  std::map<std::string, std::string> values;

  [[nodiscard]] std::optional<std::string> value(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
};

Members members_in(const std::string& text) {
  Members members;
  const Result<Json> json = parse_json("{" + text + "}");
  assert(json);  // nobody but item_from_json makes them, so they can be read
  for (const auto& [name, value] : json->items()) {
    members.names.push_back(name);
    members.values.emplace(name, value.dump());
  }
  return members;
}

std::string unknown_of(const Versions<std::string>& of) {
  if (of.earlier == of.base || of.earlier == of.later) return of.later;
  if (of.later == of.base) return of.earlier;
  const Members base = members_in(of.base);
  const Members earlier = members_in(of.earlier);
  const Members later = members_in(of.later);
  std::vector<std::string> names = base.names;
  const std::vector<std::string> added = added_to<std::string>(
      {.base = base.names, .earlier = earlier.names, .later = later.names}, std::less<>());
  names.insert(names.end(), added.begin(), added.end());
  JsonObject merged;
  for (const std::string& name : names) {
    const std::optional<std::string> was = base.value(name);
    const std::optional<std::string> is_earlier = earlier.value(name);
    const std::optional<std::string> is_later = later.value(name);
    const auto value =
        one_of<std::optional<std::string>>({.base = was, .earlier = is_earlier, .later = is_later});
    if (value) merged.add_raw(name, *value);
  }
  return std::string(merged.members());
}

struct Merging {
  const Item& base;
  const Item& earlier;
  const Item& later;

  template <class T>
  [[nodiscard]] Versions<T> of(T Item::* field) const {
    return {.base = base.*field, .earlier = earlier.*field, .later = later.*field};
  }
};

// A state and the one it came from mean something only together.
void merge_state(const Merging& merging, Item& merged) {
  using State = std::pair<std::string, std::string>;
  const auto state_of = [](const Item& item) { return State{item.state, item.came_from}; };
  const State base = state_of(merging.base);
  const State earlier = state_of(merging.earlier);
  const State later = state_of(merging.later);
  std::tie(merged.state, merged.came_from) =
      one_of<State>({.base = base, .earlier = earlier, .later = later});
}

void merge_values(const Merging& merging, Item& merged) {
  const auto merge = [&](auto field) { merged.*field = one_of(merging.of(field)); };
  merge(&Item::title);
  merge(&Item::priority);
  merge(&Item::type);
  merge(&Item::estimate_min);
  merge(&Item::tries);
  merge(&Item::created_unix_ms);
  merge(&Item::created_by);
}

void merge_lists(const Merging& merging, Item& merged) {
  merged.labels = set_of(merging.of(&Item::labels), std::less<>());
  merged.depends_on = set_of(merging.of(&Item::depends_on), std::less<>());
  merged.files = set_of(merging.of(&Item::files), std::less<>());
  merged.comments = comments_of(merging.of(&Item::comments));
}

// Of two that say the same time, any will do, but the same one everywhere.
bool is_earlier(const Item& a, const Item& b) {
  if (a.updated_unix_ms != b.updated_unix_ms) return a.updated_unix_ms < b.updated_unix_ms;
  return item_file(a) < item_file(b);
}

}  // namespace

Item merge_items(const std::optional<Item>& base, const Item& ours, const Item& theirs) {
  const Item nothing;
  const bool ours_first = is_earlier(ours, theirs);
  const Merging merging{.base = base ? *base : nothing,
                        .earlier = ours_first ? ours : theirs,
                        .later = ours_first ? theirs : ours};
  Item merged{.id = ours.id,
              .title = {},
              .body = body_of(merging.of(&Item::body)),
              .state = {},
              .labels = {},
              .depends_on = {},
              .files = {},
              .estimate_min = {},
              .updated_unix_ms = merging.later.updated_unix_ms,
              .created_by = {},
              .came_from = {},
              .comments = {},
              .unknown_members = unknown_of(merging.of(&Item::unknown_members))};
  merge_state(merging, merged);
  merge_values(merging, merged);
  merge_lists(merging, merged);
  return merged;
}

}  // namespace dibs
