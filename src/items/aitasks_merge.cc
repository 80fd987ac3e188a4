#include "items/aitasks_merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "items/aitasks_file.h"
#include "items/clash.h"
#include "items/foreign_merge.h"
#include "items/found_items.h"
#include "items/keyed_merge.h"

namespace dibs {

namespace {

constexpr std::string_view kFolder = "aitasks/";
constexpr std::string_view kKey = "key ";  // before what a front matter's key is

// From a path in the repository.
std::optional<TaskName> name_at(std::string_view path) {
  const std::size_t at = path.starts_with(kFolder) ? 0 : path.rfind("/" + std::string(kFolder));
  if (at == std::string_view::npos) return std::nullopt;
  return task_name(path.substr(at + kFolder.size() + (at == 0 ? 0 : 1)));
}

/// One version, read as lines and as a task.
struct TaskVersion {
  FrontMatter lines;
  AitasksFile task;
};

Result<TaskVersion> read_version(const TaskName& name, const std::string& text,
                                 const TaskAliases& aliases, std::string_view whose) {
  Result<FrontMatter> lines = FrontMatter::parse(text);
  Result<AitasksFile> task = AitasksFile::parse(name, text, aliases);
  if (lines && task) return TaskVersion{.lines = *std::move(lines), .task = *std::move(task)};
  return fail(ErrorKind::refused,
              fmt::format("{} version cannot be read: {}", whose,
                          lines ? task.error().message : lines.error().message));
}

// The front matter's keys with all their lines; the fences, comments and blank lines by what they
// say.
std::vector<KeyedText> keyed_head(std::string_view head, const std::vector<FrontField>& fields) {
  std::vector<KeyedText> keyed;
  std::map<std::string_view, std::size_t> others;  // how often each was there
  auto field = fields.begin();
  for (const TextLine& line : lines_of(head)) {
    if (field != fields.end() && line.begin >= field->end) ++field;
    if (field != fields.end() && line.begin == field->begin) {
      keyed.push_back({.key = std::string(kKey) + field->key,
                       .text = head.substr(field->begin, field->end - field->begin)});
    } else if (field == fields.end() || line.begin < field->begin) {
      const std::string_view bare = line.in(head);
      keyed.push_back(
          {.key = fmt::format("line {} {}", ++others[bare], bare), .text = line.whole_in(head)});
    }
  }
  return keyed;
}

std::vector<KeyedText> keyed_head(const FrontMatter& lines, std::string_view text) {
  return keyed_head(text.substr(0, text.size() - lines.body().size()), lines.fields());
}

class TaskMerge {
 public:
  TaskMerge(const FileVersions& texts, const TaskVersion* base, const TaskVersion& ours,
            const TaskVersion& theirs)
      : texts_(texts), base_(base), ours_(ours), theirs_(theirs) {
    const auto status = [](const TaskVersion& version) { return version.lines.scalar("status"); };
    const auto was = base == nullptr ? std::nullopt : status(*base);
    status_clashes_ = settle(was, status(ours), status(theirs)) == Settled::clash;
  }

  // With the preferred side's where both changed a key that dibs does not know.
  Result<MergedFile> run(Side preferred) const {
    MergedFile merged;
    const auto base =
        base_ == nullptr ? std::vector<KeyedText>{} : keyed_head(base_->lines, texts_.base);
    const auto ours = keyed_head(ours_.lines, texts_.ours);
    const auto theirs = keyed_head(theirs_.lines, texts_.theirs);
    for (const KeyedVersions& entry : merged_list(base, ours, theirs)) {
      add(merged.text, chosen(entry, preferred, merged.clashes));
    }
    const std::string body(chosen_body());
    if (!body.empty()) add(merged.text, body);
    return with_meanings(std::move(merged));
  }

  [[nodiscard]] std::string_view newline() const { return ours_.lines.newline(); }

 private:
  void add(std::string& out, std::string_view text) const {
    if (!out.empty() && !out.ends_with('\n')) out += newline();
    out += text;
  }

  [[nodiscard]] std::string_view chosen(const KeyedVersions& entry, Side preferred,
                                        std::vector<std::string>& clashes) const {
    // When both changed the status, its time goes with it.
    if (status_clashes_ && entry.key == "key completed_at") return entry.ours.value_or("");
    const Settled settled = settle(entry.base, entry.ours, entry.theirs);
    if (settled == Settled::ours) return *entry.ours;
    if (settled == Settled::theirs) return *entry.theirs;
    const std::string_view key = std::string_view(entry.key).substr(kKey.size());
    if (key == "completed_at") return std::max(*entry.ours, *entry.theirs);
    if (AitasksFile::is_read(key)) return *entry.ours;  // by the item's rules, afterwards
    clashes.emplace_back(key);
    return preferred == Side::ours ? *entry.ours : *entry.theirs;
  }

  // Where both changed it, it is merged with the item's other fields.
  [[nodiscard]] std::string_view chosen_body() const {
    std::optional<std::string_view> base;
    if (base_ != nullptr) base = base_->lines.body();
    const std::string& theirs = theirs_.lines.body();
    const std::string& ours = ours_.lines.body();
    return settle(base, ours, theirs) == Settled::theirs ? theirs : ours;
  }

  [[nodiscard]] Result<MergedFile> with_meanings(MergedFile merged) const {
    const TaskAliases none;
    Result<AitasksFile> task = AitasksFile::parse(ours_.task.name(), merged.text, none);
    if (!task) return fail(task.error());
    const ForeignVersions versions{.base = base_ == nullptr ? nullptr : &base_->task,
                                   .ours = ours_.task,
                                   .theirs = theirs_.task};
    if (Done meant = merge_meanings(*task, versions); !meant) return fail(meant.error());
    merged.text = task->text();
    return merged;
  }

  const FileVersions& texts_;
  const TaskVersion* base_;
  const TaskVersion& ours_;
  const TaskVersion& theirs_;
  bool status_clashes_ = false;
};

// Two clones may give one number and one name to two tasks.
bool are_two_tasks(const TaskVersion& ours, const TaskVersion& theirs) {
  return ours.lines.scalar("created_at") != theirs.lines.scalar("created_at");
}

}  // namespace

bool is_task_file(std::string_view path) { return name_at(path).has_value(); }

Result<MergedFile> merge_task_files(const FileVersions& versions) {
  const std::optional<TaskName> name = name_at(versions.path);
  if (!name) return fail(ErrorKind::refused, "it is no task");
  const TaskAliases none;
  // A base that cannot be read tells nothing, so everything counts as added.
  const Result<TaskVersion> base = read_version(*name, versions.base, none, "the base");
  const Result<TaskVersion> ours = read_version(*name, versions.ours, none, "our");
  if (!ours) return fail(ours.error());
  const Result<TaskVersion> theirs = read_version(*name, versions.theirs, none, "their");
  if (!theirs) return fail(theirs.error());
  const bool has_base = base && !versions.base.empty();
  if (!has_base && are_two_tasks(*ours, *theirs))
    return fail(ErrorKind::refused, "they are two tasks");
  const TaskMerge merge(versions, has_base ? &*base : nullptr, *ours, *theirs);
  Result<MergedFile> merged = merge.run(Side::ours);
  if (!merged || merged->clashes.empty()) return merged;
  const Result<MergedFile> other = merge.run(Side::theirs);
  if (!other) return fail(other.error());
  merged->text = with_marks(merged->text, other->text, merge.newline());
  return merged;
}

}  // namespace dibs
