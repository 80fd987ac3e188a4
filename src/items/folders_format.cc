#include "items/folders_format.h"

#include <map>

#include "items/origin.h"
#include "items/work_folders.h"

namespace dibs {

namespace {

constexpr std::size_t kDepthMax = 4;  // category, a state of two folders, the item

// Markdown says what an item is; everything else stays where it lies.
std::optional<ItemId> work_of(std::string_view name) {
  ItemFormat::Place place = place_of_work(name);
  if (!name.ends_with(kMarkdown) || place.id.empty()) return std::nullopt;
  return std::move(place.id);
}

Done read_below(SourceFiles& files, const std::string& folder, const std::string& below,
                std::size_t depth, FolderTexts& into) {
  if (Done read = read_folder(files, folder, below, work_of, into); !read) return read;
  if (depth == kDepthMax) return {};
  const Result<std::vector<std::string>> names = files.folders_in(path_below(folder, below));
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    if (name.starts_with('.')) continue;
    if (Done read = read_below(files, folder, below + name + "/", depth + 1, into); !read)
      return read;
  }
  return {};
}

std::map<std::string, std::string> by_name(const std::vector<TextFile>& texts) {
  std::map<std::string, std::string> by_name;
  for (const TextFile& file : texts) by_name[file.name] = file.text;
  return by_name;
}

WorkFolders work_in(const std::vector<TextFile>& texts) {
  std::vector<FolderEntry> entries;
  for (const TextFile& file : texts) entries.push_back({.path = file.name});
  WorkFolders work(Workflow::folders(), entries);
  work.read(by_name(texts));
  return work;
}

// The files that items had where they came from.
std::vector<TextFile> originals_of(const std::vector<Item>& items) {
  std::vector<TextFile> originals;
  for (const Item& item : items) {
    if (const auto origin = origin_in(item, kFoldersFormat))
      originals.push_back({.name = origin->name, .text = origin->text});
  }
  return originals;
}

}  // namespace

ItemFormat::Place place_of_work(std::string_view name) {
  const FolderLayout layout(Workflow::folders());
  std::optional<FolderPlace> place = layout.place_of(name);
  if (!place) place = layout.stray(name);
  if (!place) return {.id = {}, .path = std::string(name)};
  return {.id = {place->name}, .path = place->path()};
}

Done read_work_texts(SourceFiles& files, const std::string& folder, FolderTexts& into) {
  return read_below(files, folder, {}, 0, into);
}

// By value, as other forms want it (ItemFormat::import_texts).
ItemList import_folders(
    std::vector<TextFile> texts) {  // NOLINT(performance-unnecessary-value-param)
  ItemList list = work_in(texts).list();
  const std::map<std::string, std::string> files = by_name(texts);
  for (StoredItem& stored : list.items) {
    const auto text = files.find(stored.file);
    if (text == files.end()) continue;  // nothing but a name
    Origin origin;
    origin.format = kFoldersFormat;
    origin.name = stored.file;
    origin.text = text->second;
    stored.item = with_origin(std::move(stored.item), origin);
  }
  return list;
}

Result<std::vector<TextFile>> export_folders(const std::vector<Item>& items) {
  const std::vector<TextFile> originals = originals_of(items);
  const WorkFolders work = work_in(originals);
  std::vector<ItemSource::Change> changes;
  for (const Item& item : items) {
    const FoundItem* there = find_item(work.found(), item.id);
    changes.push_back({.item = before_origin(item, kFoldersFormat), .expected = {}});
    if (there != nullptr) changes.back().expected = there->stored.version;
  }
  const auto writes = work.changes(changes, Precision::exact);
  if (!writes) return fail(writes.error());
  std::map<std::string, std::string> files;
  for (const TextFile& file : originals) files[(*writes)->moved(file.name)] = file.text;
  for (const WorkFolders::Text& file : (*writes)->files) files[file.path] = file.text;
  std::vector<TextFile> texts;
  for (auto& [name, text] : files) texts.push_back({.name = name, .text = std::move(text)});
  return texts;
}

}  // namespace dibs
