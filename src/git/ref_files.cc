#include "git/ref_files.h"

#include "base/text.h"

namespace dibs {

// The file before the line: git packs a ref before it removes its file, so one that is packed
// meanwhile is seen in one of the two.
Result<std::string> RefFiles::commit_at(const std::string& ref) {
  if (ref.ends_with('/')) return std::string();  // a folder of refs is none
  const Result<std::optional<std::string>> loose =
      files_.read_file(git_dir_ + "/" + ref, kLooseRefMax);
  if (!loose) return fail(loose.error());
  if (loose->has_value()) return std::string(trim(**loose));
  if (Done read = read_packed(); !read) return fail(read.error());
  const auto packed = packed_.find(ref);
  return packed == packed_.end() ? std::string() : packed->second;
}

std::size_t RefFiles::loose_in(const std::string& folder) {
  const Result<std::vector<std::string>> names =
      files_.list(git_dir_ + "/" + folder.substr(0, folder.size() - 1));
  return names ? names->size() : 0;
}

std::size_t RefFiles::most_in(const std::string& folder) {
  if (!read_packed()) return loose_in(folder);
  std::size_t packed = 0;
  for (auto it = packed_.lower_bound(folder); it != packed_.end(); ++it) {
    if (!it->first.starts_with(folder)) break;
    ++packed;
  }
  return packed + loose_in(folder);
}

// Lines are "COMMIT REF"; others begin with '#' or '^'.
Done RefFiles::read_packed() {
  const std::string path = git_dir_ + "/packed-refs";
  const Result<std::optional<FileStatus>> status = files_.status(path);
  if (!status) return fail(status.error());
  const std::uint64_t inode = status->has_value() ? (*status)->inode : 0;
  if (inode == packed_inode_) return {};
  const Result<std::optional<std::string>> read = files_.read_file(path, kPackedRefsMax);
  if (!read) return fail(read.error());
  const std::string text = read->value_or("");
  packed_.clear();
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.starts_with('#')) continue;
    packed_.emplace(line.substr(space + 1), line.substr(0, space));
  }
  packed_inode_ = inode;
  return {};
}

}  // namespace dibs
