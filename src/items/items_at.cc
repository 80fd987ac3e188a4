#include "items/items_at.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "git/tree_object.h"
#include "items/item_path.h"

namespace dibs {

namespace {

BrokenItem broken_at(const std::string& path, const Error& error) {
  // The parser says "in line 3"; whoever shows it wants the number.
  constexpr std::string_view kInLine = " in line ";
  const std::size_t at = error.message.find(kInLine);
  BrokenItem broken{.file = path, .line = 0, .why = error.message};
  if (at == std::string::npos) return broken;
  std::string_view digits = std::string_view(error.message).substr(at + kInLine.size());
  digits = digits.substr(0, digits.find(':'));
  broken.line = parse_unsigned(digits).value_or(0);
  return broken;
}

bool is_all_zero(std::string_view object) {
  return object.find_first_not_of('0') == std::string_view::npos;
}

Error too_large(std::uint64_t bytes) {
  return {.kind = ErrorKind::refused,
          .message =
              fmt::format("it is {} bytes long; at most {} are allowed", bytes, kItemFileBytesMax),
          .hint = {},
          .fields = {}};
}

/// Where items lie, and what lies there.
struct ItemFiles {
  std::vector<std::string> paths;
  std::vector<std::string> objects;
};

bool is_item_folder(const TreeEntry& entry) {
  return entry.is_folder() && entry.name.size() == 2 && hex_digit(entry.name[0]) >= 0 &&
         hex_digit(entry.name[1]) >= 0;
}

void add_item_files(std::string_view folder, std::string_view tree, std::size_t object_bytes,
                    ItemFiles& files) {
  while (const std::optional<TreeEntry> entry = next_entry(tree, object_bytes)) {
    std::string path(folder);
    path += '/';
    path += entry->name;
    if (!entry->is_file() || !is_item_path(path)) continue;
    files.paths.push_back(std::move(path));
    files.objects.push_back(entry->object_hex());
  }
}

// Without the folder and the ending: most ids are called so.
std::string_view name_in(std::string_view path) {
  path.remove_suffix(std::string_view(".json").size());
  return path.substr(path.rfind('/') + 1);
}

/// A file by its name: most names begin alike, and the eight bytes after that are a number by which
/// nearly all of them can be told apart at once.
struct NamedFile {
  std::uint64_t begins = 0;
  std::string_view name;
  std::size_t number = 0;

