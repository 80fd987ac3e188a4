// Items as aitasks keeps them: Markdown files in aitasks/, finished ones in aitasks/archived/.
#pragma once

#include "items/source_in_tree.h"
#include "items/task_folder.h"

namespace dibs {

// The files of all tasks of a folder, the archived ones too.
[[nodiscard]] Done read_task_texts(SourceFiles& files, const std::string& folder,
                                   FolderTexts& into);

class AitasksSource final : public SourceInTree {
 public:
  // `folder` is below the work tree.
  explicit AitasksSource(SourceSite site, const std::string& folder = "aitasks")
      : SourceInTree(std::move(site), folder) {}

  // The next number. Whoever writes it first has it: others are told that it is taken.
  [[nodiscard]] Result<ItemId> new_id(std::string_view title,
                                      const std::array<std::uint8_t, 4>& chance) override;
  [[nodiscard]] bool forgets_what_is_done() const override { return true; }
  [[nodiscard]] Result<ItemList> read_all() override;
  [[nodiscard]] Result<std::vector<StoredItem>> read(const std::vector<ItemId>& ids) override;
  [[nodiscard]] Result<bool> write(const Batch& batch) override;
  [[nodiscard]] Result<std::vector<ItemRevision>> history(const ItemId& id,
                                                          std::size_t most) override;

 private:
  [[nodiscard]] Result<TaskFolder> load();
};

}  // namespace dibs
