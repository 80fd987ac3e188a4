#include "items/file_merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "items/aitasks_merge.h"
#include "items/beads_merge.h"
#include "model/item.h"
#include "rules/item_merge.h"

namespace dibs {

namespace {

// ".dibs/items/ID.json", in the root of the repository or below it.
bool is_item_file(std::string_view path) {
  constexpr std::string_view kFolder = ".dibs/items/";
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || !path.ends_with(".json")) return false;
  const std::string_view folder = path.substr(0, slash + 1);
  return folder == kFolder || folder.ends_with("/.dibs/items/");
}

Result<Item> readable(const std::string& text, std::string_view whose) {
  Result<Item> item = item_from_json(text);
  if (item) return item;
  return fail(ErrorKind::refused,
              fmt::format("{} version cannot be read: {}", whose, item.error().message));
}

// A base that cannot be read tells nothing, so everything counts as added.
std::optional<Item> item_of(const std::string& base) {
  Result<Item> item = item_from_json(base);
  return item ? std::optional(*std::move(item)) : std::nullopt;
}

Result<MergedFile> merge_item_files(const FileVersions& versions) {
  const Result<Item> ours = readable(versions.ours, "our");
  if (!ours) return fail(ours.error());
  const Result<Item> theirs = readable(versions.theirs, "their");
  if (!theirs) return fail(theirs.error());
  if (ours->id != theirs->id)
    return fail(ErrorKind::refused,
                fmt::format("they are two items, {} and {}", printable(ours->id.text),
                            printable(theirs->id.text)));
  const Item merged = merge_items(item_of(versions.base), *ours, *theirs);
  if (Done checked = check_item(merged); !checked) return fail(checked.error());
  return MergedFile{.text = item_file(merged)};
}

constexpr std::array<MergeFormat, 3> kFormats{{
    {.name = "json", .is_at = is_item_file, .merge = merge_item_files},
    {.name = "beads", .is_at = is_beads_file, .merge = merge_beads_files},
    {.name = "aitasks", .is_at = is_task_file, .merge = merge_task_files},
}};

}  // namespace

const MergeFormat* format_at(std::string_view path) {
  const auto* found =
      std::ranges::find_if(kFormats, [&](const MergeFormat& format) { return format.is_at(path); });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace dibs
