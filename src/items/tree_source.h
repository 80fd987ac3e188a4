// Items as JSON files in the work tree, one each: .dibs/items/<id>.json.
#pragma once

#include "items/source_in_tree.h"

namespace dibs {

// The file with the item in it as it is now: members that did not change keep their bytes.
[[nodiscard]] Result<std::string> edited_item_file(std::string_view text, const Item& item);

class TreeSource final : public SourceInTree {
 public:
  // `folder` is below the work tree.
  explicit TreeSource(SourceSite site, const std::string& folder = ".dibs/items")
      : SourceInTree(std::move(site), folder) {}

  [[nodiscard]] Result<ItemList> read_all() override;
  [[nodiscard]] Result<std::vector<StoredItem>> read(const std::vector<ItemId>& ids) override;
  [[nodiscard]] Result<bool> write(const Batch& batch) override;
  [[nodiscard]] Result<std::vector<ItemRevision>> history(const ItemId& id,
                                                          std::size_t most) override;

 private:
  [[nodiscard]] std::string file_of(const ItemId& id) const;
};

}  // namespace dibs
