#include "git/clean_glance.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "git/index_file.h"
#include "git/loose_object.h"
#include "git/stored_objects.h"

namespace dibs {

namespace {

constexpr std::size_t kFilesMax = 20'000;  // git looks at more of them faster, with several threads
constexpr int kDepthMax = 100;
constexpr std::uint64_t kComparedBytesMax = 4UL * 1024 * 1024;
constexpr std::int64_t kNsInASecond = 1'000'000'000;
constexpr std::uint32_t kLink = 0120000;
constexpr std::uint32_t kPlain = 0100644;
constexpr std::uint32_t kExecutable = 0100755;
constexpr unsigned kOwnerExecutes = 0100;

bool is_of_kind(const FileStatus& status, std::uint32_t mode) {
  if (mode == kLink) return status.kind == FileKind::symlink;
  const bool executes = (status.mode & kOwnerExecutes) != 0;
  return status.kind == FileKind::regular && mode == (executes ? kExecutable : kPlain);
}

// An index keeps the lower 32 bits of each.
bool is_as_seen(const FileStatus& status, const IndexedFile& file) {
  return status.modified_unix_ns == file.modified_unix_ns &&
         status.changed_unix_ns == file.changed_unix_ns &&
         static_cast<std::uint32_t>(status.inode) == file.inode &&
         static_cast<std::uint32_t>(status.size) == file.bytes;
}

class Look {
 public:
  Look(FileSystem& files, const Repository& worktree, const ReadIndex& index)
      : files_(files), root_(worktree.root), index_(index) {}

  // `within` are the files below it; `above` is empty or ends in '/'.
  [[nodiscard]] bool is_clean(const std::string& above, std::span<const IndexedFile> within,
                              int depth = 0) {
    if (depth > kDepthMax || !is_folder(root_ + "/" + above)) return false;
    const Result<std::vector<std::string>> there = files_.list(root_ + "/" + above);
    if (!there) return false;
    std::vector<std::string_view> known;
    if (above.empty()) known.emplace_back(".git");
    for (std::size_t at = 0; at < within.size();) {
      const std::string_view rest = within[at].path.substr(above.size());
      const std::string_view name = rest.substr(0, rest.find('/'));
      known.push_back(name);
      std::size_t end = at + 1;
      if (name.size() == rest.size()) {
        if (!is_clean(within[at])) return false;
      } else {
        const std::string folder = above + std::string(name) + "/";
        while (end < within.size() && within[end].path.starts_with(folder)) ++end;
        if (!is_clean(folder, within.subspan(at, end - at), depth + 1)) return false;
      }
      at = end;
    }
    std::ranges::sort(known);
    return std::ranges::equal(known, *there);  // which are sorted, too
  }

 private:
  // Not a link to one: what is behind that is not in the work tree.
  bool is_folder(std::string path) {
    path.pop_back();
    const Result<std::optional<FileStatus>> status = files_.status(path);
    return status && status->has_value() && (*status)->kind == FileKind::directory;
  }

  bool is_clean(const IndexedFile& file) {
    if (!file.ordinary) return false;
    const std::string path = root_ + "/" + std::string(file.path);
    const Result<std::optional<FileStatus>> status = files_.status(path);
    if (!status || !status->has_value()) return false;
    if (!is_of_kind(**status, file.mode) || !is_as_seen(**status, file)) return false;
    // What was written in the second in which the index was may have been written again since,
    // without a trace in its times. git compares the contents then.
    const bool may_be_newer =
        file.modified_unix_ns / kNsInASecond >= index_.modified_unix_ns / kNsInASecond;
    return !may_be_newer || has_contents(path, file);
  }

  // Where settings make git store something else than the file, it does not look the same.
  bool has_contents(const std::string& path, const IndexedFile& file) {
    compared_bytes_ += file.bytes;
    if (file.mode == kLink || compared_bytes_ > kComparedBytesMax) return false;
    const Result<std::optional<std::string>> bytes = files_.read_file(path, kComparedBytesMax);
    return bytes && bytes->has_value() &&
           object_name(format_of(index_.head), "blob", **bytes) == to_hex(file.object);
  }

  FileSystem& files_;
  const std::string& root_;
  const ReadIndex& index_;
  std::uint64_t compared_bytes_ = 0;
};

}  // namespace

bool is_plainly_clean(FileSystem& files, const Repository& worktree) {
  const std::optional<ReadIndex> read = read_index(files, worktree);
  if (!read) return false;
  const std::optional<IndexFile> index = read->parsed();
  if (!index || index->tree.empty() || index->files.size() > kFilesMax) return false;
  const auto tree = StoredObjects(files, worktree.common_dir).tree_of(read->head);
  if (tree != to_hex(index->tree)) return false;
  return Look(files, worktree, *read).is_clean("", index->files);
}

}  // namespace dibs
