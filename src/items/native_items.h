// dibs' own items: JSON files in the tree of a ref that no branch contains, so that a new item is
// there in every worktree at once and no merge of code meets one. Every change is a commit, by
// compare-and-swap on the ref.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/branch_files.h"
#include "git/git_program.h"
#include "git/loose_commit.h"
#include "git/ref_files.h"
#include "git/stored_objects.h"
#include "items/catalog_cache.h"
#include "items/item_source.h"
#include "items/items_turn.h"
#include "sys/file_system.h"

namespace dibs {

class NativeItems final : public ItemSource {
 public:
  NativeItems(FileSystem& files, const GitProgram& git, CatalogCache::Place place)
      : files_(files),
        git_(git),
        place_(std::move(place)),
        refs_(files, place_.common_dir),
        branch_(git, place_.common_dir),
        objects_(files, place_.common_dir),
        cache_(files, git, place_) {}

  [[nodiscard]] Result<ItemList> read_all() override;
  [[nodiscard]] Result<Catalog> catalog(const Workflow& workflow) override;
  [[nodiscard]] Result<bool> is_up_to_date(const Catalog& catalog) override;
  [[nodiscard]] Result<std::vector<StoredItem>> read(const std::vector<ItemId>& ids) override;
  [[nodiscard]] Result<bool> write(const Batch& batch) override;
  [[nodiscard]] Result<std::vector<ItemRevision>> history(const ItemId& id,
                                                          std::size_t most) override;

  [[nodiscard]] Result<std::optional<Prepared>> prepare(const Batch& batch) override;
  void moved(const Prepared& prepared, const Batch& batch) override;

 private:
  [[nodiscard]] Result<std::string> tip() { return refs_.commit_at(kItemsRef); }
  void note(const std::string& from, const std::string& to, const Batch& batch);
  [[nodiscard]] Result<bool> is_as_expected(const Batch& batch, const std::string& commit);
  [[nodiscard]] Result<bool> are_new(const Batch& batch, const std::string& commit);
  [[nodiscard]] Result<std::map<std::string, BranchFiles::Found>> look_at(
      const std::string& commit, const std::vector<std::string>& paths);
  [[nodiscard]] Result<std::optional<std::string>> written_here(
      const BranchFiles::NewCommit& commit);
  [[nodiscard]] Result<std::string> written(const BranchFiles::NewCommit& commit);
  [[nodiscard]] Result<std::optional<std::string>> put(const ItemsTurn& turn,
                                                       const BranchFiles::NewCommit& commit);
  void remember(const std::string& commit, const std::map<std::string, BranchFiles::Found>& files);
  [[nodiscard]] static BranchFiles::NewCommit commit_of(const Batch& batch,
                                                        const std::string& parent);

  FileSystem& files_;
  const GitProgram& git_;
  CatalogCache::Place place_;
  RefFiles refs_;
  BranchFiles branch_;
  StoredObjects objects_;
  CatalogCache cache_;
  std::string seen_at_;                      // the commit that was read last,
  std::map<std::string, std::string> seen_;  // what was there, by path,
  KnownTrees trees_;                         // and the trees above that
};

}  // namespace dibs
