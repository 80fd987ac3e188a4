#include "sys/scratch.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "sys/tree_removal.h"

namespace dibs {
namespace {

Descriptor lock_of(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.is_open() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

constexpr std::string_view kBegins = "dibs-";
constexpr std::string_view kTemplate = "XXXXXX";

}  // namespace

ScratchDirectory::ScratchDirectory(std::string path)
    : path_(std::move(path)), lock_(lock_of(path_)) {}

bool ScratchDirectory::is_name(std::string_view name) {
  return name.starts_with(kBegins) && name.size() == kBegins.size() + kTemplate.size();
}

bool ScratchDirectory::remove_abandoned(const std::string& path) {
  const Descriptor lock = lock_of(path);
  if (!lock.is_open()) return false;
  (void)remove_tree(path);
  return true;
}

Result<ScratchDirectory> ScratchDirectory::make(const std::string& parent) {
  std::string path = parent + "/" + std::string(kBegins) + std::string(kTemplate);
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorKind::internal,
                "cannot make a directory in " + parent + ": " + std::strerror(errno),
                "set TMPDIR to a directory you may write to");
  }
  std::string real(PATH_MAX, '\0');
  if (::realpath(path.c_str(), real.data()) == nullptr) return ScratchDirectory(path);
  real.resize(std::strlen(real.c_str()));
  return ScratchDirectory(real);
}

ScratchDirectory::~ScratchDirectory() {
  if (!path_.empty() && !keep_) (void)remove_tree(path_);
}

}  // namespace dibs
