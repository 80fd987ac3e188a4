#include "items/aitasks_source.h"

#include "base/text.h"

namespace dibs {

namespace {

std::optional<ItemId> id_in(std::string_view path) {
  const std::optional<TaskName> name = task_name(path);
  return name ? std::optional(name->id) : std::nullopt;
}

// A people's path: from the top of the work tree.
ItemList with_folder(ItemList list, const std::string& folder) {
  for (StoredItem& stored : list.items) stored.file = folder + "/" + stored.file;
  for (BrokenItem& broken : list.broken) broken.file = folder + "/" + broken.file;
  return list;
}

}  // namespace

Done read_task_texts(SourceFiles& files, const std::string& folder, FolderTexts& into) {
  for (const std::string& top : {std::string(), std::string(kTaskArchive)}) {
    if (Done read = read_folder(files, folder, top, id_in, into); !read) return read;
    const Result<std::vector<std::string>> children = files.folders_in(path_below(folder, top));
    if (!children) return fail(children.error());
    for (const std::string& child : *children) {
      if (!task_number({child})) continue;
      if (Done read = read_folder(files, folder, top + child + "/", id_in, into); !read)
        return read;
    }
  }
  return {};
}

Result<TaskFolder> AitasksSource::load() {
  FolderTexts texts;
  if (Done read = read_task_texts(tree(), below(), texts); !read) return fail(read.error());
  return TaskFolder(std::move(texts.files), std::move(texts.broken));
}

Result<ItemId> AitasksSource::new_id(std::string_view /*title*/,
                                     const std::array<std::uint8_t, 4>& /*chance*/) {
  const Result<TaskFolder> folder = load();
  if (!folder) return fail(folder.error());
  return folder->next_id();
}

Result<ItemList> AitasksSource::read_all() {
  const Result<TaskFolder> folder = load();
  if (!folder) return fail(folder.error());
  return with_folder(folder->list(), below());
}

Result<std::vector<StoredItem>> AitasksSource::read(const std::vector<ItemId>& ids) {
  const Result<ItemList> list = read_all();
  if (!list) return fail(list.error());
  return chosen(*list, ids);
}

Result<bool> AitasksSource::write(const Batch& batch) {
  const auto lock = take_turn();
  if (!lock) return fail(lock.error());
  const Result<TaskFolder> folder = load();
  if (!folder) return fail(folder.error());
  const auto writes = folder->changes(batch.changes, Precision::of_the_form);
  if (!writes) return fail(writes.error());
  if (!*writes) return false;
  for (const TextFile& file : (*writes)->files) {
    const TextFile whole{.name = below() + "/" + file.name, .text = file.text};
    if (Done written = tree().write(whole); !written) return fail(written.error());
  }
  for (const std::string& name : (*writes)->removed) {
    if (Done gone = tree().remove(below() + "/" + name); !gone) return fail(gone.error());
  }
  return true;
}

Result<std::vector<ItemRevision>> AitasksSource::history(const ItemId& id, std::size_t most) {
  const Result<std::vector<StoredItem>> stored = read({id});
  if (!stored) return fail(stored.error());
  if (stored->empty()) return std::vector<ItemRevision>{};
  return file_history(site(), stored->front().file, {}, most);
}

}  // namespace dibs
