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

}  // namespace dibs
