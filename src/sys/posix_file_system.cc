#include "sys/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "sys/descriptor.h"
#include "sys/lock_wait.h"
#include "sys/randomness.h"
#include "sys/sync_together.h"

namespace dibs {

namespace {

std::string hint_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, then run the command again; `dibs claim release` still works";
    case EROFS:
      return "make the file system writable, then run the command again";
    case EACCES:
    case EPERM:
      return "check who owns the files, or share the repository: git config core.sharedRepository "
             "group";
    case ELOOP:
      return "a symbolic link stands there, and dibs follows none in its directory: remove it";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files: ulimit -n 1024";
    default:
      return {};
  }
}

tl::unexpected<Error> failed(std::string_view doing, const std::string& path, int error) {
  return fail(ErrorKind::internal,
              fmt::format("cannot {} {}: {}", doing, printable(path), std::strerror(error)),
              hint_for(error));
}

template <class Call>
auto retrying(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) override {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const ssize_t got = retrying([&] {
        return ::pread(fd_.get(), buffer.data() + done, buffer.size() - done,
                       static_cast<off_t>(offset + done));
      });
      if (got < 0) return failed("read", path_, errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Done append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = retrying([&] { return ::write(fd_.get(), bytes.data(), bytes.size()); });
      if (put < 0) return failed("write", path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

  Done truncate(std::uint64_t size) override {
    if (retrying([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) == 0) return {};
    return failed("change the size of", path_, errno);
  }

  Done sync() override {
    if (::fdatasync(fd_.get()) == 0) return {};
    return failed("flush", path_, errno);
  }

  Result<std::uint64_t> size() override {
    struct stat status{};
    if (::fstat(fd_.get(), &status) != 0) return failed("look at", path_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<std::string_view> contents() override {
    const Result<std::uint64_t> bytes = size();
    if (!bytes) return fail(bytes.error());
    if (*bytes == 0 || mapping_ != nullptr) return std::string_view(mapping_, mapped_bytes_);
    void* mapping = ::mmap(nullptr, *bytes, PROT_READ, MAP_PRIVATE, fd_.get(), 0);
    if (mapping == MAP_FAILED) return File::contents();
    mapping_ = static_cast<char*>(mapping);
    mapped_bytes_ = *bytes;
    return std::string_view(mapping_, mapped_bytes_);
  }

  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override {
    if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
  }

 private:
  Descriptor fd_;
  std::string path_;
  char* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

class PosixFileLock final : public FileLock {
 public:
  explicit PosixFileLock(Descriptor fd) : fd_(std::move(fd)) {}
  [[nodiscard]] int descriptor() const override { return fd_.get(); }

 private:
  Descriptor fd_;  // closing it gives the lock back
};

class InotifyWatch final : public DirectoryWatch {
 public:
  explicit InotifyWatch(const std::string& directory)
      : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    constexpr std::uint32_t kChanges = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF;
    watching_ =
        events_.is_open() && ::inotify_add_watch(events_.get(), directory.c_str(), kChanges) >= 0;
  }

  void wait(std::int64_t most_ms) override {
    // Without a watch (too many, or none on this file system) the caller looks again this often.
    constexpr std::int64_t kPollMs = 200;
    const std::int64_t wait_ms =
        std::min<std::int64_t>(watching_ ? most_ms : std::min(most_ms, kPollMs), INT_MAX);
    pollfd ready{.fd = watching_ ? events_.get() : -1, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(wait_ms)) > 0) drain();
  }

 private:
  void drain() {
    std::array<char, 4096> ignored{};
    while (::read(events_.get(), ignored.data(), ignored.size()) > 0) {
    }
  }

  Descriptor events_;
  bool watching_ = false;
};

int flags_for(Open how) {
  constexpr int kAlways = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  switch (how) {
    case Open::read:
      return kAlways | O_RDONLY;
    case Open::append:
      return kAlways | O_RDWR | O_APPEND;
    case Open::create_append:
      return kAlways | O_RDWR | O_APPEND | O_CREAT;
  }
  return kAlways | O_RDONLY;
}

// The umask narrows what open() asked for; a shared repository's group must not lose its access.
void widen_to(int fd, unsigned mode) {
  struct stat status{};
  if (::fstat(fd, &status) == 0 && status.st_size == 0 && (status.st_mode & 0777U) != mode) {
    (void)::fchmod(fd, mode);  // another user's file in a shared repository: its maker set the mode
  }
}

struct KnownFileSystem {
  std::uint32_t magic;
  const char* name;
};
constexpr std::array<KnownFileSystem, 9> kUntrusted{{{NFS_SUPER_MAGIC, "nfs"},
                                                     {SMB_SUPER_MAGIC, "smb"},
                                                     {0xff534d42U, "cifs"},
                                                     {0xfe534d42U, "smb2"},
                                                     {0x65735546U, "fuse"},
                                                     {V9FS_MAGIC, "9p"},
                                                     {AFS_SUPER_MAGIC, "afs"},
                                                     {0x00c36400U, "ceph"},
                                                     {CODA_SUPER_MAGIC, "coda"}}};

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::directory;
  if (S_ISLNK(mode)) return FileKind::symlink;
  return FileKind::other;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<std::unique_ptr<File>> PosixFileSystem::open(const std::string& path, Open how,
                                                    unsigned mode) {
  Descriptor fd(retrying([&] { return ::open(path.c_str(), flags_for(how), mode); }));
  if (!fd.is_open()) {
    if (errno == ENOENT && how != Open::create_append) return std::unique_ptr<File>();
    return failed("open", path, errno);
  }
  if (how == Open::create_append) widen_to(fd.get(), mode);
  return std::make_unique<PosixFile>(std::move(fd), path);
}

Result<std::unique_ptr<FileLock>> PosixFileSystem::lock(const std::string& path, Patience patience,
                                                        unsigned mode) {
  // Opened for reading where it exists: a lock must be possible on a read-only disk, so that the
  // error that follows is about writing, and on a full one, where nothing can be created.
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  Descriptor fd(retrying([&] { return ::open(path.c_str(), kFlags | O_RDONLY); }));
  if (!fd.is_open() && errno == ENOENT) {
    fd =
        Descriptor(retrying([&] { return ::open(path.c_str(), kFlags | O_RDWR | O_CREAT, mode); }));
    if (fd.is_open()) widen_to(fd.get(), mode);
  }
  if (!fd.is_open()) return failed("open", path, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return failed("look at", path, errno);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::internal, fmt::format("{} is not a file", printable(path)),
                fmt::format("remove it, then run the command again: rm {}", shell_word(path)));
  }
  if (retrying([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) return failed("lock", path, errno);
    if (patience == Patience::at_once) return std::unique_ptr<FileLock>();
    const std::int64_t most_ms = patience == Patience::wait ? kLockWaitMs : kLongLockWaitMs;
    if (Done taken = wait_for_lock(fd.get(), path, most_ms); !taken) return fail(taken.error());
  }
  return std::make_unique<PosixFileLock>(std::move(fd));
}

Result<std::optional<std::string>> PosixFileSystem::read_file(const std::string& path,
                                                              std::size_t most) {
  Result<std::unique_ptr<File>> file = open(path, Open::read, kPrivateFile);
  if (!file) return fail(file.error());
  if (!*file) return std::nullopt;
  std::string contents;
  constexpr std::size_t kFirstRead = 4096;  // most files here are smaller, and one read gets them
  for (std::size_t room = std::min(kFirstRead, most + 1);; room = std::min(room * 8, most + 1)) {
    const std::size_t had = contents.size();
    contents.resize(room);
    Result<std::size_t> got = (*file)->read_at(had, std::span(contents).subspan(had));
    if (!got) return fail(got.error());
    contents.resize(had + *got);
    if (contents.size() > most) {
      return fail(
          ErrorKind::internal,
          fmt::format("{} is larger than {} bytes, more than dibs reads", printable(path), most));
    }
    if (contents.size() < room) return contents;
  }
}

Done PosixFileSystem::replace_file(const std::string& path, std::string_view contents,
                                   unsigned mode) {
  const std::string temp = path + "." + SystemRandom().nonce().hex() + ".tmp";
  {
    Descriptor fd(::open(temp.c_str(),
                         O_CLOEXEC | O_NOFOLLOW | O_WRONLY | O_CREAT | O_EXCL | O_APPEND, mode));
    if (!fd.is_open()) return failed("create", temp, errno);
    widen_to(fd.get(), mode);
    PosixFile file(std::move(fd), temp);
    Done written = file.append(contents);
    if (written) written = file.sync();
    if (!written) {
      (void)::unlink(temp.c_str());
      return written;
    }
  }
  if (Done renamed = rename(temp, path); !renamed) {
    (void)::unlink(temp.c_str());
    return renamed;
  }
  return sync_directory(directory_of(path));
}

Result<bool> PosixFileSystem::rename_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  return failed("rename to", to, errno);
}

Done PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return failed("rename to", to, errno);
}

Done PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return failed("remove", path, errno);
}

Done PosixFileSystem::sync_directory(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.is_open() && ::fsync(fd.get()) == 0) return {};
  return failed("flush", path, errno);
}

