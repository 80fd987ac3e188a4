#include "git/index_file.h"

#include <algorithm>

#include "base/text.h"
#include "git/ref_lookup.h"

namespace dibs {

namespace {

constexpr std::size_t kIndexBytesMax = 512UL * 1024 * 1024;
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kEntryBytesMin = 64;
// Where things are in an entry; its times are seconds and nanoseconds.
constexpr std::size_t kChangedAt = 0;
constexpr std::size_t kModifiedAt = 8;
constexpr std::size_t kInodeAt = 20;
constexpr std::size_t kModeAt = 24;
constexpr std::size_t kSizeAt = 36;
constexpr std::size_t kObjectAt = 40;
constexpr std::uint32_t kAssumedUnchanged = 0x8000;
constexpr std::uint32_t kExtended = 0x4000;
constexpr std::uint32_t kStageMask = 0x3000;
constexpr std::uint32_t kSkipWorktree = 0x4000;  // of the extended flags
constexpr std::uint32_t kNameLengthMask = 0x0FFF;
constexpr std::uint32_t kKindMask = 0170000;
constexpr std::uint32_t kFolder = 0040000;  // of a sparse index

// Big-endian. Past the end it is 0; whoever reads on finds out.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t length = 4) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + length; ++i)
    value = value << 8U | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
  return value;
}

std::int64_t time_at(std::string_view bytes, std::size_t at) {
  return number_at(bytes, at) * 1'000'000'000LL + number_at(bytes, at + 4);
}

struct Entry {
  std::size_t length = 0;  // 0: it does not end
  IndexedFile file;
};

Entry entry_at(std::string_view bytes, std::size_t at, std::size_t object_bytes) {
  const std::size_t flags_at = at + kObjectAt + object_bytes;
  const std::uint32_t flags = number_at(bytes, flags_at, 2);
  const bool extended = (flags & kExtended) != 0;
  const std::uint32_t more = extended ? number_at(bytes, flags_at + 2, 2) : 0;
  const std::size_t name_at = flags_at + (extended ? 4 : 2);
  std::size_t name_end = name_at + (flags & kNameLengthMask);
  if ((flags & kNameLengthMask) == kNameLengthMask) name_end = bytes.find('\0', name_at);
  if (name_end >= bytes.size() || bytes[name_end] != '\0') return {};
  constexpr std::size_t kAligned = 8;
  return {.length = ((name_end - at) / kAligned + 1) * kAligned,
          .file = {.path = bytes.substr(name_at, name_end - name_at),
                   .mode = number_at(bytes, at + kModeAt),
                   .object = bytes.substr(at + kObjectAt, object_bytes),
                   .marked = (flags & kAssumedUnchanged) != 0 || (more & kSkipWorktree) != 0,
                   .ordinary = (flags & (kAssumedUnchanged | kStageMask)) == 0 && more == 0,
                   .modified_unix_ns = time_at(bytes, at + kModifiedAt),
                   .changed_unix_ns = time_at(bytes, at + kChangedAt),
                   .inode = number_at(bytes, at + kInodeAt),
                   .bytes = number_at(bytes, at + kSizeAt)}};
}

// The tree of all entries, from the extension that remembers trees: "", 0, "ENTRIES SUBTREES\n" and
// the name. It says -1 where something was changed since.
std::string_view whole_tree(std::string_view extension, std::size_t entries,
                            std::size_t object_bytes) {
  const std::string_view counts = extension.substr(0, extension.find('\n'));
  if (!counts.starts_with('\0') || counts.size() == extension.size()) return {};
  if (parse_unsigned(counts.substr(1, counts.find(' ') - 1)) != entries) return {};
  const std::string_view tree = extension.substr(counts.size() + 1, object_bytes);
  return tree.size() == object_bytes ? tree : std::string_view();
}

// False when they are cut short, or one changes what the entries mean: it has a name in lower case.
bool take_extensions(std::string_view bytes, std::size_t at, std::size_t object_bytes,
                     IndexFile& index) {
  constexpr std::size_t kHeader = 8;
  while (at + kHeader + object_bytes <= bytes.size()) {
    if (bytes[at] < 'A' || bytes[at] > 'Z') return false;
    const std::size_t length = number_at(bytes, at + 4);
    if (bytes.substr(at, 4) == "TREE") {
      index.tree = whole_tree(bytes.substr(at + kHeader, length), index.files.size(), object_bytes);
    }
    at += kHeader + length;
  }
  return at + object_bytes == bytes.size();  // the checksum
}

}  // namespace

bool IndexFile::has_marked() const { return std::ranges::any_of(files, &IndexedFile::marked); }

bool IndexFile::has_submodules() const {
  return std::ranges::any_of(files, &IndexedFile::is_submodule);
}

std::optional<IndexFile> parse_index(std::string_view bytes, std::size_t object_bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with("DIRC")) return std::nullopt;
  const std::uint32_t version = number_at(bytes, 4);
  const std::size_t entries = number_at(bytes, 8);
  if ((version != 2 && version != 3) || entries > bytes.size() / kEntryBytesMin)
    return std::nullopt;
  IndexFile index;
  index.files.reserve(entries);
  std::size_t at = kHeaderBytes;
  while (index.files.size() < entries) {
    const Entry entry = entry_at(bytes, at, object_bytes);
    if (entry.length == 0 || (entry.file.mode & kKindMask) == kFolder) return std::nullopt;
    index.files.push_back(entry.file);
    at += entry.length;
  }
  if (!take_extensions(bytes, at, object_bytes, index)) return std::nullopt;
  return index;
}

std::optional<ReadIndex> read_index(FileSystem& files, const Repository& worktree) {
  // How long an object's name is, HEAD tells.
  RefAnswer head = look_up_commit(files, worktree.git_dir, "HEAD");
  if (head.kind != RefAnswer::Kind::found) return std::nullopt;
  const std::string path = worktree.git_dir + "/index";
  // Its time first: one that is replaced in between is taken for older than it is, which costs a
  // closer look and hides nothing.
  const Result<std::optional<FileStatus>> status = files.status(path);
  if (!status || !status->has_value()) return std::nullopt;
  Result<std::optional<std::string>> bytes = files.read_file(path, kIndexBytesMax);
  if (!bytes || !bytes->has_value()) return std::nullopt;
  return ReadIndex{.head = std::move(head.text),
                   .bytes = **std::move(bytes),
                   .modified_unix_ns = (*status)->modified_unix_ns};
}

}  // namespace dibs
