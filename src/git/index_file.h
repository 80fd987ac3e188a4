// A worktree's index, read from its file: that spares a git process wherever it tells enough.
// Format: git's Documentation/gitformat-index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/repository.h"
#include "sys/file_system.h"

namespace dibs {

struct IndexedFile {
  std::string_view path;
  std::uint32_t mode = 0;   // as in a tree
  std::string_view object;  // its bytes
  bool marked = false;      // assumed unchanged, or not in the work tree
  bool ordinary = true;     // not marked, in no conflict, and not only meant to be added
  // How the file was when git last looked at it, as far as it fits into 32 bits.
  std::int64_t modified_unix_ns = 0;
  std::int64_t changed_unix_ns = 0;
  std::uint32_t inode = 0;
  std::uint32_t bytes = 0;

  [[nodiscard]] bool is_submodule() const { return mode == 0160000; }
};

struct IndexFile {
  std::vector<IndexedFile> files;  // ordered by path
  std::string_view tree;           // that they make, its name's bytes; empty when that is not known

  [[nodiscard]] bool has_marked() const;
  [[nodiscard]] bool has_submodules() const;
};

// Of `bytes`, which have to stay. Nothing when it is of a kind that only git should read: another
// version, split or sparse.
[[nodiscard]] std::optional<IndexFile> parse_index(std::string_view bytes,
                                                   std::size_t object_bytes);

/// What the index of a worktree says, and of when it is.
struct ReadIndex {
  std::string head;  // the commit that is checked out
  std::string bytes;
  std::int64_t modified_unix_ns = 0;

  [[nodiscard]] std::optional<IndexFile> parsed() const {
    return parse_index(bytes, head.size() / 2);
  }
};
// Nothing when there is no index or no commit, or they cannot be read.
[[nodiscard]] std::optional<ReadIndex> read_index(FileSystem& files, const Repository& worktree);

}  // namespace dibs
