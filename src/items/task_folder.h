// A folder of aitasks: which of its files are items, and which files change when items do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "items/aitasks_file.h"
#include "items/found_items.h"

namespace dibs {

class TaskFolder {
 public:
  // Files that are no tasks are passed over. `broken` is what could not even be read.
  explicit TaskFolder(std::vector<TextFile> files, std::vector<BrokenItem> broken = {});

  [[nodiscard]] ItemList list() const { return listed(found_, broken_); }
  [[nodiscard]] const TextFile& file_of(const FoundItem& item) const { return files_[item.index]; }
  [[nodiscard]] const std::vector<FoundItem>& found() const { return found_; }
  [[nodiscard]] const std::vector<BrokenItem>& broken() const { return broken_; }
  // The next that no task here has, whether broken or archived.
  [[nodiscard]] ItemId next_id() const { return next_task(largest_); }

  struct Writes {
    std::vector<TextFile> files;
    std::vector<std::string> removed;
  };
  // Nothing when something is not as expected.
  [[nodiscard]] Result<std::optional<Writes>> changes(
      const std::vector<ItemSource::Change>& changes, Precision precision) const;

 private:
  void read(std::size_t index);
  [[nodiscard]] Result<TextFile> changed(const Item& item, const TaskAliases& aliases) const;

  std::vector<TextFile> files_;
  std::vector<FoundItem> found_;
  std::vector<BrokenItem> broken_;
  TaskAliases aliases_;
  std::uint64_t largest_ = 0;
};

}  // namespace dibs
