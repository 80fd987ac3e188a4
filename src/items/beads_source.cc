#include "items/beads_source.h"

#include "base/text.h"

namespace dibs {

namespace {

// For git's basic regular expressions: what means something there stands for itself.
std::string literally(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\.*[]^$").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace

Result<BeadsFile> BeadsSource::load() {
  Result<std::optional<std::string>> text = tree().read(below(), kSourceFileBytesMax);
  if (!text) return fail(text.error());
  return BeadsFile((*std::move(text)).value_or(""), below());
}

// The prefix that the ids there have, and chance.
Result<ItemId> BeadsSource::new_id(std::string_view /*title*/,
                                   const std::array<std::uint8_t, 4>& chance) {
  const Result<BeadsFile> file = load();
  if (!file) return fail(file.error());
  std::string id = "bd";
  const std::vector<FoundItem> found = file->in_order();
  const std::string first = found.empty() ? std::string() : found.front().stored.item.id.text;
  if (const std::size_t dash = first.rfind('-'); dash != std::string::npos && dash > 0)
    id = first.substr(0, dash);
  id += '-';
  for (const std::uint8_t byte : chance) append_hex(id, byte);
  return ItemId{std::move(id)};
}

Result<ItemList> BeadsSource::read_all() {
  const Result<BeadsFile> file = load();
  if (!file) return fail(file.error());
  return file->list();
}

Result<std::vector<StoredItem>> BeadsSource::read(const std::vector<ItemId>& ids) {
  const Result<ItemList> list = read_all();
  if (!list) return fail(list.error());
  return chosen(*list, ids);
}

Result<bool> BeadsSource::write(const Batch& batch) {
  const auto lock = take_turn();
  if (!lock) return fail(lock.error());
  const Result<BeadsFile> file = load();
  if (!file) return fail(file.error());
  const Result<std::optional<std::string>> text = file->changed(batch.changes);
  if (!text) return fail(text.error());
  if (!*text) return false;
  if (**text == file->text()) return true;
  if ((*text)->size() > kSourceFileBytesMax)
    return fail(ErrorKind::refused, below() + " would be too large");
  if (Done written = tree().write({below(), **text}); !written) return fail(written.error());
  return true;
}

Result<std::vector<ItemRevision>> BeadsSource::history(const ItemId& id, std::size_t most) {
  return file_history(site(), below(), R"("id": *")" + literally(id.text) + "\"", most);
}

}  // namespace dibs
