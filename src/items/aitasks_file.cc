#include "items/aitasks_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "items/foreign_words.h"
#include "items/task_words.h"
#include "sys/local_time.h"

namespace dibs {

namespace {

constexpr std::string_view kOurs = "dibs";
// Read into an item, or following from it; every other key is kept as a member of its own.
constexpr std::array<std::string_view, 11> kMapped{
    "title",  "priority",   "effort",     "depends",      "issue_type", "status",
    "labels", "created_at", "updated_at", "completed_at", kOurs};

std::string state_of(std::string_view status) {
  if (status.empty() || status == "Ready") return "ready";
  if (status == "Implementing") return "in_progress";
  if (status == "Done") return "done";
  if (status == "Postponed" || status == "Editing") return "pending";  // Editing: being written
  if (status == "Folded") return "rejected";  // its work is another task's now
  return std::string(status);
}

std::string status_of(std::string_view state) {
  if (state.empty() || state == "ready" || state == "backlog") return "Ready";
  if (state == "in_progress" || state == "in_review") return "Implementing";
  if (state == "done") return "Done";
  // There is no word for rejected: postponed work is not offered, and holds back what needs it.
  if (state == "pending" || state == "rejected") return "Postponed";
  // A state of a team's own is its own word, unless aitasks means something else by that.
  const std::string read = state_of(state);
  return read == state ? read : status_of(read);
}

std::string minute_word(std::int64_t unix_ms) {
  return unix_ms == 0 ? std::string() : local_minute(unix_ms);
}

}  // namespace

Result<AitasksFile> AitasksFile::parse(TaskName name, std::string_view text,
                                       const TaskAliases& aliases) {
  Result<FrontMatter> file = FrontMatter::parse(text);
  if (!file) return fail(file.error());
  return AitasksFile(std::move(name), *std::move(file), aliases);
}

bool AitasksFile::is_read(std::string_view key) {
  return std::ranges::find(kMapped, key) != kMapped.end();
}

std::optional<ItemId> AitasksFile::alias() const {
  const Result<Json> json = parse_json(carried());
  if (!json || text_member(*json, "as") != name_.id.text) return std::nullopt;
  const auto id = text_member(*json, "id");
  return id ? std::optional(ItemId{*id}) : std::nullopt;
}

// What lies in the archive is over, whatever its status was when it was put there.
std::string AitasksFile::state() const {
  const std::string state = state_of(file_.scalar("status").value_or(""));
  return name_.archived && state != "rejected" ? "done" : state;
}

// One blank line under the front matter belongs to neither.
std::string AitasksFile::body() const {
  const std::string& body = file_.body();
  if (!file_.has_head()) return body;
  if (body.starts_with("\r\n")) return body.substr(2);
  return body.starts_with('\n') ? body.substr(1) : body;
}

Result<Item> AitasksFile::said() const {
  Item item;
  item.id = name_.id;
  item.title = shown_title(file_.scalar("title").value_or(""), name_.title);
  item.body = body();
  item.state = state();
  item.priority = priority_of(file_.scalar("priority").value_or(""));
  for (const std::string& label : file_.list("labels").value_or(std::vector<std::string>{})) {
    if (!trim(label).empty()) item.labels.emplace_back(trim(label));
  }
  for (const std::string& on : file_.list("depends").value_or(std::vector<std::string>{})) {
    if (!on.empty()) item.depends_on.push_back(aliases_->item_of(task_id(on)));
  }
  item.estimate_min = minutes_of(file_.scalar("effort").value_or(""));
  item.type = file_.scalar("issue_type").value_or("");
  if (item.type.empty()) item.type = "feature";  // as aitasks takes it
  item.created_unix_ms = parse_local_time(file_.scalar("created_at").value_or("")).value_or(0);
  item.updated_unix_ms = parse_local_time(file_.scalar("updated_at").value_or("")).value_or(0);
  item.unknown_members = unknown_keys(file_, kMapped);
  if (Done checked = check_item(item); !checked) return fail(checked.error());
  return item;
}

std::string AitasksFile::carried() const { return file_.scalar(kOurs).value_or(""); }

std::string AitasksFile::in_its_words(const Item& item, ItemField field) const {
  switch (field) {
    case ItemField::title:
      return item.title;
    case ItemField::body:
      return item.body;
    case ItemField::state:
      return status_of(item.state);
    case ItemField::priority:
      return priority_word(item.priority);
    case ItemField::labels:
      return array_of(item.labels);
    case ItemField::depends_on: {
      std::vector<std::string> tasks;
      for (const ItemId& id : item.depends_on)
        tasks.push_back(task_id(aliases_->task_of(id).text).text);
      return array_of(tasks);
    }
    case ItemField::estimate_min:
      return effort_of(item.estimate_min);
    case ItemField::type:
      return item.type;
    case ItemField::created_at:
      return minute_word(item.created_unix_ms);
    case ItemField::updated_at:
      return minute_word(item.updated_unix_ms);
    case ItemField::unknown:
      return item.unknown_members;
    case ItemField::id:  // the file's name says it
    case ItemField::files:
    case ItemField::created_by:
    case ItemField::came_from:
    case ItemField::tries:
    case ItemField::comments:
      break;
  }
  return {};
}

// Nothing to say takes the key away.
void AitasksFile::put(std::string_view key, std::string_view words) {
  if (words.empty()) {
    file_.remove(key);
  } else {
    file_.set(key, words);
  }
}

void AitasksFile::put_state(const Item& item) {
  const std::string status = status_of(item.state);
  file_.set("status", status);
  if (status != "Done") return file_.remove("completed_at");
  if (file_.scalar("completed_at").value_or("").empty())
    put("completed_at", minute_word(item.updated_unix_ms));
}

// Entries that stay keep the form they were written in; new ones are numbers where aitasks has
// numbers.
void AitasksFile::put_dependencies(const Item& item) {
  const std::vector<std::string> before =
      file_.list("depends").value_or(std::vector<std::string>{});
  std::vector<std::string> entries;
  for (const ItemId& id : item.depends_on) {
    const ItemId task = task_id(aliases_->task_of(id).text);
    const auto same_task = [&](const std::string& entry) { return task_id(entry) == task; };
    const auto written = std::ranges::find_if(before, same_task);
    const bool number = task_number(task) && task.text.find('_') == std::string::npos;
    entries.push_back(written != before.end() ? *written
                      : number                ? task.text.substr(1)
                                              : task.text);
  }
  file_.set_list("depends", entries);
}

void AitasksFile::put_body(const std::string& body) {
  const std::string& old = file_.body();
  const bool led = old.starts_with('\n') || old.starts_with("\r\n");
  const bool needs_lead = old.empty() || body.starts_with('\n') || body.starts_with("\r\n");
  const bool lead = !body.empty() && (led || needs_lead);
  file_.set_body((lead ? std::string(file_.newline()) : std::string()) + body);
}

void AitasksFile::write(ItemField field, const Item& item) {
  file_.add_head();
  switch (field) {
    case ItemField::title:
      put("title", item.title == name_.title ? "" : item.title);
      break;
    case ItemField::body:
      put_body(item.body);
      break;
    case ItemField::state:
      put_state(item);
      break;
    case ItemField::priority:
      put("priority", priority_word(item.priority));
      break;
    case ItemField::labels:
      file_.set_list("labels", item.labels);
      break;
    case ItemField::depends_on:
      put_dependencies(item);
      break;
    case ItemField::estimate_min:
      put("effort", effort_of(item.estimate_min));
      break;
    case ItemField::type:
      put("issue_type", item.type);
      break;
    case ItemField::created_at:
      put("created_at", minute_word(item.created_unix_ms));
      break;
    case ItemField::updated_at:
      put("updated_at", minute_word(item.updated_unix_ms));
      break;
    case ItemField::unknown:
      put_unknown_keys(file_, kMapped, item);
      break;
    case ItemField::id:
    case ItemField::files:
    case ItemField::created_by:
    case ItemField::came_from:
    case ItemField::tries:
    case ItemField::comments:
      break;
  }
}

void AitasksFile::carry(std::string_view json) {
  file_.add_head();
  put(kOurs, json);
}

}  // namespace dibs
