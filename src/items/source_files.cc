#include "items/source_files.h"

#include <fmt/core.h>

#include <set>

#include "base/text.h"

namespace dibs {

Result<std::optional<std::string>> DirectoryFiles::read(const std::string& path,
                                                        std::size_t most_bytes) {
  return files_.read_file(at(path), most_bytes);
}

Result<std::vector<std::string>> DirectoryFiles::names_in(const std::string& folder) {
  const Result<std::optional<FileStatus>> there = files_.status(at(folder));
  if (!there) return fail(there.error());
  if (!*there) return std::vector<std::string>{};
  return files_.list(at(folder));
}

Result<std::vector<std::string>> DirectoryFiles::folders_in(const std::string& folder) {
  const Result<std::vector<std::string>> names = names_in(folder);
  if (!names) return fail(names.error());
  std::vector<std::string> folders;
  for (const std::string& name : *names) {
    const Result<std::optional<FileStatus>> status = files_.status(at(folder) + "/" + name);
    if (status && *status && (*status)->kind == FileKind::directory) folders.push_back(name);
  }
  return folders;
}

Done DirectoryFiles::write(const TextFile& file) {
  for (std::size_t slash = file.name.find('/'); slash != std::string::npos;
       slash = file.name.find('/', slash + 1)) {
    const std::string folder = at(file.name.substr(0, slash));
    if (Done made = files_.make_directory(folder, kSharedDirectory); !made) return made;
  }
  const std::string path = at(file.name);
  const Result<std::optional<FileStatus>> there = files_.status(path);
  if (!there) return fail(there.error());
  return files_.replace_file(path, file.text, *there ? (*there)->mode : kSharedFile);
}

Done DirectoryFiles::remove(const std::string& path) { return files_.remove(at(path)); }

Done CommitFiles::load() {
  if (loaded_) return {};
  const Result<std::vector<BranchEntry>> found = commits_.list_at(commit_, below_);
  if (!found) return fail(found.error());
  if (found->size() > kSourceFilesMax)
    return fail(ErrorKind::refused, fmt::format("{} has too many files", printable(below_)));
  std::vector<std::string> objects;
  std::vector<std::string> paths;
  for (const BranchEntry& entry : *found) {
    entries_[entry.path] = {.entry = entry, .text = std::nullopt};
    if (!entry.is_file) continue;
    objects.push_back(entry.object);
    paths.push_back(entry.path);
  }
  loaded_ = true;
  return commits_.read_each(objects, kSourceFileBytesMax, [&](const ObjectText& object) {
    if (object.text) entries_[paths[object.number]].text = std::string(*object.text);
  });
}

Result<std::optional<std::string>> CommitFiles::read(const std::string& path,
                                                     std::size_t most_bytes) {
  if (Done loaded = load(); !loaded) return fail(loaded.error());
  const auto found = entries_.find(path);
  if (found == entries_.end()) return std::nullopt;
  if (!found->second.entry.is_file)
    return fail(ErrorKind::refused, fmt::format("{} is no file", printable(path)));
  if (!found->second.text || found->second.text->size() > most_bytes)
    return fail(ErrorKind::refused, fmt::format("{} is too large", printable(path)));
  return found->second.text;
}

Result<std::vector<std::string>> CommitFiles::names_in(const std::string& folder) {
  if (Done loaded = load(); !loaded) return fail(loaded.error());
  std::set<std::string> names;
  for (const auto& [path, entry] : entries_) {
    if (!path.starts_with(folder + "/")) continue;
    const std::string below = path.substr(folder.size() + 1);
    names.insert(below.substr(0, below.find('/')));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<std::string>> CommitFiles::folders_in(const std::string& folder) {
  Result<std::vector<std::string>> names = names_in(folder);
  if (!names) return names;
  std::erase_if(*names, [&](const std::string& name) {  // git has no empty folders, only files
    return entries_.contains(folder + "/" + name);
  });
  return names;
}

Done CommitFiles::write(const TextFile& file) {
  FileChange change{.path = file.name, .text = file.text};
  const auto there = entries_.find(file.name);
  if (there != entries_.end()) change.mode = there->second.entry.mode;
  changes_.push_back(std::move(change));
  return {};
}

Done CommitFiles::remove(const std::string& path) {
  changes_.push_back({.path = path, .text = std::nullopt});
  return {};
}

}  // namespace dibs
