// Items as folders on the target branch: docs/work/{category}/{state}/{item}/. Read from the branch
// itself and not from the work tree, so that every worktree sees the same at once; a change is one
// commit there, which moves the whole folder when the state changes.
#pragma once

#include <functional>
#include <memory>

#include "git/branch_files.h"
#include "git/ref_files.h"
#include "items/source_site.h"
#include "items/work_folders.h"

namespace dibs {

inline constexpr const char* kWorkFolder = "docs/work";

class FoldersSource final : public ItemSource {
 public:
  struct Branch {
    std::string name;         // main
    std::string commit;       // where it begins when there is no such branch yet
    std::string remote = {};  // whose branch it is; empty: ours
    // Learns where the remote's branch is now.
    std::function<Done()> look_again = {};

    [[nodiscard]] std::string ref() const { return "refs/heads/" + name; }
    // Where it was seen last.
    [[nodiscard]] std::string seen() const {
      return remote.empty() ? ref() : "refs/remotes/" + remote + "/" + name;
    }
  };
  // `folder` is below the top of the tree. The workflow must outlive it.
  FoldersSource(SourceSite site, Branch branch, const Workflow& workflow,
                std::string folder = kWorkFolder)
      : site_(std::move(site)),
        branch_(std::move(branch)),
        workflow_(workflow),
        folder_(std::move(folder)),
        refs_(site_.files, site_.git_dir),
        commits_(site_.git, site_.git_dir) {}

  [[nodiscard]] Result<ItemList> read_all() override;
  [[nodiscard]] Result<Catalog> catalog(const Workflow& workflow) override;
  [[nodiscard]] Result<bool> is_up_to_date(const Catalog& catalog) override;
  [[nodiscard]] Result<std::vector<StoredItem>> read(const std::vector<ItemId>& ids) override;
  [[nodiscard]] Result<bool> write(const Batch& batch) override;
  [[nodiscard]] bool stand_on(const RefMove& landing) override;
  [[nodiscard]] Result<std::optional<Prepared>> prepare(const Batch& batch) override;
  void moved(const Prepared& prepared, const Batch& batch) override;
  [[nodiscard]] Result<std::vector<ItemRevision>> history(const ItemId& id,
                                                          std::size_t most) override;

 private:
  /// All that lies there at a commit.
  struct Read {
    WorkFolders work;
    std::vector<WorkFolders::Move> gathered;   // how that was brought about
    std::map<std::string, std::string> modes;  // of the files that were read
  };
  [[nodiscard]] Result<std::string> tip();
  // Its files, with paths below the folder.
  [[nodiscard]] Result<std::vector<BranchEntry>> files_at(const std::string& commit);
  // What the landing tore apart is put together; how, is said.
  [[nodiscard]] Result<std::vector<WorkFolders::Move>> gather(std::vector<BranchEntry>& files);
  // A command asks several times about one commit, and it stays as it is.
  [[nodiscard]] Result<std::shared_ptr<const Read>> read_at(const std::string& commit);
  [[nodiscard]] Result<Read> read_anew(const std::string& commit);
  // Nothing when something is not as expected.
  [[nodiscard]] Result<std::optional<BranchFiles::NewCommit>> commit_of(const Batch& batch,
                                                                        const std::string& parent);

  // False when somebody was faster.
  [[nodiscard]] Result<bool> send(const BranchFiles::NewCommit& commit);
  void note_seen(const std::string& commit);

  SourceSite site_;
  Branch branch_;
  const Workflow& workflow_;
  std::string folder_;
  RefFiles refs_;
  BranchFiles commits_;
  std::optional<RefMove> landing_;
  std::string last_commit_;
  std::shared_ptr<const Read> last_;
};

}  // namespace dibs
