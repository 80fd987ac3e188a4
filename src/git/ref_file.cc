#include "git/ref_file.h"

#include "base/text.h"

namespace dibs {

namespace {
constexpr std::size_t kLooseRefMax = 4096;
constexpr std::size_t kPackedRefsMax = 64UL * 1024 * 1024;
}  // namespace

Result<std::string> ref_at(FileSystem& files, const std::string& git_dir, const std::string& ref) {
  const Result<std::optional<std::string>> loose =
      files.read_file(git_dir + "/" + ref, kLooseRefMax);
  if (!loose) return fail(loose.error());
  if (loose->has_value()) return std::string(trim(**loose));
  const Result<std::optional<std::string>> packed =
      files.read_file(git_dir + "/packed-refs", kPackedRefsMax);
  if (!packed) return fail(packed.error());
  if (!packed->has_value()) return std::string();
  // A line is "COMMIT REF".
  const std::size_t at = (*packed)->find(" " + ref + "\n");
  if (at == std::string::npos) return std::string();
  const std::size_t newline = (*packed)->rfind('\n', at);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return (*packed)->substr(begin, at - begin);
}

}  // namespace dibs