Done PosixFileSystem::sync_all(const std::vector<std::string>& paths) {
  const std::optional<FailedFlush> one = sync_together(paths);
  return one ? Done(failed("flush", one->path, one->error)) : Done{};
}

Done PosixFileSystem::make_directory(const std::string& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    // mkdir masks the mode and drops setgid; a shared repository needs both.
    if (::chmod(path.c_str(), mode) == 0) return {};
    return failed("set the mode of", path, errno);
  }
  if (errno != EEXIST) return failed("create", path, errno);
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return failed("look at", path, errno);
  return S_ISDIR(status.st_mode)
             ? Done{}
             : failed("create", path, S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR);
}

Done PosixFileSystem::change_mode(const std::string& path, unsigned mode) {
  if (::chmod(path.c_str(), mode) == 0) return {};
  return failed("set the mode of", path, errno);
}

Result<std::vector<std::string>> PosixFileSystem::list(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (!entries) return failed("list", directory, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

namespace {
std::int64_t unix_ns(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }
}  // namespace

Result<std::optional<FileStatus>> PosixFileSystem::status(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return failed("look at", path, errno);
  }
  return FileStatus{.kind = kind_of(status.st_mode),
                    .mode = status.st_mode & 07777U,
                    .size = static_cast<std::uint64_t>(status.st_size),
                    .inode = status.st_ino,
                    .modified_unix_ns = unix_ns(status.st_mtim),
                    .changed_unix_ns = unix_ns(status.st_ctim)};
}

Result<std::string> PosixFileSystem::real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr),
                                                        std::free);
  if (!resolved) return failed("find", path, errno);
  return std::string(resolved.get());
}

std::optional<std::string> PosixFileSystem::untrusted_kind(const std::string& path) {
  struct statfs status{};
  if (::statfs(path.c_str(), &status) != 0) return std::nullopt;
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  for (const KnownFileSystem& known : kUntrusted) {
    if (known.magic == magic) return known.name;
  }
  return std::nullopt;
}

std::unique_ptr<DirectoryWatch> PosixFileSystem::watch(const std::string& directory) {
  return std::make_unique<InotifyWatch>(directory);
}

}  // namespace dibs
