// How aitasks names its files: `t109_name.md`, a child `t109/t109_1_name.md`, and the same below
// `archived/`. The name is the only place where the id stands.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/item.h"

namespace dibs {

inline constexpr std::string_view kTaskArchive = "archived/";

struct TaskName {
  ItemId id;          // t109, t109_1
  std::string title;  // the rest of the name, with blanks
  bool archived = false;

  friend bool operator==(const TaskName&, const TaskName&) = default;
};

// From a path below the folder of tasks; nothing when it is no task's.
[[nodiscard]] std::optional<TaskName> task_name(std::string_view path);

// "109", "t109", "109_1": as people write them in lists. What is none comes back as it is.
[[nodiscard]] ItemId task_id(std::string_view written);
// The number of t109 and of t109_1; nothing for other ids.
[[nodiscard]] std::optional<std::uint64_t> task_number(const ItemId& id);
// Where such an id belongs; nothing when it is no task's.
[[nodiscard]] std::optional<std::string> task_path(const ItemId& id, std::string_view title);
// t110, when `largest` is 109.
[[nodiscard]] ItemId next_task(std::uint64_t largest);

/// Tasks whose items have ids of their own, because they came from elsewhere.
class TaskAliases {
 public:
  void add(const ItemId& task, const ItemId& item);
  [[nodiscard]] ItemId item_of(const ItemId& task) const;
  [[nodiscard]] ItemId task_of(const ItemId& item) const;

 private:
  std::map<ItemId, ItemId> items_;
  std::map<ItemId, ItemId> tasks_;
};

}  // namespace dibs
