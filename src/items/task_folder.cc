#include "items/task_folder.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::int64_t kMinuteMs = 60'000;

// A change as far as the folder has words of its own for it.
Item as_the_form_has_it(Item item, const Item* before) {
  const auto whole_minute = [](std::int64_t& unix_ms, std::int64_t was) {
    if (unix_ms != was) unix_ms -= unix_ms % kMinuteMs;
  };
  whole_minute(item.created_unix_ms, before == nullptr ? 0 : before->created_unix_ms);
  whole_minute(item.updated_unix_ms, before == nullptr ? 0 : before->updated_unix_ms);
  if (item.state.empty() && (before == nullptr || !before->state.empty())) item.state = "ready";
  return item;
}

bool belongs_in_the_archive(const Item& item) {
  return item.state == "done" || item.state == "rejected";
}

}  // namespace

TaskFolder::TaskFolder(std::vector<TextFile> files, std::vector<BrokenItem> broken)
    : files_(std::move(files)), broken_(std::move(broken)) {
  const auto note = [&](const ItemId& id) {
    largest_ = std::max(largest_, task_number(id).value_or(0));
  };
  for (const BrokenItem& one : broken_) note(one.id);
  // Ids first: dependencies of any file may be on any other.
  for (const TextFile& file : files_) {
    const std::optional<TaskName> name = task_name(file.name);
    if (!name) continue;
    note(name->id);
    const Result<AitasksFile> task = AitasksFile::parse(*name, file.text, aliases_);
    const std::optional<ItemId> alias = task ? task->alias() : std::nullopt;
    if (alias) aliases_.add(name->id, *alias);
  }
  for (std::size_t i = 0; i < files_.size(); ++i) read(i);
  set_duplicates_aside(found_, broken_);
}

void TaskFolder::read(std::size_t index) {
  const TextFile& file = files_[index];
  const std::optional<TaskName> name = task_name(file.name);
  if (!name) return;
  const auto set_aside = [&](std::size_t line, const std::string& why) {
    broken_.push_back({.file = file.name, .line = line, .why = why, .id = name->id});
  };
  if (file.text.size() > kItemFileBytesMax) return set_aside(0, "it is too large");
  if (!is_utf8(file.text)) return set_aside(0, "it is not UTF-8");
  const Result<AitasksFile> task = AitasksFile::parse(*name, file.text, aliases_);
  if (!task) return set_aside(line_of(task.error()), task.error().message);
  Result<Item> item = meant_by(*task);
  if (!item) return set_aside(line_of(item.error()), item.error().message);
  found_.push_back(
      {.stored = {.item = *std::move(item), .version = version_of(file.text), .file = file.name},
       .line = 0,
       .index = index});
}

Result<TextFile> TaskFolder::changed(const Item& item, const TaskAliases& aliases) const {
  const FoundItem* there = find_item(found_, item.id);
  TextFile file;
  if (there != nullptr) file = files_[there->index];
  if (there == nullptr)
    file.name = task_path(aliases.task_of(item.id), item.title).value_or(std::string());
  // What is taken up again leaves the archive.
  if (file.name.starts_with(kTaskArchive) && !belongs_in_the_archive(item))
    file.name.erase(0, kTaskArchive.size());
  const std::optional<TaskName> name = task_name(file.name);
  if (!name) return fail(ErrorKind::internal, fmt::format("{} has no file", item.id.text));
  Result<AitasksFile> task = AitasksFile::parse(*name, file.text, aliases);
  if (!task) return fail(task.error());
  if (Done written = rewrite(*task, item); !written) return fail(written.error());
  file.text = task->text();
  return file;
}

Result<std::optional<TaskFolder::Writes>> TaskFolder::changes(
    const std::vector<ItemSource::Change>& changes, Precision precision) const {
  if (Done once = check_batch(changes); !once) return fail(once.error());
  TaskAliases aliases = aliases_;
  std::uint64_t largest = largest_;
  for (const ItemSource::Change& change : changes)
    largest = std::max(largest, task_number(change.item.id).value_or(0));
  for (const ItemSource::Change& change : changes) {
    const Result<Comparison> standing = standing_of(change, found_, broken_);
    if (!standing) return fail(standing.error());
    if (*standing == Comparison::moved) return std::nullopt;
    const bool needs_number = !change.expected && !task_number(change.item.id);
    if (needs_number) aliases.add(next_task(largest++), change.item.id);
  }
  Writes writes;
  for (const ItemSource::Change& change : changes) {
    const FoundItem* there = find_item(found_, change.item.id);
    const Item* before = there == nullptr ? nullptr : &there->stored.item;
    Result<TextFile> file = changed(
        precision == Precision::exact ? change.item : as_the_form_has_it(change.item, before),
        aliases);
    if (!file) return fail(file.error());
    if (there != nullptr && files_[there->index].name != file->name)
      writes.removed.push_back(files_[there->index].name);
    if (there == nullptr || files_[there->index] != *file) writes.files.push_back(*std::move(file));
  }
  return writes;
}

}  // namespace dibs
