#include "items/folder_file.h"

#include <array>

#include "base/text.h"
#include "base/time.h"
#include "items/foreign_words.h"
#include "items/task_words.h"
#include "sys/local_time.h"

namespace dibs {

namespace {

constexpr std::string_view kOurs = "dibs";
// Read into an item; every other key is kept as a member of its own.
constexpr std::array<std::string_view, 11> kMapped{
    "title",      "priority",   "effort",     "depends",   "labels", "files",
    "created_at", "updated_at", "created_by", "came_from", kOurs};

std::int64_t time_of(std::string_view text) {
  if (const auto exact = parse_any_rfc3339(text)) return *exact;
  return parse_local_time(text).value_or(0);
}

std::string time_word(std::int64_t unix_ms) {
  return unix_ms == 0 ? std::string() : rfc3339(unix_ms);
}

// People write numbers, too.
int priority_in(std::string_view word) {
  const auto number = parse_unsigned(word);
  return number && *number <= kPriorityLeast ? static_cast<int>(*number) : priority_of(word);
}

std::vector<std::string> texts_of(const std::vector<ItemId>& ids) {
  std::vector<std::string> texts;
  for (const ItemId& id : ids) texts.push_back(id.text);
  return texts;
}

}  // namespace

Result<FolderFile> FolderFile::parse(const FolderLayout& layout, FolderPlace place,
                                     std::string_view text) {
  Result<FrontMatter> file = FrontMatter::parse(text);
  if (!file) return fail(file.error());
  return FolderFile(layout, std::move(place), *std::move(file));
}

HeadedText FolderFile::headed() const {
  return {file_.body(),
          file_.has_head() ? HeadedText::Above::front_matter : HeadedText::Above::nothing,
          file_.newline()};
}

bool FolderFile::is_titled() const {
  return file_.find("title") != nullptr || !headed().title().empty();
}

Result<Item> FolderFile::said() const {
  const auto list = [&](std::string_view key) {
    std::vector<std::string> entries = file_.list(key).value_or(std::vector<std::string>{});
    std::erase(entries, "");
    return entries;
  };
  const HeadedText text = headed();
  Item item;
  item.id = {place_.name};
  item.title = shown_title(file_.scalar("title").value_or(std::string(text.title())), place_.name);
  item.body = text.body();
  item.state = place_.state;
  item.type = place_.category.empty() ? kNoCategoryType : place_.category;
  item.priority = priority_in(file_.scalar("priority").value_or(""));
  item.labels = list("labels");
  for (const std::string& on : list("depends")) item.depends_on.push_back({on});
  item.files = list("files");
  item.estimate_min = minutes_of(file_.scalar("effort").value_or(""));
  item.created_unix_ms = time_of(file_.scalar("created_at").value_or(""));
  const std::optional<std::string> updated = file_.scalar("updated_at");
  item.updated_unix_ms = updated ? time_of(*updated) : item.created_unix_ms;
  item.created_by = file_.scalar("created_by").value_or("");
  item.came_from = file_.scalar("came_from").value_or("");
  item.unknown_members = unknown_keys(file_, kMapped);
  if (Done checked = check_item(item); !checked) return fail(checked.error());
  return item;
}

std::string FolderFile::carried() const { return file_.scalar(kOurs).value_or(""); }

std::string FolderFile::in_its_words(const Item& item, ItemField field) const {
  switch (field) {
    case ItemField::title:
      return item.title;
    case ItemField::body:
      return item.body;
    case ItemField::state:
      return layout_->folder_for(item.state);
    case ItemField::priority:
      return priority_word(item.priority);
    case ItemField::labels:
      return array_of(item.labels);
    case ItemField::depends_on:
      return array_of(texts_of(item.depends_on));
    case ItemField::files:
      return array_of(item.files);
    case ItemField::estimate_min:
      return effort_of(item.estimate_min);
    case ItemField::type:
      return layout_->has_category(place_.state) ? layout_->category_for(item.type) : std::string();
    case ItemField::created_at:
      return time_word(item.created_unix_ms);
    case ItemField::updated_at:
      return time_word(item.updated_unix_ms);
    case ItemField::created_by:
      return item.created_by;
    case ItemField::came_from:
      return item.came_from;
    case ItemField::unknown:
      return item.unknown_members;
    case ItemField::id:  // the place says it
    case ItemField::tries:
    case ItemField::comments:
      break;
  }
  return {};
}

// What we added and do not need any more. A text that would be taken for front matter without it
// keeps it.
void FolderFile::drop_empty_head() {
  const std::string fence = "---" + std::string(file_.newline());
  if (file_.text() != fence + fence + file_.body()) return;
  std::string_view rest = file_.body();
  if (rest.starts_with(file_.newline())) rest.remove_prefix(file_.newline().size());
  Result<FrontMatter> bare = FrontMatter::parse(rest);
  if (bare && !bare->has_head()) file_ = *std::move(bare);
}

// Nothing to say takes the key away.
void FolderFile::put(std::string_view key, std::string_view words) {
  if (words.empty()) {
    if (file_.find(key) == nullptr) return;
    file_.remove(key);
    return drop_empty_head();
  }
  file_.add_head();
  file_.set(key, words);
}

void FolderFile::put_list(std::string_view key, const std::vector<std::string>& entries) {
  if (entries.empty()) return put(key, "");
  file_.add_head();
  file_.set_list(key, entries);
}

void FolderFile::put_title(const Item& item) {
  if (file_.find("title") != nullptr) return put("title", item.title);
  HeadedText text = headed();
  text.set_title(item.title);
  file_.set_body(text.text());
}

// Whoever leaves the states that have no category goes to the one of its type; everybody else
// stays in the one they are in.
void FolderFile::put_state(const Item& item) {
  const bool had_category = layout_->has_category(place_.state);
  place_.state = layout_->folder_for(item.state);
  if (!had_category) place_.category = layout_->category_for(item.type);
  if (!layout_->has_category(place_.state)) place_.category.clear();
  if (place_.shape == FolderPlace::Shape::joined) place_.shape = FolderPlace::Shape::folder;
}

// Only said where it is not the time of creation; then the key is there, even if it is empty.
void FolderFile::put_updated(const Item& item) {
  if (item.updated_unix_ms == item.created_unix_ms) return put("updated_at", "");
  file_.add_head();
  file_.set("updated_at", time_word(item.updated_unix_ms));
}

void FolderFile::write(ItemField field, const Item& item) {
  switch (field) {
    case ItemField::title:
      return put_title(item);
    case ItemField::body: {
      HeadedText text = headed();
      text.set_body(item.body, item.title);
      return file_.set_body(text.text());
    }
    case ItemField::state:
      return put_state(item);
    case ItemField::priority:
      return put("priority", priority_word(item.priority));
    case ItemField::labels:
      return put_list("labels", item.labels);
    case ItemField::depends_on:
      return put_list("depends", texts_of(item.depends_on));
    case ItemField::files:
      return put_list("files", item.files);
    case ItemField::estimate_min:
      return put("effort", effort_of(item.estimate_min));
    case ItemField::type:
      place_.category = layout_->category_for(item.type);
      return;
    case ItemField::created_at:
      put("created_at", time_word(item.created_unix_ms));
      if (!notes_changes()) put_updated(item);
      return;
    case ItemField::updated_at:
      return put_updated(item);
    case ItemField::created_by:
      return put("created_by", item.created_by);
    case ItemField::came_from:
      return put("came_from", item.came_from);
    case ItemField::unknown:
      return put_unknown_keys(file_, kMapped, item);
    case ItemField::id:
    case ItemField::tries:
    case ItemField::comments:
      return;
  }
}

void FolderFile::carry(std::string_view json) { put(kOurs, json); }

}  // namespace dibs
