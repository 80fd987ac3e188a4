#include "git/loose_commit.h"

#include <fmt/core.h>

#include <vector>

#include "git/loose_object.h"
#include "git/tree_object.h"

namespace dibs {

namespace {

constexpr unsigned kObjectMode = 0444;
constexpr unsigned kPermissions = 0777;

/// All objects of one commit, before anything is written.
struct Objects {
  std::vector<LooseObject> all;

  const std::string& add(ObjectFormat format, std::string_view type, std::string_view content) {
    all.push_back(loose_object(format, type, content));
    return all.back().name;
  }
};

/// A file that has no name yet by which git would find it.
struct Unnamed {
  std::unique_ptr<File> file;
  std::string temporary;
  std::string path;
};

// Nothing when it is there already; whoever made it may have left it to the disk's own time.
Result<std::optional<Unnamed>> written(FileSystem& files, const std::string& objects, unsigned mode,
                                       const LooseObject& object) {
  const std::string path = objects + "/" + object.path();
  if (const Result<std::unique_ptr<File>> there = files.open(path, Open::read);
      there && *there != nullptr) {
    if (Done synced = (*there)->sync(); !synced) return fail(synced.error());
    return std::nullopt;
  }
  const std::string folder = path.substr(0, path.rfind('/'));
  if (Done made = files.make_directory(folder, mode); !made) return fail(made.error());
  const std::string temporary = folder + "/tmp_obj_dibs" + object.name.substr(2);
  if (Done removed = files.remove(temporary); !removed) return fail(removed.error());
  Result<std::unique_ptr<File>> file = files.open(temporary, Open::create_append, kObjectMode);
  if (!file) return fail(file.error());
  if (Done put = (*file)->append(object.bytes); !put) return fail(put.error());
  return Unnamed{.file = *std::move(file), .temporary = temporary, .path = path};
}

// Each whole and flushed before it has its name, as git does it. All are written before the first
// is flushed: a file system with a journal puts them on disk together then.
Done put_objects(FileSystem& files, const std::string& objects, unsigned mode,
                 const std::vector<LooseObject>& all) {
  std::vector<Unnamed> unnamed;
  for (const LooseObject& object : all) {
    Result<std::optional<Unnamed>> put = written(files, objects, mode, object);
    if (!put) return fail(put.error());
    if (put->has_value()) unnamed.push_back(**std::move(put));
  }
  for (const Unnamed& one : unnamed) {
    if (Done synced = one.file->sync(); !synced) return synced;
  }
  for (const Unnamed& one : unnamed) {
    if (Done named = files.rename(one.temporary, one.path); !named) return named;
  }
  return {};
}

// Empty when there is none yet; nothing when there is one that is not known.
std::optional<std::string> folder_in(const KnownTrees& trees, const std::string& name,
                                     std::size_t object_bytes) {
  if (const auto known = trees.folders.find(name); known != trees.folders.end())
    return known->second;
  const TreeSearch search = find_entry(trees.root, name, object_bytes);
  return search.entry || !search.is_whole ? std::nullopt : std::optional<std::string>("");
}

// The root's name, once the folders have their files and the root its folders.
std::optional<std::string> changed_root(const BranchFiles::NewCommit& commit,
                                        const KnownTrees& trees, ObjectFormat format,
                                        Objects& objects) {
  std::map<std::string, std::string> changed;  // folders
  for (const FileChange& change : commit.changes) {
    const std::size_t slash = change.path.find('/');
    if (!change.text || slash == std::string::npos ||
        change.path.find('/', slash + 1) != std::string::npos)
      return std::nullopt;
    const std::string folder = change.path.substr(0, slash);
    const std::optional<std::string> before = folder_in(trees, folder, commit.parent.size() / 2);
    if (!before) return std::nullopt;
    std::string& tree = changed.try_emplace(folder, *before).first->second;
    auto with_file = with_entry(tree, {.mode = change.mode,
                                       .name = std::string_view(change.path).substr(slash + 1),
                                       .object_hex = objects.add(format, "blob", *change.text)});
    if (!with_file) return std::nullopt;
    tree = *std::move(with_file);
  }
  std::string root = trees.root;
  for (const auto& [folder, tree] : changed) {
    auto with_folder = with_entry(
        root, {.mode = kTreeMode, .name = folder, .object_hex = objects.add(format, "tree", tree)});
    if (!with_folder) return std::nullopt;
    root = *std::move(with_folder);
  }
  return objects.add(format, "tree", root);
}

}  // namespace

Result<std::optional<std::string>> write_loose_commit(FileSystem& files,
                                                      const std::string& common_dir,
                                                      const BranchFiles::NewCommit& commit,
                                                      const KnownTrees& trees) {
  const bool simple = !commit.parent.empty() && commit.merged.empty() && commit.taken.empty() &&
                      commit.moves.empty() && !commit.changes.empty();
  const std::string folder = common_dir + "/objects";
  const Result<std::optional<FileStatus>> status = files.status(folder);
  if (!simple || !status || !status->has_value()) return std::nullopt;
  const ObjectFormat format = format_of(commit.parent);
  Objects objects;
  const std::optional<std::string> tree = changed_root(commit, trees, format, objects);
  if (!tree) return std::nullopt;
  const std::string text = fmt::format("tree {}\n{}", *tree, BranchFiles::told_by(commit));
  std::string name = objects.add(format, "commit", text);
  if (Done put = put_objects(files, folder, (*status)->mode & kPermissions, objects.all); !put)
    return fail(put.error());
  return name;
}

}  // namespace dibs
