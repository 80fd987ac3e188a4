// A commit that changes a few files in folders, made without git: blobs, trees and the commit as
// loose objects. For who has just read the trees and would otherwise start two processes for it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "git/branch_files.h"
#include "sys/file_system.h"

namespace dibs {

/// Trees of one commit, as git keeps them (git/tree_object).
struct KnownTrees {
  std::string root;
  std::map<std::string, std::string> folders;  // by name; not below each other
};

// On disk when it answers with the commit. Nothing where git should do it: files that go, are in no
// folder, in deeper ones or in those that are not known; merges; moves.
[[nodiscard]] Result<std::optional<std::string>> write_loose_commit(
    FileSystem& files, const std::string& common_dir, const BranchFiles::NewCommit& commit,
    const KnownTrees& trees);

}  // namespace dibs
