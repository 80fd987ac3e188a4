// What a merge of two commits of the items ref has to change in the first of them. Files that one
// side changed are as that side has them, byte for byte, whatever they are; items that both changed
// are merged by field.
//
// An item that one side removed and the other changed is kept. Of a file that cannot be merged the
// one that can be read is kept, and a note says where the other still is.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/branch_files.h"

namespace dibs {

struct ItemTrees {
  std::string git_dir;
  std::string base;  // empty: they have nothing in common
  std::string ours;
  std::string theirs;
};

struct ItemTreeMerge {
  std::vector<FileChange> changes;  // against ours
  std::vector<TakenFile> taken;     // likewise
  std::size_t merged = 0;           // items that both had changed
  std::vector<std::string> notes;   // for the person
};

[[nodiscard]] Result<ItemTreeMerge> merge_item_trees(const GitProgram& git, const ItemTrees& trees);

// How many files two commits differ in; an empty one has no files.
[[nodiscard]] Result<std::size_t> count_between(const GitProgram& git, const std::string& git_dir,
                                                const std::string& from, const std::string& to);

}  // namespace dibs
