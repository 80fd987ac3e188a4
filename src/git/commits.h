// Questions about commits and branches of one repository, answered by git, or from its files where
// those tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "sys/file_system.h"

namespace dibs {

class Commits {
 public:
  // `git_dir` decides what HEAD is: a linked worktree has one of its own.
  Commits(FileSystem& files, const GitProgram& git, std::string git_dir)
      : files_(files), git_(git), git_dir_(std::move(git_dir)) {}

  // The commit that a branch, tag, abbreviation or HEAD stands for; nothing when there is none.
  [[nodiscard]] Result<std::optional<std::string>> find(const std::string& revision) const;
  // The same, and `not_found` when there is none.
  [[nodiscard]] Result<std::string> resolve(const std::string& revision) const;
  [[nodiscard]] Result<bool> is_ancestor(const std::string& ancestor,
                                         const std::string& descendant) const;
  // Where a symbolic ref points; nothing when it is not there or not symbolic.
  [[nodiscard]] Result<std::optional<std::string>> symbolic(const std::string& ref) const;

  // Whether all of these stay reachable when only refs chosen by `staying` are left, in the words
  // of `git rev-list`: {"--remotes"}, or {"--exclude=refs/heads/a", "--glob=refs/*"}.
  [[nodiscard]] Result<bool> all_reachable(const std::vector<std::string>& commits,
                                           const std::vector<std::string>& staying) const;

 private:
  [[nodiscard]] GitProgram::Call call(std::vector<std::string> arguments) const;

  FileSystem& files_;
  const GitProgram& git_;
  std::string git_dir_;
};

// The first line of what git answered, without its newline.
[[nodiscard]] std::string first_line(std::string_view text);

}  // namespace dibs
