// A merge that does not work out by itself, taken apart: which files conflict, with what each side
// has, and how to make a tree of it once somebody has decided. Objects alone; landing calls this
// where the configuration says what becomes of such files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"

namespace dibs {

inline constexpr std::size_t kConflictedFileBytesMax = 32UL * 1024 * 1024;

struct FileVersion {
  std::string mode;
  std::string object;

  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

/// A version that is missing: the file is not there on that side.
struct ConflictedFile {
  std::string path;
  std::optional<FileVersion> base;
  std::optional<FileVersion> target;
  std::optional<FileVersion> work;
};

struct ConflictedMerge {
  std::string tree;  // with the rest merged
  std::vector<ConflictedFile> files;
  // All of it is about what ordinary files hold, or whether they are there: none was renamed to two
  // names, none is a folder on the other side, none is a link or a repository.
  bool about_contents = false;
};

// What `git merge-tree --write-tree -z --messages` says about a merge that conflicts.
[[nodiscard]] Result<ConflictedMerge> parse_conflicted_merge(std::string_view out);

/// What becomes of one file; without a version it is not there.
struct DecidedFile {
  std::string path;
  std::optional<FileVersion> version;
};

class ConflictedMerges {
 public:
  ConflictedMerges(const GitProgram& git, std::string git_dir)
      : git_(git), git_dir_(std::move(git_dir)) {}

  [[nodiscard]] Result<ConflictedMerge> merge(const std::string& target,
                                              const std::string& work) const;
  // `scratch` is a directory for a moment's files.
  [[nodiscard]] Result<std::string> decided_tree(const std::string& tree,
                                                 const std::vector<DecidedFile>& files,
                                                 const std::string& scratch) const;
  [[nodiscard]] Result<std::string> read(const std::string& object) const;
  [[nodiscard]] Result<std::string> write(std::string_view text) const;

 private:
  const GitProgram& git_;
  std::string git_dir_;
};

}  // namespace dibs
