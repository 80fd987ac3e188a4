// Items in other tools' forms: a line of beads, a task of aitasks, a file in a state folder. Read,
// changed and written, each means what it was made to mean. The first byte chooses.
#include "fuzzing.h"
#include "items/aitasks_file.h"
#include "items/beads_line.h"
#include "items/folder_file.h"
#include "model/workflow.h"

namespace dibs::fuzz {

namespace {

// Reading what was written goes by `parse`, so that nothing is remembered from before.
template <class Form, class Parse>
void try_form(Form text, const Parse& parse) {
  const Result<Item> item = meant_by(text);
  if (!item) return;
  Item changed = *item;
  changed.title = "changed";
  changed.priority = (changed.priority + 1) % (kPriorityLeast + 1);
  changed.labels = {"a b", "c"};
  if (!rewrite(text, changed)) return;  // it says which field it has no words for
  const auto again = parse(text.text());
  must(again.has_value(), "a text that was changed can be read");
  const Result<Item> meant = meant_by(*again);
  must(meant.has_value() && *meant == changed, "and means what it was made to mean");
}

void try_beads(std::string_view text) {
  const auto parse = [](std::string_view line) { return BeadsLine::parse(line); };
  if (Result<BeadsLine> line = parse(text)) try_form(*std::move(line), parse);
}

void try_aitasks(std::string_view text) {
  const TaskAliases aliases;
  const TaskName name{.id = {"t7"}, .title = "seven"};
  const auto parse = [&](std::string_view file) { return AitasksFile::parse(name, file, aliases); };
  if (Result<AitasksFile> file = parse(text)) try_form(*std::move(file), parse);
}

void try_folder(std::string_view text) {
  const FolderLayout layout(Workflow::folders());
  const FolderPlace place{.category = "bugs", .state = "indevelopment", .name = "login"};
  const auto parse = [&](std::string_view file) { return FolderFile::parse(layout, place, file); };
  if (Result<FolderFile> file = parse(text)) try_form(*std::move(file), parse);
}

}  // namespace

void try_input(std::string_view input) {
  Pieces pieces(input);
  switch (pieces.byte() % 3) {
    case 0:
      return try_beads(pieces.rest());
    case 1:
      return try_aitasks(pieces.rest());
    default:
      return try_folder(pieces.rest());
  }
}

}  // namespace dibs::fuzz
