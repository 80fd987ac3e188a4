#include "sys/scratch.h"

#include <ftw.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dibs {
namespace {

int remove_entry(const char* path, const struct stat*, int, FTW*) {
  std::remove(path);
  return 0;  // what cannot be removed keeps nothing else alive
}

}  // namespace

Result<ScratchDirectory> ScratchDirectory::make(const std::string& parent) {
  std::string path = parent + "/dibs-XXXXXX";
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
  constexpr int kOpenDirectories = 16;
  // Not std::filesystem: it draws all of the standard library's streams and locales into every
  // process.
  if (!path_.empty() && !keep_)
    ::nftw(path_.c_str(), remove_entry, kOpenDirectories, FTW_DEPTH | FTW_PHYS);
}

}  // namespace dibs