  friend auto operator<=>(const NamedFile&, const NamedFile&) = default;
};

std::size_t common_beginning(std::string_view one, std::string_view other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

std::vector<NamedFile> by_name(const std::vector<std::string>& paths) {
  std::vector<NamedFile> files(paths.size());
  std::size_t alike = SIZE_MAX;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    files[i] = {.begins = 0, .name = name_in(paths[i]), .number = i};
    alike = std::min(alike, common_beginning(files[0].name, files[i].name));
  }
  for (NamedFile& file : files) {
    for (std::size_t i = 0; i < sizeof file.begins; ++i) {
      const std::size_t at = alike + i;
      const char c = at < file.name.size() ? file.name[at] : '\0';
      file.begins = file.begins << 8U | static_cast<unsigned char>(c);
    }
  }
  std::ranges::sort(files);
  return files;
}

// Items that came together have names that follow each other, and lie beside each other in git's
// packs: asked for by name, git takes a sixth less time. Nearly always they also come as an index
// wants them.
ItemFiles sorted_by_name(ItemFiles files) {
  ItemFiles sorted;
  sorted.paths.reserve(files.paths.size());
  sorted.objects.reserve(files.paths.size());
  for (const NamedFile& file : by_name(files.paths)) {
    sorted.paths.push_back(files.paths[file.number]);
    sorted.objects.push_back(std::move(files.objects[file.number]));
  }
  return sorted;
}

// Folders are read as git keeps them: `git ls-tree` takes twice as long to tell what is in them.
Result<ItemFiles> item_files(const BranchFiles& branch, const std::string& commit) {
  const Result<std::map<std::string, BranchFiles::Found>> root = branch.read_at(commit, {""});
  if (!root) return fail(root.error());
  if (root->empty())
    return fail(ErrorKind::internal, fmt::format("git does not have the commit {}", commit));
  const std::size_t object_bytes = commit.size() / 2;
  std::vector<TreeEntry> folders;
  std::vector<std::string> objects;
  std::string_view entries = root->begin()->second.text;
  while (const std::optional<TreeEntry> entry = next_entry(entries, object_bytes)) {
    if (!is_item_folder(*entry)) continue;
    folders.push_back(*entry);
    objects.push_back(entry->object_hex());
  }
  const Result<std::map<std::string, std::string>> trees = branch.read(objects);
  if (!trees) return fail(trees.error());
  ItemFiles files;
  for (std::size_t i = 0; i < folders.size(); ++i)
    add_item_files(folders[i].name, trees->at(objects[i]), object_bytes, files);
  return sorted_by_name(std::move(files));
}

}  // namespace

Result<Item> item_in(const std::string& path, std::string_view text) {
  if (text.size() > kItemFileBytesMax) return fail(too_large(text.size()));
  Result<Item> item = item_from_json(text);
  if (item && item_path(item->id) != path)
    return fail(ErrorKind::refused, fmt::format("the item {} belongs in {}",
                                                printable(item->id.text), item_path(item->id)));
  return item;
}

Result<std::vector<BrokenItem>> each_item_at(const BranchFiles& branch, const std::string& commit,
                                             const TakeItem& take) {
  const Result<ItemFiles> files = item_files(branch, commit);
  if (!files) return fail(files.error());
  std::vector<BrokenItem> broken;
  const auto each = [&](const ObjectText& object) {
    const std::string& path = files->paths[object.number];
    const Result<Item> item =
        object.text ? item_in(path, *object.text) : fail(too_large(object.bytes));
    if (item) return take(*item, *object.text);
    broken.push_back(broken_at(path, item.error()));
  };
  if (Done read = branch.read_each(files->objects, kItemFileBytesMax, each); !read)
    return fail(read.error());
  std::ranges::sort(broken, {}, &BrokenItem::file);
  return broken;
}

Result<ItemsAt> items_at(const BranchFiles& branch, const std::string& commit) {
  ItemsAt all;
  Result<std::vector<BrokenItem>> broken = each_item_at(
      branch, commit, [&](const Item& item, std::string_view) { all.items.push_back(item); });
  if (!broken) return fail(broken.error());
  all.broken = *std::move(broken);
  std::ranges::sort(all.items, {}, &Item::id);
  return all;
}

// ":100644 100644 OLD NEW M\0PATH\0", for each file.
Result<std::optional<std::vector<FileDifference>>> files_between(const GitProgram& git,
                                                                 const std::string& git_dir,
                                                                 const std::string& from,
                                                                 const std::string& to,
                                                                 std::size_t most) {
  const Result<ProgramEnd> end =
      git.run({.git_dir = git_dir,
               .arguments = {"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from,
                             to, "--"},
               .input = {}});
  if (!end) return fail(end.error());
  if (!end->succeeded()) return std::nullopt;
  const std::vector<std::string_view> words = split(end->out, '\0');
  if (words.size() / 2 > most) return std::nullopt;
  std::vector<FileDifference> differences;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::vector<std::string_view> fields = split(words[i], ' ');
    if (fields.size() != 5) return std::nullopt;
    differences.push_back({.path = std::string(words[i + 1]),
                           .before = is_all_zero(fields[2]) ? "" : std::string(fields[2]),
                           .after = is_all_zero(fields[3]) ? "" : std::string(fields[3]),
                           .mode = std::string(fields[1])});
  }
  return differences;
}

Result<std::optional<std::vector<FileDifference>>> differences_between(const GitProgram& git,
                                                                       const std::string& git_dir,
                                                                       const std::string& from,
                                                                       const std::string& to,
                                                                       std::size_t most) {
  Result<std::optional<std::vector<FileDifference>>> files =
      files_between(git, git_dir, from, to, most);
  if (files && files->has_value()) {
    std::erase_if(**files, [](const FileDifference& file) { return !is_item_path(file.path); });
  }
  return files;
}

Result<CatalogChange> change_of(const BranchFiles& branch,
                                const std::vector<FileDifference>& differences) {
  std::vector<std::string> objects;
  for (const FileDifference& file : differences) {
    if (!file.before.empty()) objects.push_back(file.before);
    if (!file.after.empty()) objects.push_back(file.after);
  }
  const Result<std::map<std::string, std::string>> texts = branch.read(objects);
  if (!texts) return fail(texts.error());
  const auto item_of = [&](const FileDifference& file, const std::string& object) -> Result<Item> {
    const auto text = texts->find(object);
    if (text == texts->end()) return fail(ErrorKind::internal, "git does not have it");
    return item_in(file.path, text->second);
  };
  CatalogChange change;
  for (const FileDifference& file : differences) {
    Result<Item> after = item_of(file, file.after);
    const Result<Item> before = item_of(file, file.before);
    if (!after && before) change.gone.push_back(before->id);
    if (!before) change.mended.push_back(file.path);
    if (after) {
      change.cards.push_back(*std::move(after));
    } else if (!file.after.empty()) {
      change.broken.push_back(broken_at(file.path, after.error()));
    }
  }
  return change;
}

}  // namespace dibs
