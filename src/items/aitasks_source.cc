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

Done read_task_texts(FileSystem& files, const std::string& folder, FolderTexts& into) {
  for (const std::string& top : {std::string(), std::string(kTaskArchive)}) {
    const std::string path = top.empty() ? folder : folder + "/" + top.substr(0, top.size() - 1);
    if (Done read = read_folder(files, folder, top, id_in, into); !read) return read;
    const Result<std::vector<std::string>> children = folders_in(files, path);
    if (!children) return fail(children.error());
    for (const std::string& child : *children) {
      if (!task_number({child})) continue;
      if (Done read = read_folder(files, folder, top + child + "/", id_in, into); !read)
        return read;
    }
  }
  return {};
}

Result<TaskFolder> read_task_folder(FileSystem& files, const std::string& folder) {
  FolderTexts texts;
  if (Done read = read_task_texts(files, folder, texts); !read) return fail(read.error());
  return TaskFolder(std::move(texts.files), std::move(texts.broken));
}

Result<ItemId> AitasksSource::new_id(std::string_view /*title*/,
                                     const std::array<std::uint8_t, 4>& /*chance*/) {
  const Result<TaskFolder> folder = read_task_folder(site_.files, path());
  if (!folder) return fail(folder.error());
  return folder->next_id();
}

Result<ItemList> AitasksSource::read_all() {
  const Result<TaskFolder> folder = read_task_folder(site_.files, path());
  if (!folder) return fail(folder.error());
  return with_folder(folder->list(), folder_);
}

Result<std::vector<StoredItem>> AitasksSource::read(const std::vector<ItemId>& ids) {
  const Result<ItemList> list = read_all();
  if (!list) return fail(list.error());
  return chosen(*list, ids);
}

Result<bool> AitasksSource::write(const Batch& batch) {
  const auto lock = site_.files.lock(site_.lock_file, Patience::wait);
  if (!lock) return fail(lock.error());
  const Result<TaskFolder> folder = read_task_folder(site_.files, path());
  if (!folder) return fail(folder.error());
  const auto writes = folder->changes(batch.changes, Precision::of_the_form);
  if (!writes) return fail(writes.error());
  if (!*writes) return false;
  for (const TextFile& file : (*writes)->files) {
    const TextFile below{.name = folder_ + "/" + file.name, .text = file.text};
    if (Done written = write_below(site_.files, site_.work_tree, below); !written)
      return fail(written.error());
  }
  for (const std::string& name : (*writes)->removed) {
    if (Done gone = site_.files.remove(path() + "/" + name); !gone) return fail(gone.error());
  }
  return true;
}

Result<std::vector<ItemRevision>> AitasksSource::history(const ItemId& id, std::size_t most) {
  const Result<std::vector<StoredItem>> stored = read({id});
  if (!stored) return fail(stored.error());
  if (stored->empty()) return std::vector<ItemRevision>{};
  return file_history(site_, stored->front().file, {}, most);
}

}  // namespace dibs
