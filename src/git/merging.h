// Bringing a branch and its target together, without touching any work tree or index: everything
// happens on objects, and refs are somebody else's to move.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/flushing.h"
#include "git/git_program.h"

namespace dibs {

enum class LandMode {
  merge,   // a merge commit, always, so that the target's first parents are one landing each
  rebase,  // the branch's own commits, one after the other, on top of the target
  squash,  // one commit with all of it
};

[[nodiscard]] std::optional<LandMode> parse_land_mode(std::string_view name);

struct MergeRequest {
  LandMode mode = LandMode::merge;
  std::string target;                 // commit
  std::string branch;                 // commit
  std::string subject;                // first line of the commit that merge and squash make
  std::vector<std::string> trailers;  // "Name: value", for every commit that is made
  std::string tree = {};  // of merge and squash, where conflicts were resolved; else git merges
};

/// Either where the target would stand, or what is in the way.
struct MergeEnd {
  std::string commit;                  // empty: it conflicts
  std::vector<std::string> conflicts;  // paths
  std::string at;                      // rebase: the commit that conflicts
};

/// What becomes of a file that is put into a folder which the other side has moved.
enum class MovedFolders {
  as_git_is_set,  // usually a conflict
  stay,           // it stays where it was put
};

class Merging {
 public:
  // `git_dir` is any git directory of the repository.
  Merging(const GitProgram& git, std::string git_dir, Flushing flushing = Flushing::at_once,
          MovedFolders moved_folders = MovedFolders::as_git_is_set)
      : git_(git),
        git_dir_(std::move(git_dir)),
        flushing_(flushing),
        moved_folders_(moved_folders) {}

  // The commits that the branch has and the target has not, oldest first.
  [[nodiscard]] Result<std::vector<std::string>> commits_to_land(const MergeRequest& request) const;
  // The files in which two commits differ, in git's order.
  [[nodiscard]] Result<std::vector<std::string>> changed_paths(const std::string& from,
                                                               const std::string& to) const;
  // What is made is on disk when it returns, unless it is not to be flushed.
  [[nodiscard]] Result<MergeEnd> merge(const MergeRequest& request) const;

 private:
  struct MergedTree {
    std::string tree;  // empty: it conflicts
    std::vector<std::string> conflicts;
  };
  struct NewCommit {
    std::string tree;
    std::vector<std::string> parents;
    std::string message;
    std::vector<std::string> environment;  // its author, where that is not the caller
  };

  struct Described {
    std::size_t parents = 0;
    std::string message;
    std::vector<std::string> author;  // as git's environment takes it
  };

  [[nodiscard]] Result<std::string> ask(std::vector<std::string> arguments,
                                        std::string_view input = {}) const;
  // In the words of `git rev-list`; oldest first.
  [[nodiscard]] Result<std::vector<std::string>> list(const std::vector<std::string>& which) const;
  [[nodiscard]] Result<MergedTree> merged_tree(const std::string& ours,
                                               const std::string& theirs) const;
  [[nodiscard]] Result<std::string> commit(const NewCommit& commit) const;
  [[nodiscard]] Result<std::string> with_trailers(const std::string& message,
                                                  const MergeRequest& request) const;
  [[nodiscard]] Result<MergeEnd> merge_or_squash(const MergeRequest& request) const;
  [[nodiscard]] Result<MergeEnd> rebase(const MergeRequest& request) const;
  [[nodiscard]] Result<MergeEnd> put_on(const std::string& tip, const std::string& commit,
                                        const MergeRequest& request) const;
  [[nodiscard]] Result<Described> described(const std::string& commit) const;
  [[nodiscard]] Result<MergedTree> picked(const std::string& onto, const std::string& commit) const;
  [[nodiscard]] Result<std::string> squash_message(const MergeRequest& request) const;

  const GitProgram& git_;
  std::string git_dir_;
  Flushing flushing_;
  MovedFolders moved_folders_;
};

}  // namespace dibs
