#include "items/source_in_tree.h"

namespace dibs {

SourceFiles& SourceInTree::tree() {
  if (in_commit_ != nullptr) return *in_commit_;
  return on_disk_;
}

bool SourceInTree::stand_on(const RefMove& landing) {
  landing_ = landing;
  in_commit_ = std::make_unique<CommitFiles>(site_.git, site_.git_dir, landing.to, below_);
  return true;
}

// Nobody else changes a commit, so there is no turn to keep until the branch has moved.
Result<std::optional<ItemSource::Prepared>> SourceInTree::prepare(const Batch& batch) {
  if (!landing_) return fail(ErrorKind::internal, "nothing lands that the change could go with");
  const Result<bool> written = write(batch);
  if (!written) return fail(written.error());
  if (!*written) return std::nullopt;
  Prepared prepared{
      .ref = landing_->name, .from = landing_->from, .to = landing_->to, .turn = nullptr};
  if (in_commit_->changes().empty()) return prepared;
  const Result<std::string> made = BranchFiles(site_.git, site_.git_dir)
                                       .write({.parent = landing_->to,
                                               .changes = in_commit_->changes(),
                                               .message = batch.message + "\n",
                                               .unix_ms = batch.unix_ms,
                                               .author = batch.author.text});
  if (!made) return fail(made.error());
  prepared.to = *made;
  return prepared;
}

}  // namespace dibs
