#include "items/item_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "items/aitasks_source.h"
#include "items/beads_file.h"
#include "items/folders_format.h"
#include "items/json_line.h"
#include "items/origin.h"
#include "items/tree_source.h"

namespace dibs {

namespace {

constexpr std::string_view kBeads = "beads";
constexpr std::string_view kAitasks = "aitasks";
constexpr std::string_view kJson = "json";

std::string_view line_end_of(std::string_view line) {
  if (line.ends_with("\r\n")) return line.substr(line.size() - 2);
  return line.ends_with('\n') ? line.substr(line.size() - 1) : std::string_view();
}

// --- files with an item a line ---

// Puts each line, and the lines around it that are no items, beside its item.
ItemList with_lines_as_origins(std::string_view text, std::vector<FoundItem> found,
                               const std::vector<BrokenItem>& broken, std::string_view format) {
  const std::vector<TextLine> lines = lines_of(text);
  std::set<std::size_t> left_out;
  for (const BrokenItem& one : broken) left_out.insert(one.line);
  const auto between = [&](std::size_t from, std::size_t to) {
    std::string others;
    for (std::size_t i = from; i < to; ++i) {
      if (!left_out.contains(i + 1)) others += lines[i].whole_in(text);
    }
    return others;
  };
  std::size_t next = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t index = found[i].index;
    const bool last = i + 1 == found.size();
    Origin origin{.format = std::string(format),
                  .name = {},
                  .line = index + 1,
                  .before = between(next, index),
                  .text = std::string(lines[index].whole_in(text)),
                  .after = last ? between(index + 1, lines.size()) : std::string()};
    found[i].stored.item = with_origin(std::move(found[i].stored.item), origin);
    next = index + 1;
  }
  std::ranges::sort(found, {}, [](const FoundItem& item) { return item.stored.item.id; });
  return listed(found, broken);
}

// Lines with an origin in their old order, then the others in the order given.
Result<std::vector<TextFile>> as_lines(const std::vector<Item>& items, std::string_view format,
                                       Result<std::string> (*line_for)(const Item& item,
                                                                       std::string_view origin)) {
  std::vector<std::pair<const Item*, Origin>> order;
  for (const Item& item : items) {
    Origin none;
    none.line = SIZE_MAX - items.size() + order.size();  // behind all others, in their order
    order.emplace_back(&item, origin_in(item, format).value_or(none));
  }
  std::ranges::sort(order, {}, [](const auto& entry) { return entry.second.line; });
  std::string text;
  const auto add = [&](std::string_view more) {
    if (!text.empty() && !text.ends_with('\n') && !more.empty()) text += '\n';
    text += more;
  };
  for (const auto& [item, origin] : order) {
    const std::string_view end = origin.text.empty() ? "\n" : line_end_of(origin.text);
    const std::string_view old(origin.text.data(),
                               origin.text.size() - line_end_of(origin.text).size());
    const Result<std::string> line = line_for(before_origin(*item, format), old);
    if (!line) return fail(line.error());
    add(origin.before);
    add(*line + std::string(end));
    add(origin.after);
  }
  return std::vector<TextFile>{{.name = {}, .text = std::move(text)}};
}

ItemList import_beads(std::vector<TextFile> texts) {
  const BeadsFile file(std::move(texts.front().text), texts.front().name);
  return with_lines_as_origins(file.text(), file.in_order(), file.broken(), kBeads);
}

Result<std::string> beads_line_for(const Item& item, std::string_view origin) {
  Result<BeadsLine> line = origin.empty() ? BeadsLine::empty(item.id) : BeadsLine::parse(origin);
  if (!line) return fail(line.error());
  if (Done written = rewrite(*line, item); !written) return fail(written.error());
  return line->text();
}

Result<std::vector<TextFile>> export_beads(const std::vector<Item>& items) {
  return as_lines(items, kBeads, beads_line_for);
}

// --- items of our own, one a line ---

Result<std::string> json_line_for(const Item& item, std::string_view origin) {
  if (!origin.empty()) return edited_item_file(origin, item);
  return JsonObject().add("schema_version", 1).add_members(public_members(item)).text();
}

void take_item(const TextFile& file, std::string_view text, std::size_t index,
               std::vector<FoundItem>& found, std::vector<BrokenItem>& broken) {
  Result<Item> item = item_from_json(text);
  if (!item) {
    broken.push_back({.file = file.name, .line = index + 1, .why = item.error().message, .id = {}});
    return;
  }
  StoredItem stored{.item = *std::move(item), .version = version_of(text), .file = file.name};
  found.push_back({.stored = std::move(stored), .line = index + 1, .index = index});
}

// [ {…}, {…} ]: read, but written as lines.
ItemList import_array(const TextFile& file) {
  std::vector<FoundItem> found;
  std::vector<BrokenItem> broken;
  const std::string_view text = file.text;
  for (std::size_t at = text.find('[') + 1; at < text.size();) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    const std::size_t end = std::min(skip_json_value(text, begin), text.size());
    const std::string_view entry = trim(text.substr(begin, end - begin));
    const std::size_t line =
        lines_of(text.substr(0, begin)).size() - (begin > 0 && text[begin - 1] != '\n' ? 1 : 0);
    at = end + 1;
    if (entry.empty()) continue;
    take_item(file, entry, line, found, broken);
  }
  set_duplicates_aside(found, broken);
  return listed(found, broken);
}

ItemList import_json(std::vector<TextFile> texts) {
  const TextFile& file = texts.front();
  if (trim(file.text).starts_with('[')) return import_array(file);
  std::vector<FoundItem> found;
  std::vector<BrokenItem> broken;
  const std::vector<TextLine> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].in(file.text);
    if (!trim(text).empty()) take_item(file, text, i, found, broken);
  }
  set_duplicates_aside(found, broken);
  std::ranges::sort(found, {}, &FoundItem::index);
  return with_lines_as_origins(file.text, std::move(found), broken, kJson);
}

