// The turn to move refs/dibs/items. Whoever moves it does so in turn, so that of many at once none
// has to begin again, and what is about to happen is written down first, so that the next one knows
// a lock that was left on the ref by whoever was killed, us or our git.
//
//   Result<ItemsTurn> turn = ItemsTurn::take(files, git, place);
//   … read the ref, make the commit …
//   turn->put(commit);
//
// git holds the turn too until it ends, even if we are killed: whoever has the turn knows that no
// git of an earlier one is alive.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "git/branch_files.h"
#include "git/git_program.h"
#include "git/local_refs.h"
#include "items/catalog_cache.h"
#include "sys/file_system.h"

namespace dibs {

inline constexpr const char* kItemsRef = "refs/dibs/items";

class ItemsTurn {
 public:
  // Waits for it. A lock that is known to be dead is gone then.
  [[nodiscard]] static Result<ItemsTurn> take(FileSystem& files, const GitProgram& git,
                                              CatalogCache::Place place);

  // Makes the commit, and the ref moves from its parent to it. Nothing when it was not there.
  [[nodiscard]] Result<std::optional<std::string>> put(const BranchFiles::NewCommit& commit) const;
  // To a commit that there is.
  [[nodiscard]] Result<LocalRefs::End> move(const std::string& from, const std::string& to,
                                            const std::string& reason) const;

  // For whoever moves the ref along with others.
  [[nodiscard]] const std::shared_ptr<const FileLock>& lock() const { return lock_; }

 private:
  ItemsTurn(FileSystem& files, const GitProgram& git, CatalogCache::Place place)
      : files_(&files), git_(&git), place_(std::move(place)) {}
  [[nodiscard]] Done write_down(const std::string& what) const;
  [[nodiscard]] Done clear_dead_lock() const;
  [[nodiscard]] Result<bool> was_written_down(const std::string& commit) const;
  [[nodiscard]] std::string note_path() const { return place_.directory + "/items.moving"; }

  FileSystem* files_;
  const GitProgram* git_;
  CatalogCache::Place place_;
  std::shared_ptr<const FileLock> lock_;
};

}  // namespace dibs
