// What sources in the tree have in common: their files lie in the work tree, and when work lands,
// in the commit that lands. There a change of items is one more commit on top.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "items/source_site.h"

namespace dibs {

class SourceInTree : public ItemSource {
 public:
  [[nodiscard]] bool stand_on(const RefMove& landing) final;
  [[nodiscard]] Result<std::optional<Prepared>> prepare(const Batch& batch) final;

 protected:
  // `below` is the source's file or folder, from the top of the tree.
  SourceInTree(SourceSite site, const std::string& below)
      : site_(std::move(site)),
        below_(path_below("", below)),
        on_disk_(site_.files, site_.work_tree) {}

  [[nodiscard]] const SourceSite& site() const { return site_; }
  [[nodiscard]] const std::string& below() const { return below_; }
  [[nodiscard]] SourceFiles& tree();
  // To read, compare and write.
  [[nodiscard]] Result<std::unique_ptr<FileLock>> take_turn() const {
    return site_.files.lock(site_.lock_file, Patience::wait);
  }

 private:
  SourceSite site_;
  std::string below_;
  DirectoryFiles on_disk_;
  std::optional<RefMove> landing_;
  std::unique_ptr<CommitFiles> in_commit_;  // of the landing
};

}  // namespace dibs
