#include "items/tree_source.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/name_encoding.h"
#include "base/text.h"
#include "items/front_matter.h"
#include "items/json_line.h"

namespace dibs {

namespace {

constexpr std::string_view kEnding = ".json";

// Its id is in the file; until that is read, the name stands for it.
std::optional<ItemId> id_by_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (!name.ends_with(kEnding) || name.starts_with('.')) return std::nullopt;
  return ItemId{std::string(name.substr(0, name.size() - kEnding.size()))};
}

// "bad JSON in line 3: …" already says where.
std::size_t line_in(std::string_view message) {
  constexpr std::string_view kIn = " in line ";
  const std::size_t at = message.find(kIn);
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = message.substr(at + kIn.size());
  return parse_unsigned(digits.substr(0, digits.find_first_not_of("0123456789"))).value_or(0);
}

Result<Item> item_in(const TextFile& file) {
  if (!is_utf8(file.text)) return fail(ErrorKind::refused, "it is not UTF-8");
  Result<Item> item = item_from_json(file.text);
  if (!item) return fail(error_at(line_in(item.error().message), item.error().message));
  const std::string name = encode_name(item->id.text) + std::string(kEnding);
  if (!file.name.ends_with("/" + name))
    return fail(ErrorKind::refused, fmt::format("an item with its id has to be named {}", name));
  return item;
}

struct Found {
  std::vector<FoundItem> items;
  std::vector<BrokenItem> broken;
};

Result<Found> items_in(SourceFiles& files, const std::string& folder) {
  FolderTexts texts;
  if (Done read = read_folder(files, "", folder + "/", id_by_name, texts); !read)
    return fail(read.error());
  Found found{.items = {}, .broken = std::move(texts.broken)};
  for (const TextFile& file : texts.files) {
    Result<Item> item = item_in(file);
    if (!item) {
      found.broken.push_back({.file = file.name,
                              .line = line_of(item.error()),
                              .why = item.error().message,
                              .id = *id_by_name(file.name)});
      continue;
    }
    found.items.push_back(
        {.stored = {
             .item = *std::move(item), .version = version_of(file.text), .file = file.name}});
  }
  set_duplicates_aside(found.items, found.broken);
  return found;
}

}  // namespace

Result<std::string> edited_item_file(std::string_view text, const Item& item) {
  const Result<Item> before = item_from_json(text);
  Result<JsonLine> file = JsonLine::parse(text);
  if (!before) return fail(before.error());
  if (!file) return fail(file.error());
  const JsonMembers old_members = members_in(public_members(*before));
  const JsonMembers new_members = members_in(public_members(item));
  for (const auto& [name, json] : old_members) {
    if (find_member(new_members, name) == nullptr) file->remove(name);
  }
  const Result<JsonLine> rendered = JsonLine::parse("{" + public_members(item) + "}");
  if (!rendered) return fail(rendered.error());
  for (const auto& [name, json] : new_members) {
    const std::string* old = find_member(old_members, name);
    if (old == nullptr || *old != json) file->set(name, rendered->raw(name).value_or(json));
  }
  return file->text();
}

std::string TreeSource::file_of(const ItemId& id) const {
  return below() + "/" + encode_name(id.text) + std::string(kEnding);
}

Result<ItemList> TreeSource::read_all() {
  Result<Found> found = items_in(tree(), below());
  if (!found) return fail(found.error());
  return listed(found->items, std::move(found->broken));
}

Result<std::vector<StoredItem>> TreeSource::read(const std::vector<ItemId>& ids) {
  std::vector<StoredItem> items;
  for (const ItemId& id : ids) {
    const auto text = tree().read(file_of(id), kItemFileBytesMax);
    if (!text) return fail(text.error());
    if (!*text) continue;
    Result<Item> item = item_in({.name = file_of(id), .text = **text});
    if (!item)
      return fail(ErrorKind::refused,
                  fmt::format("{} cannot be read: {}", printable(id.text), item.error().message),
                  fmt::format("correct {}", file_of(id)));
    items.push_back({.item = *std::move(item), .version = version_of(**text), .file = file_of(id)});
  }
  return items;
}

Result<bool> TreeSource::write(const Batch& batch) {
  if (Done once = check_batch(batch.changes); !once) return fail(once.error());
  const auto lock = take_turn();
  if (!lock) return fail(lock.error());
  std::vector<TextFile> writes;
  for (const Change& change : batch.changes) {
    const Result<std::vector<StoredItem>> stored = read({change.item.id});
    if (!stored) return fail(stored.error());
    std::vector<FoundItem> found;
    for (const StoredItem& one : *stored) found.push_back({.stored = one});
    const Result<Comparison> standing = standing_of(change, found, {});
    if (!standing) return fail(standing.error());
    if (*standing == Comparison::moved) return false;
    const std::string name = file_of(change.item.id);
    const auto text = tree().read(name, kItemFileBytesMax);
    if (!text) return fail(text.error());
    Result<std::string> edited =
        *text ? edited_item_file(**text, change.item) : item_file(change.item);
    if (!edited) return fail(edited.error());
    if (!*text || **text != *edited) writes.push_back({.name = name, .text = *std::move(edited)});
  }
  for (const TextFile& file : writes) {
    if (Done written = tree().write(file); !written) return fail(written.error());
  }
  return true;
}

Result<std::vector<ItemRevision>> TreeSource::history(const ItemId& id, std::size_t most) {
  return file_history(site(), file_of(id), {}, most);
}

}  // namespace dibs
