#include "sys/tree_removal.h"

#include <fmt/core.h>
#include <ftw.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"

namespace dibs {

namespace {

thread_local int first_error = 0;  // nftw hands nothing on to what it calls

// What cannot be removed keeps nothing else alive.
int remove_one(const char* path, const struct stat* /*status*/, int /*kind*/, FTW* /*where*/) {
  if (std::remove(path) != 0 && first_error == 0) first_error = errno;
  return 0;
}

}  // namespace

// Not std::filesystem: it draws all of the standard library's streams and locales into every
// process.
Done remove_tree(const std::string& path) {
  constexpr int kOpenDirectories = 16;
  first_error = 0;
  const int walked =
      ::nftw(path.c_str(), remove_one, kOpenDirectories, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
  if (walked != 0 && errno != ENOENT) first_error = errno;
  if (first_error == 0) return {};
  return fail(ErrorKind::internal, fmt::format("cannot remove all of {}: {}", printable(path),
                                               std::strerror(first_error)));
}

}  // namespace dibs
