#include "items/beads_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::size_t kAncestorsMax = 100;

bool holds(const std::vector<ItemId>& ids, const ItemId& id) {
  return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

BeadsFile::BeadsFile(std::string text, std::string name)
    : text_(std::move(text)), name_(std::move(name)), lines_(lines_of(text_)) {
  for (std::size_t i = 0; i < lines_.size(); ++i) read_line(i);
  std::vector<FoundItem> found;
  std::map<std::size_t, std::vector<ItemId>> parents;  // by line
  for (Issue& issue : issues_) {
    if (!issue.parents.empty()) parents[issue.found.line] = std::move(issue.parents);
    found.push_back(std::move(issue.found));
  }
  set_duplicates_aside(found, broken_);
  issues_.clear();
  for (FoundItem& item : found) {
    const auto of = parents.find(item.line);
    Issue issue{.found = std::move(item), .parents = {}, .inherited = {}};
    if (of != parents.end()) issue.parents = std::move(of->second);
    issues_.push_back(std::move(issue));
  }
  if (!parents.empty()) inherit();
}

void BeadsFile::read_line(std::size_t index) {
  const std::string_view text = lines_[index].in(text_);
  if (trim(text).empty()) return;
  const auto set_aside = [&](const std::string& why, ItemId id) {
    broken_.push_back({.file = name_, .line = index + 1, .why = why, .id = std::move(id)});
  };
  if (text.size() > kItemFileBytesMax) return set_aside("it is too large", {});
  const Result<BeadsLine> line = BeadsLine::parse(text);
  if (!line) return set_aside(is_utf8(text) ? line.error().message : "it is not UTF-8", {});
  if (line->is_deleted()) return deleted_.push_back(line->id());
  Result<Item> item = meant_by(*line);
  if (!item) return set_aside(item.error().message, line->id());
  issues_.push_back(
      {.found = {.stored = {.item = *std::move(item), .version = version_of(text), .file = name_},
                 .line = index + 1,
                 .index = index},
       .parents = line->parents(),
       .inherited = {}});
}

const BeadsFile::Issue* BeadsFile::find(const ItemId& id) const {
  const auto at = std::ranges::lower_bound(
      issues_, id, {}, [](const Issue& issue) { return issue.found.stored.item.id; });
  return at == issues_.end() || at->found.stored.item.id != id ? nullptr : &*at;
}

// All above it, nearest first.
std::vector<const BeadsFile::Issue*> BeadsFile::ancestors_of(const Issue& issue) const {
  std::vector<const Issue*> ancestors;
  const auto add = [&](const std::vector<ItemId>& parents) {
    for (const ItemId& id : parents) {
      const Issue* parent = find(id);
      const bool is_new =
          parent != nullptr && std::ranges::find(ancestors, parent) == ancestors.end();
      if (is_new) ancestors.push_back(parent);
    }
  };
  add(issue.parents);
  for (std::size_t i = 0; i < ancestors.size() && i < kAncestorsMax; ++i)
    add(ancestors[i]->parents);
  return ancestors;
}

// A parent that waits for its own parts holds none of them back.
void BeadsFile::inherit() {
  std::set<std::pair<ItemId, ItemId>> parts;  // parent, part
  for (const Issue& issue : issues_) {
    for (const ItemId& parent : issue.parents) parts.emplace(parent, issue.found.stored.item.id);
  }
  for (Issue& issue : issues_) {
    const Item& item = issue.found.stored.item;
    for (const Issue* parent : ancestors_of(issue)) {
      const Item& above = parent->found.stored.item;
      for (const ItemId& on : above.depends_on) {
        const bool part = on == item.id || parts.contains({above.id, on});
        if (!part && !holds(item.depends_on, on) && !holds(issue.inherited, on))
          issue.inherited.push_back(on);
      }
    }
  }
}

std::vector<FoundItem> BeadsFile::in_order() const {
  std::vector<FoundItem> found;
  for (const Issue& issue : issues_) found.push_back(issue.found);
  std::ranges::sort(found, {}, &FoundItem::index);
  return found;
}

ItemList BeadsFile::list() const {
  std::vector<FoundItem> found;
  found.reserve(issues_.size());
  for (const Issue& issue : issues_) {
    FoundItem item = issue.found;
    std::vector<ItemId>& depends_on = item.stored.item.depends_on;
    depends_on.insert(depends_on.end(), issue.inherited.begin(), issue.inherited.end());
    for (const ItemId& on : issue.inherited) item.stored.version += "+" + on.text;
    found.push_back(std::move(item));
  }
  return listed(found, broken_);
}

Result<std::string> BeadsFile::changed_line(const ItemSource::Change& change) const {
  const Issue* issue = find(change.item.id);
  Item item = change.item;
  for (const ItemId& on : issue == nullptr ? std::vector<ItemId>{} : issue->inherited) {
    if (std::erase(item.depends_on, on) == 0)
      return fail(ErrorKind::refused,
                  fmt::format("{} waits for {} because what it is a part of does",
                              printable(item.id.text), printable(on.text)),
                  "take the dependency from the issue above it");
  }
  Result<BeadsLine> line = issue == nullptr
                               ? BeadsLine::empty(item.id)
                               : BeadsLine::parse(lines_[issue->found.index].in(text_));
  if (!line) return fail(line.error());
  if (Done written = rewrite(*line, item); !written) return fail(written.error());
  return line->text();
}

std::string BeadsFile::with_lines(const std::map<std::size_t, std::string>& replaced,
                                  const std::vector<std::string>& added) const {
  const bool windows = !lines_.empty() && lines_[0].next - lines_[0].end == 2;
  const std::string_view newline = windows ? "\r\n" : "\n";
  std::string text;
  text.reserve(text_.size());
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto with = replaced.find(i);
    text += with == replaced.end() ? lines_[i].in(text_) : std::string_view(with->second);
    text += std::string_view(text_).substr(lines_[i].end, lines_[i].next - lines_[i].end);
  }
  for (const std::string& line : added) {
    if (!text.empty() && !text.ends_with('\n')) text += newline;
    text += line;
    text += newline;
  }
  return text;
}

Result<std::optional<std::string>> BeadsFile::changed(
    const std::vector<ItemSource::Change>& changes) const {
  if (Done once = check_batch(changes); !once) return fail(once.error());
  std::vector<FoundItem> found;
  for (StoredItem& stored : list().items) found.push_back({.stored = std::move(stored)});
  std::map<std::size_t, std::string> replaced;  // by line
  std::vector<std::string> added;
  for (const ItemSource::Change& change : changes) {
    if (holds(deleted_, change.item.id))
      return fail(ErrorKind::refused,
                  fmt::format("{} was deleted in beads", printable(change.item.id.text)),
                  "choose another id");
    const Result<Comparison> standing = standing_of(change, found, broken_);
    if (!standing) return fail(standing.error());
    if (*standing == Comparison::moved) return std::nullopt;
    Result<std::string> line = changed_line(change);
    if (!line) return fail(line.error());
    const Issue* issue = find(change.item.id);
    std::string& place = issue == nullptr ? added.emplace_back() : replaced[issue->found.index];
    place = *std::move(line);
  }
  return with_lines(replaced, added);
}

}  // namespace dibs
