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

// Where its file is: under a name by which git does not find it yet, unless it was there already.
Result<std::string> written(FileSystem& files, const std::string& path, unsigned mode,
                            const LooseObject& object) {
  if (const Result<std::unique_ptr<File>> there = files.open(path, Open::read);
      there && *there != nullptr)
    return path;
  const std::string folder = path.substr(0, path.rfind('/'));
  if (Done made = files.make_directory(folder, mode); !made) return fail(made.error());
  std::string temporary = folder + "/tmp_obj_dibs" + object.name.substr(2);
  if (Done removed = files.remove(temporary); !removed) return fail(removed.error());
  const Result<std::unique_ptr<File>> file =
      files.open(temporary, Open::create_append, kObjectMode);
  if (!file) return fail(file.error());
  if (Done put = (*file)->append(object.bytes); !put) return fail(put.error());
  return temporary;
}

// Each whole and flushed before it has its name, as git does it, and all flushed together. One that
// was there already is, too: whoever made it may have left it to the disk's own time.
Done put_objects(FileSystem& files, const std::string& objects, unsigned mode,
                 const std::vector<LooseObject>& all) {
  std::vector<std::string> paths;
  std::vector<std::string> places;
  for (const LooseObject& object : all) {
    paths.push_back(objects + "/" + object.path());
    Result<std::string> put = written(files, paths.back(), mode, object);
    if (!put) return fail(put.error());
    places.push_back(*std::move(put));
  }
  if (Done synced = files.sync_all(places); !synced) return synced;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (places[i] == paths[i]) continue;
    if (Done named = files.rename(places[i], paths[i]); !named) return named;
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
