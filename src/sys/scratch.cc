#include "sys/scratch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace dibs {

Result<ScratchDirectory> ScratchDirectory::make(const std::string& parent) {
  std::string path = parent + "/dibs-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorKind::internal,
                "cannot make a directory in " + parent + ": " + std::strerror(errno),
                "set TMPDIR to a directory you may write to");
  }
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(path, ignored);
  return ScratchDirectory(ignored ? path : real.string());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty() && !keep_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace dibs
