// Files, as the rest of dibs sees them: the seam that tests replace with a disk that loses what
// was not synced. Every call says what happened; none retries a failed sync, because the second
// one would report success for data that is gone.
//
// All opens are close-on-exec and follow no symbolic link in the last component.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dibs {

inline constexpr unsigned kPrivateFile = 0600;
inline constexpr unsigned kPrivateDirectory = 0700;

/// An open file. Not for use from several threads at once.
class File {
 public:
  virtual ~File() = default;
  // Fills `buffer` from `offset` on; fewer bytes only where the file ends.
  [[nodiscard]] virtual Result<std::size_t> read_at(std::uint64_t offset,
                                                    std::span<char> buffer) = 0;
  // Writes all of `bytes` at the end. After a failure any prefix of them may stand there.
  [[nodiscard]] virtual Done append(std::string_view bytes) = 0;
  // Cuts it to `size` bytes; a shorter one gets zeros that take no room on the disk.
  [[nodiscard]] virtual Done truncate(std::uint64_t size) = 0;
  // On disk when it returns. After a failure nothing may be assumed about what was appended.
  [[nodiscard]] virtual Done sync() = 0;
  [[nodiscard]] virtual Result<std::uint64_t> size() = 0;
  // All of it, for as long as the file is open; only what is looked at is read. For files that are
  // replaced as a whole and never changed.
  [[nodiscard]] virtual Result<std::string_view> contents();

 private:
  std::string contents_;  // where nothing better is to be had
};

/// A lock held on a lock file until destroyed. The file itself is never removed: two processes
/// that lock two files of one name would both hold "the" lock.
class FileLock {
 public:
  virtual ~FileLock() = default;
  // For handing it to a program that goes on when we are killed: the lock ends when both have. -1
  // when there is no such thing.
  [[nodiscard]] virtual int descriptor() const { return -1; }
};

/// Sees changes in one directory from the moment it is made: make it, look, and then wait, so that
/// nothing falls between looking and waiting.
class DirectoryWatch {
 public:
  virtual ~DirectoryWatch() = default;
  // Returns when something may have changed since the watch was made or last returned, or after
  // `most_ms`.
  virtual void wait(std::int64_t most_ms) = 0;
};

enum class Open {
  read,
  append,         // read and append; the file must be there
  create_append,  // the same, made if it is not there
};

enum class Patience {
  at_once,
  wait,       // until one process has kept it for kLockWaitMs: then it is an error
  wait_long,  // the same with kLongLockWaitMs, where whole work trees are written under the lock
};
inline constexpr std::int64_t kLockWaitMs = 60'000;
inline constexpr std::int64_t kLongLockWaitMs = 60LL * 60 * 1000;

enum class FileKind { regular, directory, symlink, other };

struct FileStatus {
  FileKind kind = FileKind::other;
  unsigned mode = 0;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_unix_ns = 0;
  std::int64_t changed_unix_ns = 0;  // contents, name, owner or mode
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Null when there is no such file.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> open(const std::string& path, Open how,
                                                           unsigned mode = kPrivateFile) = 0;
  // Null when `at_once` and another holds it.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                               Patience patience,
                                                               unsigned mode = kPrivateFile) = 0;
  // Nothing when there is no such file; an error when it is larger than `most`.
  [[nodiscard]] virtual Result<std::optional<std::string>> read_file(const std::string& path,
                                                                     std::size_t most) = 0;
  // The whole file, new or replaced, atomically: temp file, sync, rename, sync of the directory.
  [[nodiscard]] virtual Done replace_file(const std::string& path, std::string_view contents,
                                          unsigned mode = kPrivateFile) = 0;
  [[nodiscard]] virtual Done rename(const std::string& from, const std::string& to) = 0;
  // The same if nothing is at `to`; false when something is, which stays. An error also where the
  // file system cannot do that.
  [[nodiscard]] virtual Result<bool> rename_new(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual Done remove(const std::string& path) = 0;  // fine when it is not there
  [[nodiscard]] virtual Done sync_directory(const std::string& path) = 0;
  // All these files and directories are on disk when it returns; one that is not there is passed
  // over. For what need not be there in order: waiting for each of several flushes is dear.
  [[nodiscard]] virtual Done sync_all(const std::vector<std::string>& paths);
  // Fine when it is there already; sets exactly `mode`, whatever the umask, when it makes it.
  [[nodiscard]] virtual Done make_directory(const std::string& path,
                                            unsigned mode = kPrivateDirectory) = 0;
  [[nodiscard]] virtual Done change_mode(const std::string& path, unsigned mode) = 0;
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;
  // Nothing when there is nothing at `path`. Does not follow a final symbolic link.
  [[nodiscard]] virtual Result<std::optional<FileStatus>> status(const std::string& path) = 0;
  [[nodiscard]] virtual Result<std::string> real_path(const std::string& path) = 0;
  // "nfs", "cifs", "fuse"… when locks and syncs of the file system under `path` cannot be trusted.
  [[nodiscard]] virtual std::optional<std::string> untrusted_kind(const std::string& path) = 0;
  [[nodiscard]] virtual std::unique_ptr<DirectoryWatch> watch(const std::string& directory) = 0;
};

// True also when it cannot be told: callers make or remove something only where there is nothing.
[[nodiscard]] bool is_there(FileSystem& files, const std::string& path);
// The folder that something lies in; "/" lies in itself.
[[nodiscard]] std::string parent_of(const std::string& path);

}  // namespace dibs
