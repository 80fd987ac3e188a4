#include "verbs/item_exchange.h"

#include <fmt/core.h>

#include <map>

#include "base/text.h"
#include "items/item_format.h"
#include "verbs/item_change.h"
#include "verbs/opened_items.h"

namespace dibs::verbs {

namespace {

constexpr int kImportTriesMax = 16;

Result<const ItemFormat*> format_called(const std::string& name) {
  const ItemFormat* format = find_item_format(name);
  if (format != nullptr) return format;
  std::string known;
  for (const ItemFormat& entry : item_formats())
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  return fail(ErrorKind::usage, fmt::format("there is no format '{}'", printable(name)),
              "one of: " + known);
}

std::string absolute(Workspace& workspace, const std::string& path) {
  return path.starts_with('/') ? path : workspace.system().current_directory + "/" + path;
}

// The state where work begins is what an item without one is in.
Item with_state(Item item, const Workflow& workflow) {
  if (item.state.empty()) item.state = workflow.initial();
  return item;
}

Result<ItemSource::Batch> batch_of(Workspace& workspace, const Exchange& request) {
  const Result<AgentId> author = workspace.agent();
  if (!author) return fail(author.error());
  return ItemSource::Batch{.changes = {},
                           .author = *author,
                           .message = "import from " + request.format,
                           .unix_ms = workspace.system().clock.now().unix_ms};
}

Result<std::map<ItemId, StoredItem>> there_already(ItemSource& source,
                                                   const std::vector<StoredItem>& wanted) {
  std::vector<ItemId> ids;
  for (const StoredItem& entry : wanted) ids.push_back(entry.item.id);
  Result<std::vector<StoredItem>> found = source.read(ids);
  if (!found) return fail(found.error());
  std::map<ItemId, StoredItem> by_id;
  for (StoredItem& entry : *found) {
    const ItemId id = entry.item.id;
    by_id.emplace(id, std::move(entry));
  }
  return by_id;
}

}  // namespace

Result<Imported> import_items(Workspace& workspace, const Exchange& request) {
  const Result<const ItemFormat*> format = format_called(request.format);
  if (!format) return fail(format.error());
  const Result<ItemList> list =
      dibs::import_items(workspace.system().files, **format, absolute(workspace, request.path));
  if (!list) return fail(list.error());
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  for (int tries = 0; tries < kImportTriesMax; ++tries) {
    Result<ItemSource::Batch> batch = batch_of(workspace, request);
    if (!batch) return fail(batch.error());
    const Result<std::map<ItemId, StoredItem>> there = there_already(*items->source, list->items);
    if (!there) return fail(there.error());
    Imported imported{.broken = list->broken};
    for (const StoredItem& entry : list->items) {
      Item item = with_state(entry.item, *items->workflow);
      const auto known = there->find(item.id);
      if (known != there->end() && known->second.item == item) {
        ++imported.unchanged;
        continue;
      }
      ++(known == there->end() ? imported.added : imported.changed);
      batch->changes.push_back({.item = std::move(item),
                                .expected = known == there->end()
                                                ? std::nullopt
                                                : std::optional(known->second.version)});
    }
    const Result<bool> written = put_items(workspace, *items, *batch);
    if (!written) return fail(written.error());
    if (*written) return imported;
  }
  return fail(ErrorKind::contended, "the items change faster than they can be imported",
              "run the command again");
}

Result<std::size_t> export_items(Workspace& workspace, const Exchange& request) {
  const Result<const ItemFormat*> format = format_called(request.format);
  if (!format) return fail(format.error());
  const Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  Result<ItemList> list = items->source->read_all();
  if (!list) return fail(list.error());
  for (const BrokenItem& broken : list->broken)
    workspace.warn(fmt::format("{} is left out: {}", printable(broken.file), broken.why));
  std::vector<Item> all;
  for (StoredItem& entry : list->items) all.push_back(std::move(entry.item));
  if (Done written = dibs::export_items(workspace.system().files, **format,
                                        absolute(workspace, request.path), all);
      !written)
    return fail(written.error());
  return all.size();
}

}  // namespace dibs::verbs
