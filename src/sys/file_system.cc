#include "sys/file_system.h"

namespace dibs {

Result<std::string_view> File::contents() {
  const Result<std::uint64_t> bytes = size();
  if (!bytes) return fail(bytes.error());
  contents_.resize(*bytes);
  const Result<std::size_t> got = read_at(0, contents_);
  if (!got) return fail(got.error());
  return std::string_view(contents_).substr(0, *got);
}

bool is_there(FileSystem& files, const std::string& path) {
  const Result<std::optional<FileStatus>> status = files.status(path);
  return !status || status->has_value();
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace dibs
