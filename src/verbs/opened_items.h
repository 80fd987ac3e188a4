// The items of this repository: where they are kept, by the settings, and which states they go
// through, by `.dibs/workflow.toml`. What every verb about items starts from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "items/item_source.h"
#include "model/workflow.h"
#include "verbs/target.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

struct OpenedItems {
  std::unique_ptr<const Workflow> workflow;  // catalogs and sources keep a pointer to it
  std::unique_ptr<ItemSource> source;
  std::optional<Target> target = std::nullopt;  // the branch that items lie on, if they do

  [[nodiscard]] Result<Catalog> catalog() const { return source->catalog(*workflow); }
};
[[nodiscard]] Result<OpenedItems> open_items(Workspace& workspace);

// The folder of the target branch that items lie in; nothing when they lie elsewhere.
[[nodiscard]] std::optional<std::string> work_folder(const Settings& settings);

// The item that is called so, or the only one whose id begins so.
[[nodiscard]] Result<std::uint32_t> find_item(const Catalog& catalog, const std::string& text);
/// One item among all.
struct NamedItem {
  OpenedItems items;
  Catalog catalog;
  std::uint32_t number = 0;
};
[[nodiscard]] Result<NamedItem> open_item(Workspace& workspace, const std::string& text);

// The item with its body, if the card is too short to have it.
[[nodiscard]] Result<Item> whole_item(const OpenedItems& items, Item card);

}  // namespace dibs::verbs
