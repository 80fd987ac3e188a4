// The files of a branch that nobody checks out: listed, read and changed in a repository's object
// store alone. For a branch that serves as a shared table, one file a row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/batch_answers.h"
#include "git/flushing.h"
#include "git/git_program.h"

namespace dibs {

struct BranchEntry {
  std::string path;
  std::string object;
  bool is_file = false;  // no folder, symbolic link or submodule
  std::string mode = {};
};

/// A new content, or none: then the file is removed, or the folder with all that is in it.
struct FileChange {
  std::string path;
  std::optional<std::string> text;
  std::string mode = "100644";
};

/// A file or a whole folder that goes elsewhere, with contents and modes as they are.
struct PathMove {
  std::string from;
  std::string to;

  friend bool operator==(const PathMove&, const PathMove&) = default;
};

/// A file as another commit has it.
struct TakenFile {
  std::string path;
  std::string mode;
  std::string object;
};

class BranchFiles {
 public:
  // `directory` is a bare repository that has the commits asked about.
  BranchFiles(const GitProgram& git, std::string directory, Flushing flushing = Flushing::at_once)
      : git_(git), directory_(std::move(directory)), flushing_(flushing) {}

  // What is at these paths in a commit; a path that ends in '/' stands for what is in that folder.
  // No paths: everything there is.
  [[nodiscard]] Result<std::vector<BranchEntry>> list(const std::string& commit,
                                                      const std::vector<std::string>& paths) const;
  // Every file in a folder of a commit, however deep.
  [[nodiscard]] Result<std::vector<BranchEntry>> list_below(const std::string& commit,
                                                            const std::string& folder) const;
  // The same, or the one file that this path is.
  [[nodiscard]] Result<std::vector<BranchEntry>> list_at(const std::string& commit,
                                                         const std::string& path) const;
  // The contents of these objects, by their names. The caller has seen how large they are.
  [[nodiscard]] Result<std::map<std::string, std::string>> read(
      const std::vector<std::string>& objects) const;

  // The same one after the other, as git finds them; one that is larger than `most_bytes` without
  // its text. For more than one wants to have at once.
  [[nodiscard]] Done read_each(const std::vector<std::string>& objects, std::uint64_t most_bytes,
                               const AnswersAsTheyCome::Each& each) const;

  struct Found {
    std::string object;
    std::string text;
  };
  // What the files at these paths hold in a commit, by path; one that is not there is left out.
  [[nodiscard]] Result<std::map<std::string, Found>> read_at(
      const std::string& commit, const std::vector<std::string>& paths) const;

  struct NewCommit {
    std::string parent;  // empty: it is the first
    std::vector<FileChange> changes;
    std::string message;
    std::int64_t unix_ms = 0;
    std::string author = "dibs";
    std::string merged = {};  // a second parent; empty: there is none
    std::vector<TakenFile> taken = {};
    std::vector<PathMove> moves = {};  // one after the other, before `changes`
  };
  // Makes a commit with all files of its parent but the changed ones, and does not put it anywhere
  // yet.
  [[nodiscard]] Result<std::string> write(const NewCommit& commit) const;
  // The same, and `ref` moves from the parent to it. Nothing when the ref is not there any more.
  // `under` is a lock that git goes on holding if we are killed.
  [[nodiscard]] Result<std::optional<std::string>> put(const NewCommit& commit,
                                                       const std::string& ref,
                                                       const FileLock* under = nullptr) const;
  // What the commit will say, all but its tree.
  [[nodiscard]] static std::string told_by(const NewCommit& commit);

  // What the newest commits say that have this text in their message, at most so many.
  [[nodiscard]] Result<std::vector<std::string>> messages(const std::string& commit,
                                                          const std::string& containing,
                                                          std::size_t most) const;

 private:
  [[nodiscard]] Result<std::vector<BranchEntry>> entries_of(
      std::vector<std::string> arguments) const;
  [[nodiscard]] Result<std::string> ask_for(const std::vector<std::string>& names) const;
  [[nodiscard]] GitProgram::Call call(std::vector<std::string> arguments) const;
  [[nodiscard]] GitProgram::Call writing(std::vector<std::string> arguments) const;

  const GitProgram& git_;
  std::string directory_;
  Flushing flushing_;
};

}  // namespace dibs
