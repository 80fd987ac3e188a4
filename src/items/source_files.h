// The files of a source, by their paths from the top of a tree: of a directory, or of a commit that
// is about to land. Sources read and write them the same way in both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/branch_files.h"
#include "items/found_items.h"
#include "sys/file_system.h"

namespace dibs {

inline constexpr unsigned kSharedFile = 0644;  // what git checks out
inline constexpr unsigned kSharedDirectory = 0755;
inline constexpr std::size_t kSourceFilesMax = 200'000;

class SourceFiles {
 public:
  virtual ~SourceFiles() = default;

  // Nothing when it is not there; an error when it is larger than `most_bytes`, or no file.
  [[nodiscard]] virtual Result<std::optional<std::string>> read(const std::string& path,
                                                                std::size_t most_bytes) = 0;
  // The names of what lies directly in a folder; of one that is not there, none.
  [[nodiscard]] virtual Result<std::vector<std::string>> names_in(const std::string& folder) = 0;
  // Those of them that are folders.
  [[nodiscard]] virtual Result<std::vector<std::string>> folders_in(const std::string& folder) = 0;
  // With the folders above it; a file that is there keeps its mode.
  [[nodiscard]] virtual Done write(const TextFile& file) = 0;
  [[nodiscard]] virtual Done remove(const std::string& path) = 0;
};

class DirectoryFiles final : public SourceFiles {
 public:
  DirectoryFiles(FileSystem& files, std::string top) : files_(files), top_(std::move(top)) {}

  [[nodiscard]] Result<std::optional<std::string>> read(const std::string& path,
                                                        std::size_t most_bytes) override;
  [[nodiscard]] Result<std::vector<std::string>> names_in(const std::string& folder) override;
  [[nodiscard]] Result<std::vector<std::string>> folders_in(const std::string& folder) override;
  [[nodiscard]] Done write(const TextFile& file) override;
  [[nodiscard]] Done remove(const std::string& path) override;

 private:
  [[nodiscard]] std::string at(const std::string& path) const {
    return path.empty() ? top_ : top_ + "/" + path;
  }

  FileSystem& files_;
  std::string top_;
};

/// What is written here is kept until somebody makes a commit of it.
class CommitFiles final : public SourceFiles {
 public:
  // `below` is the one file, or the folder, that is ever asked for.
  CommitFiles(const GitProgram& git, std::string git_dir, std::string commit, std::string below)
      : commits_(git, std::move(git_dir)), commit_(std::move(commit)), below_(std::move(below)) {}

  [[nodiscard]] Result<std::optional<std::string>> read(const std::string& path,
                                                        std::size_t most_bytes) override;
  [[nodiscard]] Result<std::vector<std::string>> names_in(const std::string& folder) override;
  [[nodiscard]] Result<std::vector<std::string>> folders_in(const std::string& folder) override;
  [[nodiscard]] Done write(const TextFile& file) override;
  [[nodiscard]] Done remove(const std::string& path) override;

  [[nodiscard]] const std::vector<FileChange>& changes() const { return changes_; }

 private:
  struct Entry {
    BranchEntry entry;
    std::optional<std::string> text;  // none: too large
  };
  // All at once: one by one, each would take a git of its own.
  [[nodiscard]] Done load();

  BranchFiles commits_;
  std::string commit_;
  std::string below_;
  bool loaded_ = false;
  std::map<std::string, Entry> entries_;
  std::vector<FileChange> changes_;
};

}  // namespace dibs
