#include "verbs/item_stamp.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "verbs/item_change.h"

namespace dibs::verbs {

namespace {

constexpr int kStampTriesMax = 64;
constexpr std::size_t kHexDigits = 8;

using NewIds = std::map<ItemId, ItemId>;

// "-b5c6d7e8" at the end: whoever has it needs no other.
bool has_stamp(std::string_view id) {
  if (id.size() <= kHexDigits + 1 || id[id.size() - kHexDigits - 1] != '-') return false;
  return parse_hex32(id.substr(id.size() - kHexDigits)).has_value();
}

std::string hex_of(const std::array<std::uint8_t, 4>& bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

Result<std::string> stamped_state(const OpenedItems& items) {
  if (!items.target)
    return fail(ErrorKind::refused, "only items that lie in folders are stamped",
                "where they lie is a setting: dibs config set items.source folders");
  const WorkState* first = items.workflow->find(items.workflow->initial());
  if (first != nullptr && !first->lands_as.empty()) return first->lands_as;
  return fail(ErrorKind::refused,
              fmt::format("the workflow does not say what becomes of work that is {}",
                          printable(items.workflow->initial())),
              "say it in .dibs/workflow.toml: lands_as = \"STATE\"");
}

// Those that are named, or all that are new.
Result<std::set<ItemId>> chosen_of(const OpenedItems& items, const ItemList& list,
                                   const std::vector<std::string>& names) {
  const std::string& initial = items.workflow->initial();
  std::set<ItemId> chosen;
  for (const StoredItem& stored : list.items) {
    if (names.empty() && stored.item.state == initial) chosen.insert(stored.item.id);
  }
  if (names.empty()) return chosen;
  const Result<Catalog> catalog = items.catalog();
  if (!catalog) return fail(catalog.error());
  for (const std::string& name : names) {
    const Result<std::uint32_t> number = find_item(*catalog, name);
    if (!number) return fail(number.error());
    const Result<Item> card = catalog->card(*number);
    if (!card) return fail(card.error());
    if (card->state != initial)
      return fail(ErrorKind::refused,
                  fmt::format("{} is {}, and only what is {} is stamped", printable(card->id.text),
                              printable(card->state), printable(initial)),
                  fmt::format("look at it: dibs item show {}", shell_word(card->id.text)));
    chosen.insert(card->id);
  }
  return chosen;
}

Result<NewIds> new_ids(Workspace& workspace, const std::set<ItemId>& chosen) {
  if (Done may = check_holders(workspace, {chosen.begin(), chosen.end()}); !may)
    return fail(may.error());
  NewIds ids;
  for (const ItemId& id : chosen) {
    ids[id] = has_stamp(id.text)
                  ? id
                  : ItemId{id.text + "-" + hex_of(workspace.system().random.bytes<4>())};
  }
  return ids;
}

// Nothing when stamping does not touch it.
Result<std::optional<ItemSource::Change>> change_of(const OpenedItems& items,
                                                    const StoredItem& stored, const NewIds& ids,
                                                    const std::string& state) {
  ItemSource::Change change{.item = stored.item, .expected = stored.version};
  for (ItemId& on : change.item.depends_on) {
    if (const auto renamed = ids.find(on); renamed != ids.end()) on = renamed->second;
  }
  const auto id = ids.find(stored.item.id);
  if (id != ids.end()) {
    Result<Item> moved = items.workflow->moved(std::move(change.item), state);
    if (!moved) return fail(moved.error());
    change.item = *std::move(moved);
    change.item.id = id->second;
    if (id->second != id->first) change.was = id->first;
  }
  if (change.item == stored.item) return std::nullopt;
  return change;
}

std::string message_of(const NewIds& ids) {
  return ids.size() == 1 ? "stamp: " + ids.begin()->second.text
                         : fmt::format("stamp {} items", ids.size());
}

std::vector<StampedItem> stamped(const NewIds& ids) {
  std::vector<StampedItem> stamped;
  for (const auto& [was, id] : ids) stamped.push_back({.was = was, .id = id});
  return stamped;
}

}  // namespace

Result<std::vector<StampedItem>> stamp_items(Workspace& workspace,
                                             const std::vector<std::string>& names) {
  const Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const Result<std::string> state = stamped_state(*items);
  if (!state) return fail(state.error());
  const Result<AgentId> author = workspace.agent();
  if (!author) return fail(author.error());
  for (int tries = 0; tries < kStampTriesMax; ++tries) {
    const Result<ItemList> list = items->source->read_all();
    if (!list) return fail(list.error());
    const Result<std::set<ItemId>> chosen = chosen_of(*items, *list, names);
    if (!chosen) return fail(chosen.error());
    const Result<NewIds> ids = new_ids(workspace, *chosen);
    if (!ids) return fail(ids.error());
    ItemSource::Batch batch{.changes = {},
                            .author = *author,
                            .message = message_of(*ids),
                            .unix_ms = workspace.system().clock.now().unix_ms};
    for (const StoredItem& stored : list->items) {
      const auto change = change_of(*items, stored, *ids, *state);
      if (!change) return fail(change.error());
      if (*change) batch.changes.push_back(**change);
    }
    const Result<bool> written = put_items(workspace, *items, batch);
    if (!written) return fail(written.error());
    if (*written) return stamped(*ids);
  }
  return fail(ErrorKind::contended, "the items change faster than they can be stamped",
              "run the command again");
}

}  // namespace dibs::verbs
