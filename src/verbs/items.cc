#include "verbs/items.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "verbs/item_change.h"
#include "verbs/item_view.h"

namespace dibs::verbs {

namespace {

// What is added comes last and once; what is taken away may be missing.
template <class T>
void add_and_remove(std::vector<T>& list, const std::vector<T>& add, const std::vector<T>& remove) {
  for (const T& entry : add) {
    if (std::ranges::find(list, entry) == list.end()) list.push_back(entry);
  }
  std::erase_if(list,
                [&](const T& entry) { return std::ranges::find(remove, entry) != remove.end(); });
}

Result<std::vector<ItemId>> ids_of(const Catalog& catalog, const std::vector<std::string>& texts) {
  std::vector<ItemId> ids;
  for (const std::string& text : texts) {
    const Result<std::uint32_t> number = find_item(catalog, text);
    if (!number) return fail(number.error());
    Result<std::string> id = catalog.id(*number);
    if (!id) return fail(id.error());
    ids.push_back({*std::move(id)});
  }
  return ids;
}

// A dependency on what is not there any more can be taken away by its whole name.
std::vector<ItemId> ids_among(const Item& item, const Catalog& catalog,
                              const std::vector<std::string>& texts) {
  std::vector<ItemId> ids;
  for (const std::string& text : texts) {
    const Result<std::vector<ItemId>> known = ids_of(catalog, {text});
    const bool whole = std::ranges::find(item.depends_on, ItemId{text}) != item.depends_on.end();
    ids.push_back(whole || !known ? ItemId{text} : known->front());
  }
  return ids;
}

Result<Item> made_from(Workspace& workspace, OpenedItems& items, const Catalog& catalog,
                       const NewItem& request) {
  Result<ItemId> id = items.source->new_id(request.title, workspace.system().random.bytes<4>());
  if (!id) return fail(id.error());
  Result<std::vector<ItemId>> depends_on = ids_of(catalog, request.depends_on);
  if (!depends_on) return fail(depends_on.error());
  Item item{.id = *std::move(id),
            .title = request.title,
            .body = request.body,
            .state = {},
            .priority = request.priority.value_or(kPriorityDefault),
            .labels = {},
            .depends_on = {},
            .files = {},
            .estimate_min = request.estimate_min,
            .type = request.type.value_or("task"),
            .created_unix_ms = 0,
            .updated_unix_ms = 0,
            .created_by = {},
            .came_from = {},
            .comments = {},
            .unknown_members = {}};
  add_and_remove(item.labels, request.labels, {});
  add_and_remove(item.depends_on, *depends_on, {});
  add_and_remove(item.files, request.files, {});
  return item;
}

Done edit_lists(const Catalog& catalog, const EditItem& request, Item& item) {
  const Result<std::vector<ItemId>> added = ids_of(catalog, request.add_depends_on);
  if (!added) return fail(added.error());
  add_and_remove(item.depends_on, *added, ids_among(item, catalog, request.remove_depends_on));
  add_and_remove(item.labels, request.add_labels, request.remove_labels);
  add_and_remove(item.files, request.add_files, request.remove_files);
  return {};
}

Result<Item> edited(Workspace& workspace, const Workflow& workflow, const Catalog& catalog,
                    const EditItem& request, Item item) {
  if (request.state) {
    Result<Item> moved = workflow.moved(std::move(item), *request.state);
    if (!moved) return moved;
    item = *std::move(moved);
  }
  if (request.title) item.title = *request.title;
  if (request.body) item.body = *request.body;
  if (request.priority) item.priority = *request.priority;
  if (request.type) item.type = *request.type;
  if (request.estimate_min) item.estimate_min = *request.estimate_min;
  if (Done lists = edit_lists(catalog, request, item); !lists) return fail(lists.error());
  if (request.comment) {
    const Result<AgentId> by = workspace.agent();
    if (!by) return fail(by.error());
    item.comments.push_back({.by = by->text,
                             .unix_ms = workspace.system().clock.now().unix_ms,
                             .text = *request.comment});
  }
  return item;
}

Scope scope_of(const EditItem& request) {
  EditItem rest = request;
  rest.item.clear();
  rest.comment.reset();
  rest.add_labels.clear();
  rest.remove_labels.clear();
  return rest == EditItem{} ? Scope::open_to_all : Scope::holders;
}

std::string what_changes(const EditItem& request) {
  if (request.state) return "becomes " + *request.state;
  if (request.comment) return "comment";
  return "update";
}

}  // namespace

Result<ShownItem> add_item(Workspace& workspace, const NewItem& request) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const Result<std::vector<Item>> added =
      add_items(workspace, *items, "add: " + request.title,
                [&](const Catalog& catalog) -> Result<std::vector<Item>> {
                  Result<Item> item = made_from(workspace, *items, catalog, request);
                  if (!item) return fail(item.error());
                  return std::vector<Item>{*std::move(item)};
                });
  if (!added) return fail(added.error());
  return shown_now(workspace, *items, added->front());
}

Result<ShownItem> edit_item(Workspace& workspace, const EditItem& request) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const Result<Item> after =
      change_item(workspace, *items,
                  {.item = request.item,
                   .what = what_changes(request),
                   .scope = scope_of(request),
                   .apply = [&](const Catalog& catalog, Item item) {
                     return edited(workspace, *items->workflow, catalog, request, std::move(item));
                   }});
  if (!after) return fail(after.error());
  return shown_now(workspace, *items, *after);
}

Result<ShownItem> close_item(Workspace& workspace, const std::string& item, Ending ending,
                             const std::string& reason) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const StateKind kind = ending == Ending::done ? StateKind::done : StateKind::dropped;
  const std::optional<std::string> state = items->workflow->first_of(kind);
  if (!state)
    return fail(ErrorKind::refused, "the workflow has no state for what is rejected",
                "add one of the kind dropped to .dibs/workflow.toml");
  EditItem request{.item = item};
  request.state = *state;
  if (!reason.empty()) request.comment = reason;
  return edit_item(workspace, request);
}

Result<ShownItem> reopen_item(Workspace& workspace, const std::string& item) {
  const Result<NamedItem> named = open_item(workspace, item);
  if (!named) return fail(named.error());
  const Result<Item> card = named->catalog.card(named->number);
  if (!card) return fail(card.error());
  if (!is_finished(named->items.workflow->kind_of(card->state)))
    return fail(
        ErrorKind::refused,
        fmt::format("{} is not closed: it is {}", printable(card->id.text), printable(card->state)),
        fmt::format("look at it: dibs item show {}", shell_word(card->id.text)));
  EditItem request{.item = card->id.text};
  request.state = named->items.workflow->initial();
  return edit_item(workspace, request);
}

Result<ShownItem> show_item(Workspace& workspace, const std::string& item) {
  const Result<NamedItem> named = open_item(workspace, item);
  if (!named) return fail(named.error());
  Result<Item> card = named->catalog.card(named->number);
  if (!card) return fail(card.error());
  const Result<Item> whole = whole_item(named->items, *std::move(card));
  if (!whole) return fail(whole.error());
  return shown_now(workspace, named->items, *whole);
}

Result<std::vector<ItemRevision>> item_history(Workspace& workspace, const std::string& item,
                                               std::size_t most) {
  const Result<NamedItem> named = open_item(workspace, item);
  if (!named) return fail(named.error());
  const Result<std::string> id = named->catalog.id(named->number);
  if (!id) return fail(id.error());
  return named->items.source->history({*id}, most);
}

}  // namespace dibs::verbs
