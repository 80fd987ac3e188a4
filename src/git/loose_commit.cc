#include "git/loose_commit.h"

#include <fmt/core.h>

#include <vector>

#include "base/text.h"
#include "git/loose_object.h"

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

// Whole and flushed before it has its name, as git does it.
Done put_object(FileSystem& files, const std::string& objects, unsigned mode,
                const LooseObject& object) {
  const std::string path = objects + "/" + object.path();
  const Result<std::optional<FileStatus>> there = files.status(path);
  if (there && there->has_value()) return {};
  const std::string folder = path.substr(0, path.rfind('/'));
  if (Done made = files.make_directory(folder, mode); !made) return made;
  const std::string temporary = folder + "/tmp_obj_dibs" + object.name.substr(2);
  if (Done removed = files.remove(temporary); !removed) return removed;
  const Result<std::unique_ptr<File>> file =
      files.open(temporary, Open::create_append, kObjectMode);
  if (!file) return fail(file.error());
  if (Done put = (*file)->append(object.bytes); !put) return put;
  if (Done synced = (*file)->sync(); !synced) return synced;
  return files.rename(temporary, path);
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
  const std::size_t object_bytes = object_hex.size() / 2;
  for (std::size_t at = 0; at < tree.size();) {
    const std::size_t space = tree.find(' ', at);
    const std::size_t end = tree.find('\0', at);
    if (space == std::string_view::npos || end == std::string_view::npos || space > end ||
        end + 1 + object_bytes > tree.size())
      return std::nullopt;
    if (tree.substr(space + 1, end - space - 1) == name) {
      std::string changed(tree);
      return changed.replace(end + 1, object_bytes, raw_bytes(object_hex));
    }
    at = end + 1 + object_bytes;
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
  for (const LooseObject& object : objects.all) {
    if (Done put = put_object(files, folder, (*status)->mode & kPermissions, object); !put)
      return fail(put.error());
  }
  return name;
}

}  // namespace dibs
