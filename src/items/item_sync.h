// dibs' own items made the same here and on a git remote, so that every clone has them.
//
// The remote's items are fetched into a ref that is no branch. If ours are a part of them, ours
// move on; otherwise both are merged into one commit. Then the remote's ref is moved to ours, if it
// still is where it was seen; if not, all of it once more. Both moves compare and swap, so whatever
// happens in between is merged, and nothing is lost or there twice.
//
//   ItemSync sync(parts, place, {.name = "origin", .prefix = "refs/dibs/"}, author);
//   const Result<ItemSyncEnd> end = sync.run(ItemSync::Begin::fetch);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/push_report.h"
#include "items/catalog_cache.h"
#include "items/items_turn.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/randomness.h"

namespace dibs {

struct ItemRemote {
  std::string name;
  std::string prefix;  // of dibs' refs there, such as "refs/dibs/"
};

struct ItemSyncParts {
  FileSystem& files;
  Clock& clock;
  Random& random;
  const GitProgram& git;
};

/// In items.
struct ItemSyncEnd {
  std::size_t pulled = 0;
  std::size_t pushed = 0;
  std::size_t merged = 0;          // changed on both sides
  std::vector<std::string> notes;  // what could not be merged, and where it is
};

class ItemSync {
 public:
  ItemSync(const ItemSyncParts& parts, CatalogCache::Place place, ItemRemote remote,
           std::string author)
      : parts_(parts),
        place_(std::move(place)),
        remote_(std::move(remote)),
        author_(std::move(author)) {}

  enum class Begin {
    fetch,
    push,  // right after a change of ours: most often nobody else made one, and nothing is to fetch
  };
  // `unreachable` when the remote cannot be read or written. What was fetched before stays merged.
  [[nodiscard]] Result<ItemSyncEnd> run(Begin begin);

  // For a push that takes more along than items: how the remote's ref moves when ours goes from
  // `from` to `to`. Nothing when the remote's was last seen elsewhere; then they have to be made
  // the same first.
  [[nodiscard]] Result<std::optional<RefMove>> part_of_push(const std::string& from,
                                                            const std::string& to) const;
  // That push has happened: ours moves, too.
  [[nodiscard]] Done pushed(const RefMove& move);

 private:
  [[nodiscard]] Result<std::unique_ptr<FileLock>> take_turn() const;
  [[nodiscard]] std::string there() const { return remote_.prefix + "items"; }
  [[nodiscard]] std::string as_seen() const;
  [[nodiscard]] Result<std::string> commit_at(const std::string& ref) const;
  // git goes on holding the turn if we are killed.
  [[nodiscard]] Done fetch(const FileLock& turn) const;
  [[nodiscard]] Result<std::string> bring_in(const std::string& theirs, ItemSyncEnd& end);
  [[nodiscard]] Result<std::string> merge(const ItemsTurn& turn, const std::string& base,
                                          const std::string& ours, const std::string& theirs,
                                          ItemSyncEnd& end);
  [[nodiscard]] Result<std::string> merge_base(const std::string& ours,
                                               const std::string& theirs) const;
  [[nodiscard]] Done move_here(const ItemsTurn& turn, const std::string& from,
                               const std::string& to);
  [[nodiscard]] Result<PushEnd> push(const RefMove& move) const;
  void remember(const RefMove& move, const FileLock& turn);
  void clear_dead_lock();
  void pause(int tries);
  [[nodiscard]] GitProgram::Call call(std::vector<std::string> arguments) const;

  ItemSyncParts parts_;
  CatalogCache::Place place_;
  ItemRemote remote_;
  std::string author_;
};

}  // namespace dibs
