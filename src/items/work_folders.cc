#include "items/work_folders.h"

#include <fmt/core.h>

#include "base/text.h"

namespace dibs {

namespace {

constexpr std::string_view kReadmeBelow = "/README.md";

// README.md says what the item is, else the file of its name, else the first there is.
int rank_of(std::string_view main, const std::string& name) {
  if (main == kReadmeBelow) return 0;
  return main == "/" + name + std::string(kMarkdown) ? 1 : 2;
}

// A change as far as these files note it: whether something changed at all says git.
Item as_the_form_has_it(Item item, const FolderFile& file, const Item* before,
                        const Workflow& workflow) {
  if (before != nullptr && !file.notes_changes()) item.updated_unix_ms = before->updated_unix_ms;
  if (item.state.empty()) item.state = workflow.initial();
  return item;
}

}  // namespace

std::string WorkFolders::Writes::moved(std::string path) const {
  for (const Move& move : moves) {
    if (path == move.from || path.starts_with(move.from + "/"))
      path.replace(0, move.from.size(), move.to);
  }
  return path;
}

WorkFolders::WorkFolders(const Workflow& workflow, const std::vector<FolderEntry>& entries)
    : layout_(workflow) {
  for (const FolderEntry& entry : entries) take(entry);
}

void WorkFolders::take(const FolderEntry& entry) {
  const std::optional<FolderPlace> place = layout_.place_of(entry.path);
  if (place) {
    const auto [at, is_new] = by_path_.try_emplace(place->path(), work_.size());
    if (is_new) work_.push_back({.place = *place});
    return take_main(work_[at->second], entry);
  }
  const std::optional<FolderPlace> stray = layout_.stray(entry.path);
  if (!stray || by_path_.contains(stray->path())) return;
  by_path_.emplace(stray->path(), SIZE_MAX);
  broken_.push_back({.file = stray->path(),
                     .line = 0,
                     .why = "it lies in no state of the workflow",
                     .id = {stray->name}});
}

void WorkFolders::take_main(Work& work, const FolderEntry& entry) {
  const std::string below = entry.path.substr(work.place.path().size());
  const bool is_direct = below.find('/', 1) == std::string::npos;
  if (!is_direct || (!below.empty() && !below.ends_with(kMarkdown)) || below.starts_with("/."))
    return;
  const std::string& name = work.place.name;
  const auto order = [&](const std::string& main) { return std::pair(rank_of(main, name), main); };
  if (work.has_main && order(work.main) <= order(below)) return;
  work.main = below;
  work.has_main = true;
  work.unreadable_why = entry.unreadable_why;
}

std::vector<std::string> WorkFolders::main_files() const {
  std::vector<std::string> paths;
  for (const Work& work : work_) {
    if (work.has_main && work.unreadable_why.empty()) paths.push_back(work.main_path());
  }
  return paths;
}

void WorkFolders::read(const std::map<std::string, std::string>& texts) {
  for (std::size_t i = 0; i < work_.size(); ++i) {
    Work& work = work_[i];
    const auto text = texts.find(work.main_path());
    if (text != texts.end()) work.text = text->second;
    if (text == texts.end() && work.has_main && work.unreadable_why.empty())
      work.unreadable_why = "it is too large";
    read(i);
  }
  set_duplicates_aside(found_, broken_);
}

void WorkFolders::read(std::size_t index) {
  const Work& work = work_[index];
  const std::string file = work.has_main ? work.main_path() : work.place.path();
  const auto set_aside = [&](std::size_t line, const std::string& why) {
    broken_.push_back({.file = file, .line = line, .why = why, .id = {work.place.name}});
  };
  if (!work.unreadable_why.empty()) return set_aside(0, work.unreadable_why);
  if (!is_utf8(work.text)) return set_aside(0, "it is not UTF-8");
  const Result<FolderFile> parsed = FolderFile::parse(layout_, work.place, work.text);
  if (!parsed) return set_aside(line_of(parsed.error()), parsed.error().message);
  Result<Item> item = meant_by(*parsed);
  if (!item) return set_aside(line_of(item.error()), item.error().message);
  found_.push_back({.stored = {.item = *std::move(item),
                               .version = version_of(work.place.path() + "\n" + work.text),
                               .file = file},
                    .line = 0,
                    .index = index});
}

// What gets another name has to be as expected under the old one, and the new one free.
Result<Comparison> WorkFolders::standing(const ItemSource::Change& change) const {
  if (change.was.empty()) return standing_of(change, found_, broken_);
  ItemSource::Change before = change;
  before.item.id = change.was;
  Result<Comparison> old = standing_of(before, found_, broken_);
  if (!old || *old == Comparison::moved) return old;
  return standing_of({.item = change.item, .expected = {}}, found_, broken_);
}

WorkFolders::Work WorkFolders::work_of(const ItemSource::Change& change) const {
  const FoundItem* there = found_for(change);
  if (there != nullptr) return work_[there->index];
  Work work{.place = {.name = FolderLayout::name_for(change.item.id)},
            .main = std::string(kReadmeBelow),
            .text = fmt::format("# {}\n", change.item.title)};
  work.place.state = layout_.folder_for(change.item.state);
  if (layout_.has_category(work.place.state))
    work.place.category = layout_.category_for(change.item.type);
  return work;
}

// It must be found again where it is put, and nothing else may lie there.
Done WorkFolders::check_place(const Work& work, const ItemId& id,
                              std::set<std::string>& taken) const {
  const std::string path = work.place.path();
  if (by_path_.contains(path) || !taken.insert(path).second)
    return fail(ErrorKind::refused,
                fmt::format("{} cannot lie at {}: something else does", printable(id.text),
                            printable(path)),
                "rename one of them");
  if (layout_.place_of(work.main_path()) == work.place) return {};
  return fail(ErrorKind::refused,
              fmt::format("{} cannot lie at {}: that means something else", printable(id.text),
                          printable(path)),
              "give it another name or type");
}

const FoundItem* WorkFolders::found_for(const ItemSource::Change& change) const {
  return find_item(found_, change.was.empty() ? change.item.id : change.was);
}

Result<FolderFile> WorkFolders::rewritten(const Work& work, const ItemSource::Change& change,
                                          Precision precision) const {
  Result<FolderFile> file = FolderFile::parse(layout_, work.place, work.text);
  if (!file) return file;
  const FoundItem* there = found_for(change);
  Item item = change.item;
  if (precision == Precision::of_the_form)
    item = as_the_form_has_it(std::move(item), *file,
                              there == nullptr ? nullptr : &there->stored.item, layout_.workflow());
  if (!change.was.empty()) {
    file->rename(FolderLayout::name_for(item.id));
    if (!file->is_titled()) item.title = file->place().name;
  }
  if (Done written = rewrite(*file, item); !written) return fail(written.error());
  return file;
}

Done WorkFolders::add(const ItemSource::Change& change, Precision precision,
                      std::set<std::string>& taken, Writes& writes) const {
  const Work before = work_of(change);
  const bool is_new = found_for(change) == nullptr;
  const Result<FolderFile> file = rewritten(before, change, precision);
  if (!file) return fail(file.error());
  Work after = before;
  after.place = file->place();
  if (!after.has_main && after.place.shape != FolderPlace::Shape::file) after.main = kReadmeBelow;
  if (is_new || after.place != before.place) {
    if (Done free = check_place(after, change.item.id, taken); !free) return free;
  }
  if (!is_new && after.place != before.place)
    writes.moves.push_back({.from = before.place.path(), .to = after.place.path()});
  // The file of the item's name follows it, or another might be the first.
  if (before.has_main && !change.was.empty() && rank_of(before.main, before.place.name) == 1) {
    after.main = "/" + after.place.name + std::string(kMarkdown);
    writes.moves.push_back({.from = after.place.path() + before.main, .to = after.main_path()});
  }
  if (is_new || file->text() != before.text)
    writes.files.push_back(
        {.path = after.main_path(), .was = before.main_path(), .text = file->text()});
  return {};
}

Result<std::optional<WorkFolders::Writes>> WorkFolders::changes(
    const std::vector<ItemSource::Change>& changes, Precision precision) const {
  if (Done once = check_batch(changes); !once) return fail(once.error());
  for (const ItemSource::Change& change : changes) {
    const Result<Comparison> standing = this->standing(change);
    if (!standing) return fail(standing.error());
    if (*standing == Comparison::moved) return std::nullopt;
  }
  Writes writes;
  std::set<std::string> taken;
  for (const ItemSource::Change& change : changes) {
    if (Done added = add(change, precision, taken, writes); !added) return fail(added.error());
  }
  return writes;
}

std::vector<WorkFolders::Move> torn_apart(const FolderLayout& layout,
                                          const std::vector<std::string>& before,
                                          const std::vector<std::string>& after) {
  std::map<std::string, std::set<std::string>> places;  // where things of that name lay
  for (const std::string& path : before) {
    const std::optional<FolderPlace> place = layout.place_of(path);
    if (place) places[place->name].insert(place->path());
  }
  const std::set<std::string> there(after.begin(), after.end());
  std::vector<WorkFolders::Move> moves;
  for (const std::string& path : after) {
    const std::optional<FolderPlace> place = layout.place_of(path);
    if (!place || place->shape == FolderPlace::Shape::file) continue;
    const std::set<std::string>& known = places[place->name];
    if (known.size() != 1 || known.contains(place->path())) continue;
    const std::string home = *known.begin() + "/";
    const auto rest = there.lower_bound(home);  // nothing there: the work moved all of it
    if (rest == there.end() || !rest->starts_with(home)) continue;
    const std::string to = home + path.substr(place->path().size() + 1);
    if (!there.contains(to)) moves.push_back({.from = path, .to = to});
  }
  return moves;
}

}  // namespace dibs
