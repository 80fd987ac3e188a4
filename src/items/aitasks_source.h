// Items as aitasks keeps them: Markdown files in aitasks/, finished ones in aitasks/archived/.
#pragma once

#include "items/source_site.h"
#include "items/task_folder.h"

namespace dibs {

// The files of all tasks of a folder, the archived ones too.
[[nodiscard]] Done read_task_texts(FileSystem& files, const std::string& folder, FolderTexts& into);
[[nodiscard]] Result<TaskFolder> read_task_folder(FileSystem& files, const std::string& folder);

class AitasksSource final : public ItemSource {
 public:
  // `folder` is below the work tree.
  explicit AitasksSource(SourceSite site, std::string folder = "aitasks")
      : site_(std::move(site)), folder_(std::move(folder)) {}

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
  [[nodiscard]] std::string path() const { return site_.work_tree + "/" + folder_; }

  SourceSite site_;
  std::string folder_;
};

}  // namespace dibs
