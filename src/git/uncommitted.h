// What in a work tree is in no commit yet. Asked before anything is deleted or handed on.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/repository.h"

namespace dibs {

inline constexpr std::size_t kNamedPathsMax = 10;

/// Some paths: how many there are, and the first of them by name.
struct Paths {
  std::size_t count = 0;
  std::vector<std::string> first;  // at most kNamedPathsMax

  void add(std::string_view path);
};

struct Uncommitted {
  Paths tracked;    // changed, staged, deleted, or in conflict
  Paths untracked;  // new, and not ignored

  [[nodiscard]] bool any() const { return tracked.count + untracked.count > 0; }
};

// As `git status` sees it, submodules included, and what it was told not to look at: files marked
// assume-unchanged or skip-worktree that are there and differ.
[[nodiscard]] Result<Uncommitted> uncommitted_in(FileSystem& files, const GitProgram& git,
                                                 const Repository& worktree);
struct IndexEntry;
// The same for whoever knows which entries are marked so already; others may be among them.
[[nodiscard]] Result<Uncommitted> uncommitted_in(FileSystem& files, const GitProgram& git,
                                                 const Repository& worktree,
                                                 std::vector<IndexEntry> entries);

/// One entry of an index, as `git ls-files --stage -v` tells it.
struct IndexEntry {
  char tag = 'H';  // lower case: assumed unchanged; S: skip-worktree
  std::string mode;
  std::string object;
  char stage = '0';  // 1 to 3 while a conflict is not resolved
  std::string path;

  [[nodiscard]] bool skipped() const { return tag == 'S' || tag == 's'; }
  [[nodiscard]] bool hidden() const { return tag == 'h' || skipped(); }
  [[nodiscard]] bool is_submodule() const { return mode == "160000"; }
};
[[nodiscard]] std::vector<IndexEntry> parse_index_listing(std::string_view listing);
// `git ls-files --stage -v -z`
[[nodiscard]] Result<std::string> index_listing(const GitProgram& git, const Repository& worktree);
// The line that puts it into an index: for `git update-index -z --index-info`.
[[nodiscard]] std::string index_line(const IndexEntry& entry, std::string_view folder = {});

// New files that are not ignored. A name that ends in '/' is a git repository of its own.
[[nodiscard]] Result<std::vector<std::string>> untracked_paths(const GitProgram& git,
                                                               const Repository& worktree);

}  // namespace dibs
