#include "items/items_at.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
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

void take_in(ItemsAt& all, const std::string& path, std::string_view text) {
  Result<Item> item = item_in(path, text);
  if (item) {
    all.items.push_back(*std::move(item));
    all.texts.emplace_back(text);
  } else {
    all.broken.push_back(broken_at(path, item.error()));
  }
}

// Items are large, so it is their numbers that are sorted.
void sort_by_id(ItemsAt& all) {
  std::vector<std::size_t> order(all.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) -> const ItemId& { return all.items[at].id; });
  ItemsAt sorted{.items = {}, .texts = {}, .broken = std::move(all.broken)};
  sorted.items.reserve(order.size());
  sorted.texts.reserve(order.size());
  for (const std::size_t at : order) {
    sorted.items.push_back(std::move(all.items[at]));
    sorted.texts.push_back(std::move(all.texts[at]));
  }
  all = std::move(sorted);
}

Error too_large(std::uint64_t bytes) {
  return {.kind = ErrorKind::refused,
          .message =
              fmt::format("it is {} bytes long; at most {} are allowed", bytes, kItemFileBytesMax),
          .hint = {},
          .fields = {}};
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

Result<ItemsAt> items_at(const BranchFiles& branch, const std::string& commit) {
  const Result<std::vector<BranchEntry>> entries = branch.list(commit, {});
  if (!entries) return fail(entries.error());
  std::vector<std::string> objects;
  std::vector<const std::string*> paths;
  for (const BranchEntry& entry : *entries) {
    if (!entry.is_file || !is_item_path(entry.path)) continue;
    objects.push_back(entry.object);
    paths.push_back(&entry.path);
  }
  ItemsAt all;
  const Done read = branch.read_each(objects, kItemFileBytesMax, [&](const ObjectText& object) {
    const std::string& path = *paths[object.number];
    if (object.text) return take_in(all, path, *object.text);
    all.broken.push_back(broken_at(path, too_large(object.bytes)));
  });
  if (!read) return fail(read.error());
  sort_by_id(all);
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
