// `item add --batch`: one JSON object a line, all of them in one commit or none.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "verbs/item_change.h"
#include "verbs/items.h"

namespace dibs::verbs {

namespace {

Error in_line(std::size_t line, const Error& error) {
  return {.kind = ErrorKind::usage,
          .message = fmt::format("line {}: {}", line, error.message),
          .hint = "mend it and run the command again: nothing was added",
          .fields = {}};
}

Result<Item> item_in_line(Workspace& workspace, std::string_view line) {
  Result<Json> json = parse_json(line);
  if (!json) return fail(json.error());
  if (!json->is_object()) return fail(ErrorKind::usage, "it is not a JSON object");
  if (!json->contains("id"))
    (*json)["id"] =
        make_item_id(text_member(*json, "title").value_or(""), workspace.system().random.bytes<4>())
            .text;
  return item_from_json(json->dump());
}

Result<std::vector<Item>> items_in(Workspace& workspace, std::string_view lines) {
  std::vector<Item> items;
  std::set<std::string> ids;
  std::size_t number = 0;
  for (const std::string_view line : split(lines, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    if (items.size() == kBatchMax)
      return fail(ErrorKind::usage, fmt::format("a batch has at most {} items", kBatchMax),
                  "give them in several batches");
    Result<Item> item = item_in_line(workspace, line);
    if (!item) return fail(in_line(number, item.error()));
    if (!ids.insert(item->id.text).second)
      return fail(in_line(
          number, {.kind = ErrorKind::usage,
                   .message = fmt::format("the id {} is there twice", printable(item->id.text)),
                   .hint = {},
                   .fields = {}}));
    items.push_back(*std::move(item));
  }
  if (items.empty()) return fail(ErrorKind::usage, "the batch is empty");
  return items;
}

// What is there already keeps its id; and none of the new ones may wait for itself.
Done check_against(const Catalog& catalog, const std::vector<Item>& items,
                   const Workflow& workflow) {
  bool any_dependency = false;
  for (const Item& item : items) {
    const Result<std::optional<std::uint32_t>> there = catalog.find(item.id.text);
    if (!there) return fail(there.error());
    if (there->has_value())
      return fail(ErrorKind::refused,
                  fmt::format("there is an item {} already", printable(item.id.text)),
                  fmt::format("look at it: dibs item show {}", shell_word(item.id.text)));
    any_dependency = any_dependency || !item.depends_on.empty();
  }
  return any_dependency ? check_no_cycles_with(catalog, items, workflow) : Done{};
}

}  // namespace

Result<std::vector<ItemId>> add_batch(Workspace& workspace, std::string_view lines) {
  Result<OpenedItems> items = open_items(workspace);
  if (!items) return fail(items.error());
  const Result<std::vector<Item>> parsed = items_in(workspace, lines);
  if (!parsed) return fail(parsed.error());
  const Result<std::vector<Item>> added =
      add_items(workspace, *items, fmt::format("add {} items", parsed->size()),
                [&](const Catalog& catalog) -> Result<std::vector<Item>> {
                  if (Done checked = check_against(catalog, *parsed, *items->workflow); !checked)
                    return fail(checked.error());
                  return *parsed;
                });
  if (!added) return fail(added.error());
  std::vector<ItemId> ids;
  for (const Item& item : *added) ids.push_back(item.id);
  return ids;
}

}  // namespace dibs::verbs
