#include "git/ref_lookup.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "git/ref_files.h"

namespace dibs {

namespace {

using Kind = RefAnswer::Kind;

constexpr int kSymbolicMax = 5;  // as git
constexpr std::string_view kSymbolic = "ref: ";
constexpr std::array<std::string_view, 4> kHeads{"HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD",
                                                 "REVERT_HEAD"};

bool is_head(std::string_view ref) { return std::ranges::find(kHeads, ref) != kHeads.end(); }

bool is_branch(std::string_view ref) {
  return (ref.starts_with("refs/heads/") || ref.starts_with("refs/remotes/")) &&
         is_plain_branch_name(ref);
}

// Empty when it cannot be told.
std::string certain_common_dir(FileSystem& files, const std::string& git_dir) {
  const Result<std::optional<std::string>> text =
      files.read_file(git_dir + "/commondir", kLooseRefMax);
  if (!text) return {};
  if (!text->has_value()) return git_dir;
  const std::string path(trim(**text));
  return path.starts_with('/') ? path : git_dir + "/" + path;
}

bool is_object_name(std::string_view text) {
  constexpr std::size_t kSha1 = 40;
  constexpr std::size_t kSha256 = 64;
  if (text.size() != kSha1 && text.size() != kSha256) return false;
  return std::ranges::all_of(text, [](char c) { return hex_digit(c) >= 0; });
}

// Lines are "COMMIT REF".
RefAnswer packed(FileSystem& files, const std::string& common_dir, const std::string& ref) {
  const Result<std::optional<std::string>> read =
      files.read_file(common_dir + "/packed-refs", kPackedRefsMax);
  if (!read) return {};
  const std::string text = read->value_or("");
  const std::size_t at = find_last(text, " " + ref + "\n");
  if (at == std::string::npos) return {.kind = Kind::absent};
  const std::size_t begin = text.rfind('\n', at) + 1;  // npos + 1 is 0
  const std::string commit = text.substr(begin, at - begin);
  return is_object_name(commit) ? RefAnswer{.kind = Kind::found, .text = commit} : RefAnswer{};
}

/// The files that refs of one repository are in.
struct Place {
  FileSystem& files;
  const std::string& git_dir;
  std::string common_dir;

  // Nothing in `text` when there is no such file.
  [[nodiscard]] Result<std::optional<std::string>> loose(const std::string& ref) const {
    return files.read_file((is_head(ref) ? git_dir : common_dir) + "/" + ref, kLooseRefMax);
  }
};

std::optional<Place> place_of(FileSystem& files, const std::string& git_dir) {
  Place place{.files = files, .git_dir = git_dir, .common_dir = certain_common_dir(files, git_dir)};
  if (place.common_dir.empty() || is_there(files, place.common_dir + "/reftable"))
    return std::nullopt;
  return place;
}

}  // namespace

bool is_plain_branch_name(std::string_view name) {
  const auto is_plain = [](std::string_view part) {
    const bool letters = std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == '-';
    });
    return letters && !part.empty() && !part.starts_with('.') && !part.starts_with('-') &&
           !part.ends_with('.') && !part.ends_with(".lock") && !contains(part, "..");
  };
  return std::ranges::all_of(split(name, '/'), is_plain);
}

RefAnswer look_up_commit(FileSystem& files, const std::string& git_dir, const std::string& ref) {
  if (!is_head(ref) && !is_branch(ref)) return {};
  const std::optional<Place> place = place_of(files, git_dir);
  if (!place) return {};
  std::string name = ref;
  for (int depth = 0; depth < kSymbolicMax; ++depth) {
    const Result<std::optional<std::string>> text = place->loose(name);
    if (!text) return {};
    // The file before the line: git packs a ref before it removes its file.
    if (!text->has_value() && is_branch(name)) return packed(files, place->common_dir, name);
    if (!text->has_value()) return name == "HEAD" ? RefAnswer{} : RefAnswer{.kind = Kind::absent};
    const std::string_view line = split(**text, '\n').front();
    if (is_object_name(line)) return {.kind = Kind::found, .text = std::string(line)};
    if (!line.starts_with(kSymbolic)) return {};
    name = trim(line.substr(kSymbolic.size()));
    if (!is_branch(name)) return {};
  }
  return {};
}

RefAnswer look_up_symbolic(FileSystem& files, const std::string& git_dir, const std::string& ref) {
  if (!is_head(ref) && !is_branch(ref)) return {};
  const std::optional<Place> place = place_of(files, git_dir);
  if (!place) return {};
  const Result<std::optional<std::string>> text = place->loose(ref);
  if (!text) return {};
  if (!text->has_value()) return {.kind = Kind::absent};  // symbolic refs are never packed
  if (!(*text)->starts_with(kSymbolic)) return {.kind = Kind::absent};
  return {.kind = Kind::found,
          .text = std::string(trim(std::string_view(**text).substr(kSymbolic.size())))};
}

}  // namespace dibs