Result<std::vector<TextFile>> export_json(const std::vector<Item>& items) {
  return as_lines(items, kJson, json_line_for);
}

// --- a folder of tasks ---

ItemList import_aitasks(std::vector<TextFile> texts) {
  const TaskFolder folder(std::move(texts));
  ItemList list = folder.list();
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const TextFile& file = folder.file_of(folder.found()[i]);
    Origin origin;
    origin.format = kAitasks;
    origin.name = file.name;
    origin.text = file.text;
    list.items[i].item = with_origin(std::move(list.items[i].item), origin);
  }
  return list;
}

Result<std::vector<TextFile>> export_aitasks(const std::vector<Item>& items) {
  std::vector<TextFile> originals;
  for (const Item& item : items) {
    if (const auto origin = origin_in(item, kAitasks))
      originals.push_back({.name = origin->name, .text = origin->text});
  }
  const TaskFolder folder(originals);
  std::vector<ItemSource::Change> changes;
  for (const Item& item : items) {
    const FoundItem* there = find_item(folder.found(), item.id);
    changes.push_back({.item = before_origin(item, kAitasks), .expected = {}});
    if (there != nullptr) changes.back().expected = there->stored.version;
  }
  const auto writes = folder.changes(changes, Precision::exact);
  if (!writes) return fail(writes.error());
  std::map<std::string, std::string> files;
  for (const TextFile& file : originals) files[file.name] = file.text;
  for (const std::string& name : (*writes)->removed) files.erase(name);
  for (const TextFile& file : (*writes)->files) files[file.name] = file.text;
  std::vector<TextFile> texts;
  for (auto& [name, text] : files) texts.push_back({.name = name, .text = std::move(text)});
  return texts;
}

ItemFormat::Place task_place(std::string_view name) {
  const std::optional<TaskName> task = task_name(name);
  return {.id = task ? task->id : ItemId{}, .path = std::string(name)};
}

constexpr std::array<ItemFormat, 4> kFormats{{{.name = kBeads,
                                               .shape = ItemFormat::Shape::file,
                                               .import_texts = import_beads,
                                               .export_texts = export_beads},
                                              {.name = kAitasks,
                                               .shape = ItemFormat::Shape::folder,
                                               .import_texts = import_aitasks,
                                               .export_texts = export_aitasks,
                                               .read_texts = read_task_texts,
                                               .place_of = task_place},
                                              {.name = kFoldersFormat,
                                               .shape = ItemFormat::Shape::folder,
                                               .import_texts = import_folders,
                                               .export_texts = export_folders,
                                               .read_texts = read_work_texts,
                                               .place_of = place_of_work},
                                              {.name = kJson,
                                               .shape = ItemFormat::Shape::file,
                                               .import_texts = import_json,
                                               .export_texts = export_json}}};

Result<ItemList> import_folder(FileSystem& files, const ItemFormat& format,
                               const std::string& path) {
  FolderTexts texts;
  DirectoryFiles there(files, path);
  if (Done read = format.read_texts(there, "", texts); !read) return fail(read.error());
  ItemList list = format.import_texts(std::move(texts.files));
  list.broken.insert(list.broken.end(), texts.broken.begin(), texts.broken.end());
  return list;
}

// What is there under another name would be the same task twice.
Done check_folder(SourceFiles& files, const ItemFormat& format,
                  const std::vector<TextFile>& texts) {
  FolderTexts there;
  if (Done read = format.read_texts(files, "", there); !read) return read;
  std::map<ItemId, std::string> names;
  for (const TextFile& text : texts) {
    const ItemFormat::Place place = format.place_of(text.name);
    names[place.id] = place.path;
  }
  for (const TextFile& old : there.files) {
    const ItemFormat::Place place = format.place_of(old.name);
    const auto name = names.find(place.id);
    if (name != names.end() && name->second != place.path)
      return fail(
          ErrorKind::refused,
          fmt::format("{} is there already, as {}", name->first.text, printable(place.path)),
          "export into an empty folder");
  }
  return {};
}

}  // namespace

std::span<const ItemFormat> item_formats() { return kFormats; }

const ItemFormat* find_item_format(std::string_view name) {
  const auto format = std::ranges::find(kFormats, name, &ItemFormat::name);
  return format == kFormats.end() ? nullptr : &*format;
}

Result<ItemList> import_items(FileSystem& files, const ItemFormat& format,
                              const std::string& path) {
  if (format.shape == ItemFormat::Shape::folder) return import_folder(files, format, path);
  Result<std::optional<std::string>> text = files.read_file(path, kSourceFileBytesMax);
  if (!text) return fail(text.error());
  if (!*text) return fail(ErrorKind::not_found, fmt::format("there is no {}", printable(path)));
  return format.import_texts({{.name = path, .text = **std::move(text)}});
}

Done export_items(FileSystem& files, const ItemFormat& format, const std::string& path,
                  const std::vector<Item>& items) {
  Result<std::vector<TextFile>> texts = format.export_texts(items);
  if (!texts) return fail(texts.error());
  if (format.shape == ItemFormat::Shape::file)
    return files.replace_file(path, texts->front().text, kSharedFile);
  DirectoryFiles there(files, path);
  if (Done checked = check_folder(there, format, *texts); !checked) return checked;
  if (Done made = files.make_directory(path, kSharedDirectory); !made) return made;
  for (const TextFile& text : *texts) {
    if (Done written = there.write(text); !written) return written;
  }
  return {};
}

}  // namespace dibs
