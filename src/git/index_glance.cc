#include "git/index_glance.h"

#include <cstdint>
#include <string>

#include "git/ref_lookup.h"

namespace dibs {

namespace {

constexpr std::size_t kIndexBytesMax = 512UL * 1024 * 1024;
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kStatBytes = 40;  // times, device, inode, mode, owner, size
constexpr std::size_t kModeAt = 24;
constexpr std::uint64_t kAssumedUnchanged = 0x8000;
constexpr std::uint64_t kExtended = 0x4000;
constexpr std::uint64_t kSkipWorktree = 0x4000;  // of the extended flags
constexpr std::uint64_t kNameLengthMask = 0x0FFF;
constexpr std::uint64_t kKindMask = 0170000;
constexpr std::uint64_t kSubmodule = 0160000;
constexpr std::uint64_t kFolder = 0040000;  // of a sparse index

// Big-endian. Past the end it is 0; whoever reads on finds out.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint64_t value = 0;
  for (std::size_t i = at; i < at + length; ++i)
    value = value << 8U | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
  return value;
}

struct Entry {
  std::size_t length = 0;  // 0: it does not end
  std::uint64_t mode = 0;
  bool marked = false;
};

Entry entry_at(std::string_view bytes, std::size_t at, std::size_t object_bytes) {
  const std::size_t flags_at = at + kStatBytes + object_bytes;
  const std::uint64_t flags = number_at(bytes, flags_at, 2);
  std::size_t name_at = flags_at + 2;
  Entry entry{.mode = number_at(bytes, at + kModeAt, 4),
              .marked = (flags & kAssumedUnchanged) != 0};
  if ((flags & kExtended) != 0) {
    entry.marked = entry.marked || (number_at(bytes, name_at, 2) & kSkipWorktree) != 0;
    name_at += 2;
  }
  std::size_t name_end = name_at + (flags & kNameLengthMask);
  if ((flags & kNameLengthMask) == kNameLengthMask) name_end = bytes.find('\0', name_at);
  if (name_end >= bytes.size() || bytes[name_end] != '\0') return entry;
  constexpr std::size_t kAligned = 8;
  entry.length = ((name_end - at) / kAligned + 1) * kAligned;
  return entry;
}

// Extensions that change what the entries mean have names in lower case.
bool has_only_hints(std::string_view bytes, std::size_t at, std::size_t object_bytes) {
  constexpr std::size_t kHeader = 8;
  while (at + kHeader + object_bytes <= bytes.size()) {
    if (bytes[at] < 'A' || bytes[at] > 'Z') return false;
    at += kHeader + number_at(bytes, at + 4, 4);
  }
  return at + object_bytes == bytes.size();  // the checksum
}

}  // namespace

std::optional<IndexGlance> glance_at_index(std::string_view bytes, std::size_t object_bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with("DIRC")) return std::nullopt;
  const std::uint64_t version = number_at(bytes, 4, 4);
  if (version != 2 && version != 3) return std::nullopt;
  IndexGlance glance;
  std::size_t at = kHeaderBytes;
  for (std::uint64_t left = number_at(bytes, 8, 4); left > 0; --left) {
    const Entry entry = entry_at(bytes, at, object_bytes);
    const std::uint64_t kind = entry.mode & kKindMask;
    if (entry.length == 0 || kind == kFolder) return std::nullopt;
    glance.marked = glance.marked || entry.marked;
    glance.submodules = glance.submodules || kind == kSubmodule;
    at += entry.length;
  }
  if (!has_only_hints(bytes, at, object_bytes)) return std::nullopt;
  return glance;
}

std::optional<IndexGlance> glance_at_index_of(FileSystem& files, const Repository& worktree) {
  // How long an object's name is, HEAD tells.
  const RefAnswer head = look_up_commit(files, worktree.git_dir, "HEAD");
  if (head.kind != RefAnswer::Kind::found) return std::nullopt;
  const Result<std::optional<std::string>> bytes =
      files.read_file(worktree.git_dir + "/index", kIndexBytesMax);
  if (!bytes || !bytes->has_value()) return std::nullopt;
  return glance_at_index(**bytes, head.text.size() / 2);
}

}  // namespace dibs
