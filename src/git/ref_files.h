// The refs of a repository, read from git's own files: starting git for one of them would cost a
// tenth of a claim on a remote, and more than a whole one here. A ref is a file of its own or a
// line of `packed-refs`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "sys/file_system.h"

namespace dibs {

inline constexpr std::size_t kLooseRefMax = 4096;
inline constexpr std::size_t kPackedRefsMax = 64UL * 1024 * 1024;

class RefFiles {
 public:
  RefFiles(FileSystem& files, std::string git_dir) : files_(files), git_dir_(std::move(git_dir)) {}

  // The commit that it points to; empty when there is no such ref.
  [[nodiscard]] Result<std::string> commit_at(const std::string& ref);
  // How many refs of a folder, such as "refs/dibs/r/", are files of their own.
  [[nodiscard]] std::size_t loose_in(const std::string& folder);
  // How many there are at most: one that moved since it was packed counts twice.
  [[nodiscard]] std::size_t most_in(const std::string& folder);

 private:
  [[nodiscard]] Done read_packed();

  FileSystem& files_;
  std::string git_dir_;
  std::map<std::string, std::string, std::less<>> packed_;  // ref: commit
  std::uint64_t packed_inode_ = 0;                          // git replaces the file, never edits it
};

}  // namespace dibs
