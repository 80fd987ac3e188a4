// Items as beads keeps them: .beads/issues.jsonl in the work tree.
#pragma once

#include "items/beads_file.h"
#include "items/source_in_tree.h"

namespace dibs {

class BeadsSource final : public SourceInTree {
 public:
  // `file` is below the work tree.
  explicit BeadsSource(SourceSite site, const std::string& file = ".beads/issues.jsonl")
      : SourceInTree(std::move(site), file) {}

  [[nodiscard]] Result<ItemId> new_id(std::string_view title,
                                      const std::array<std::uint8_t, 4>& chance) override;
  [[nodiscard]] bool forgets_what_is_done() const override { return true; }
  [[nodiscard]] Result<ItemList> read_all() override;
  [[nodiscard]] Result<std::vector<StoredItem>> read(const std::vector<ItemId>& ids) override;
  [[nodiscard]] Result<bool> write(const Batch& batch) override;
  [[nodiscard]] Result<std::vector<ItemRevision>> history(const ItemId& id,
                                                          std::size_t most) override;

 private:
  [[nodiscard]] Result<BeadsFile> load();
};

}  // namespace dibs
