// The verbs on items: what `dibs item …` does, for every front. A change is applied to the item as
// it is now and written if nobody was faster; otherwise it is applied again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/item.h"
#include "verbs/claim.h"
#include "verbs/opened_items.h"
#include "verbs/workspace.h"

namespace dibs::verbs {

inline constexpr std::size_t kBatchMax = 200'000;

/// An item with what follows from other items and from leases.
struct ShownItem {
  Item item;
  std::string state;  // as it is called now: backlog, ready, in_progress…
  std::optional<ListedLease> lease;
};

struct NewItem {
  std::string title;
  std::string body;
  std::optional<int> priority;
  std::vector<std::string> labels;
  std::vector<std::string> depends_on;  // ids, or beginnings of them
  std::vector<std::string> files;
  std::optional<std::int64_t> estimate_min;
  std::optional<std::string> type;
};
[[nodiscard]] Result<ShownItem> add_item(Workspace& workspace, const NewItem& request);
// Each line is one JSON object; all of them in one commit. They may depend on each other by the ids
// that they are given there.
[[nodiscard]] Result<std::vector<ItemId>> add_batch(Workspace& workspace, std::string_view lines);

struct EditItem {
  std::string item;
  std::optional<std::string> title;
  std::optional<std::string> body;
  std::optional<std::string> state;
  std::optional<int> priority;
  std::optional<std::string> type;
  std::optional<std::int64_t> estimate_min;
  std::vector<std::string> add_labels;
  std::vector<std::string> remove_labels;
  std::vector<std::string> add_files;
  std::vector<std::string> remove_files;
  std::vector<std::string> add_depends_on;
  std::vector<std::string> remove_depends_on;
  std::optional<std::string> comment;

  friend bool operator==(const EditItem&, const EditItem&) = default;
};
[[nodiscard]] Result<ShownItem> edit_item(Workspace& workspace, const EditItem& request);

enum class Ending { done, dropped };
[[nodiscard]] Result<ShownItem> close_item(Workspace& workspace, const std::string& item,
                                           Ending ending, const std::string& reason);
[[nodiscard]] Result<ShownItem> reopen_item(Workspace& workspace, const std::string& item);

[[nodiscard]] Result<ShownItem> show_item(Workspace& workspace, const std::string& item);
[[nodiscard]] Result<std::vector<ItemRevision>> item_history(Workspace& workspace,
                                                             const std::string& item,
                                                             std::size_t most);

}  // namespace dibs::verbs
