#include "git/loose_commit.h"

#include <fmt/core.h>

#include <vector>

#include "base/text.h"
#include "git/loose_object.h"
#include "git/tree_object.h"

namespace dibs {

namespace {

constexpr unsigned kObjectMode = 0444;
constexpr unsigned kPermissions = 0777;
constexpr std::size_t kSha256Hex = 64;

std::string raw_bytes(std::string_view hex) {
  std::string raw;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    raw += static_cast<char>(hex_digit(hex[i]) * 16 + hex_digit(hex[i + 1]));
  return raw;
}

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

// Nothing when it is there already.
Result<std::optional<Unnamed>> written(FileSystem& files, const std::string& objects, unsigned mode,
                                       const LooseObject& object) {
  const std::string path = objects + "/" + object.path();
  const Result<std::optional<FileStatus>> there = files.status(path);
  if (there && there->has_value()) return std::nullopt;
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

// Changes by folder: each replaces a file that is there.
std::optional<std::string> changed_root(const BranchFiles::NewCommit& commit,
                                        const KnownTrees& trees, ObjectFormat format,
                                        Objects& objects) {
  std::map<std::string, std::string> folders = trees.folders;
  std::string root = trees.root;
  for (const FileChange& change : commit.changes) {
    const std::size_t slash = change.path.find('/');
    if (!change.text || slash == std::string::npos) return std::nullopt;
    const auto folder = folders.find(change.path.substr(0, slash));
    if (folder == folders.end()) return std::nullopt;
    const std::string blob = objects.add(format, "blob", *change.text);
    auto tree = with_entry(folder->second, change.path.substr(slash + 1), blob);
    if (!tree) return std::nullopt;
    folder->second = *std::move(tree);
    const std::string name = objects.add(format, "tree", folder->second);
    auto above = with_entry(root, folder->first, name);
    if (!above) return std::nullopt;
    root = *std::move(above);
  }
  return objects.add(format, "tree", root);
}

}  // namespace

std::optional<std::string> with_entry(std::string_view tree, std::string_view name,
                                      std::string_view object_hex) {
  std::string_view rest = tree;
  while (const std::optional<TreeEntry> entry = next_entry(rest, object_hex.size() / 2)) {
    if (entry->name != name) continue;
    std::string changed(tree);
    const auto at = static_cast<std::size_t>(entry->object.data() - tree.data());
    return changed.replace(at, entry->object.size(), raw_bytes(object_hex));
  }
  return std::nullopt;
}

Result<std::optional<std::string>> write_loose_commit(FileSystem& files,
                                                      const std::string& common_dir,
                                                      const BranchFiles::NewCommit& commit,
                                                      const KnownTrees& trees) {
  const bool simple = !commit.parent.empty() && commit.merged.empty() && commit.taken.empty() &&
                      commit.moves.empty() && !commit.changes.empty();
  const std::string folder = common_dir + "/objects";
  const Result<std::optional<FileStatus>> status = files.status(folder);
  if (!simple || !status || !status->has_value()) return std::nullopt;
  const ObjectFormat format =
      commit.parent.size() == kSha256Hex ? ObjectFormat::sha256 : ObjectFormat::sha1;
  Objects objects;
  const std::optional<std::string> tree = changed_root(commit, trees, format, objects);
  if (!tree) return std::nullopt;
  const std::string text = fmt::format("tree {}\n{}", *tree, BranchFiles::told_by(commit));
  const std::string name = objects.add(format, "commit", text);
  if (Done put = put_objects(files, folder, (*status)->mode & kPermissions, objects.all); !put)
    return fail(put.error());
  return name;
}

}  // namespace dibs
