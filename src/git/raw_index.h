// An index of our own over the user's objects, through which files go into trees and out of them
// byte for byte.
//
// In the user's repository, attributes and settings make git change what it stores: line ends,
// filters, keywords, encodings. They are right for commits, and wrong for keeping what is on disk.
// Attributes can be overruled in one place only, a git directory's info/attributes; so this makes a
// git directory for a moment, and writes the objects into the user's.
//
//   Result<RawIndex> index = RawIndex::make(surroundings, worktree);
//   index->put(lines);  index->take(paths);  Result<std::string> tree = index->write_tree();
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/repository.h"
#include "git/surroundings.h"
#include "sys/scratch.h"

namespace dibs {

class RawIndex {
 public:
  // Over the objects and the work tree of `worktree`, which may be a submodule.
  [[nodiscard]] static Result<RawIndex> make(const Surroundings& around,
                                             const Repository& worktree);

  // Lines as `git update-index -z --index-info` takes them.
  [[nodiscard]] Done put(std::string_view lines);
  // What stands at these paths in the work tree: contents, modes, links, or that nothing does.
  [[nodiscard]] Done take(const std::vector<std::string>& paths);
  // Replaces everything by the contents of a tree.
  [[nodiscard]] Done read(const std::string& tree);
  [[nodiscard]] Done leave_out(const std::vector<std::string>& paths);
  [[nodiscard]] Done clear();
  [[nodiscard]] Result<std::string> write_tree();
  // Writes every file into the work tree.
  [[nodiscard]] Done check_out();

 private:
  RawIndex(const GitProgram& git, FileSystem& files, Repository worktree, ScratchDirectory scratch)
      : git_(git), files_(files), worktree_(std::move(worktree)), scratch_(std::move(scratch)) {}
  [[nodiscard]] Done fill(const Surroundings& around);
  [[nodiscard]] Result<std::string> run(std::vector<std::string> arguments, std::string_view input);
  [[nodiscard]] Done tell_paths(std::vector<std::string> arguments,
                                const std::vector<std::string>& paths);

  const GitProgram& git_;
  FileSystem& files_;
  Repository worktree_;
  ScratchDirectory scratch_;
};

}  // namespace dibs
