// Whole files of items: a beads file, paths of tasks and of state folders, and merges of all that
// lies in the work tree. The first byte chooses; three versions are parted by zero bytes.
#include "fuzzing.h"
#include "items/aitasks_name.h"
#include "items/beads_file.h"
#include "items/file_merge.h"
#include "items/folder_layout.h"
#include "items/item_path.h"
#include "model/workflow.h"

namespace dibs::fuzz {

namespace {

void try_beads(std::string_view text) {
  const BeadsFile file(std::string(text), "issues.jsonl");
  must(file.text() == text, "a file that nobody changes keeps its bytes");
  (void)file.list();
  const Result<std::optional<std::string>> same = file.changed({});
  must(same && same->has_value() && **same == text, "no change changes nothing");
}

void try_paths(std::string_view path) {
  (void)task_name(path);
  (void)is_item_path(path);
  const FolderLayout layout(Workflow::folders());
  (void)layout.stray(path);
  const std::optional<FolderPlace> place = layout.place_of(path);
  if (place) must(path.starts_with(place->path()), "a file lies where its item does");
}

void try_merge(Pieces pieces, std::string path) {
  const FileVersions versions{.base = std::string(pieces.until('\0')),
                              .ours = std::string(pieces.until('\0')),
                              .theirs = std::string(pieces.rest()),
                              .path = std::move(path)};
  const MergeFormat* format = format_at(versions.path);
  must(format != nullptr, "files of that path hold items");
  (void)format->merge(versions);
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  switch (pieces.byte() % 4) {
    case 0:
      return try_beads(pieces.rest());
    case 1:
      return try_paths(pieces.rest());
    case 2:
      return try_merge(pieces, ".beads/issues.jsonl");
    default:
      return try_merge(pieces, "aitasks/t7_seven.md");
  }
}

}  // namespace dibs::fuzz
