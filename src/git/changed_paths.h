// What a branch changed since it parted from another, and whether the two can be in each other's
// way at all. Most branches cannot, and then git need not be asked: comparing the paths of two
// branches costs a thousandth of a merge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

/// Paths by component, so that a folder stands right before what is in it; a renamed file is one
/// that went and one that came.
struct ChangedPaths {
  std::vector<std::string> all;
  std::vector<std::string> added;
  std::vector<std::string> deleted;

  friend bool operator==(const ChangedPaths&, const ChangedPaths&) = default;
};

// Adds what the other has: what was changed in one of two steps, or in both.
void join(ChangedPaths& changed, const ChangedPaths& more);

/// A commit as git was asked to name it, and what it changed.
struct CommitChanges {
  std::string commit;
  ChangedPaths paths;
};
// What `git diff-tree --stdin --always -z --name-status` says, one entry a commit that it was asked
// about, or `git log -z --name-status` with a format of one line.
[[nodiscard]] Result<std::vector<CommitChanges>> parse_commit_changes(std::string_view out);

// False only if git is certain to merge the two without a conflict.
[[nodiscard]] bool may_collide(const ChangedPaths& one, const ChangedPaths& other);

}  // namespace dibs
