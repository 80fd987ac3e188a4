#include "git/changed_paths.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace dibs {

namespace {

// Slashes come before every other byte. A path has no zero byte.
bool by_component(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0U : static_cast<unsigned char>(c); };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

bool is_in_folder(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// The same path, or what is a file here is a folder there.
bool meet(const std::vector<std::string>& ours, const std::vector<std::string>& theirs) {
  auto a = ours.begin();
  auto b = theirs.begin();
  while (a != ours.end() && b != theirs.end()) {
    if (*a == *b || is_in_folder(*a, *b) || is_in_folder(*b, *a)) return true;
    by_component(*a, *b) ? ++a : ++b;
  }
  return false;
}

std::set<std::string_view> top_folders(const std::vector<std::string>& paths) {
  std::set<std::string_view> folders;
  for (const std::string& path : paths) {
    if (const std::size_t slash = path.find('/'); slash != std::string::npos)
      folders.insert(std::string_view(path).substr(0, slash));
  }
  return folders;
}

// git takes a file that is new in a folder along when the other side moved that folder, and by
// default calls that a conflict. Only a folder that lost files can have been moved, and the root
// never is.
bool may_move_a_folder_of(const ChangedPaths& mover, const ChangedPaths& other) {
  if (mover.deleted.empty() || mover.added.empty() || other.added.empty()) return false;
  const std::set<std::string_view> emptied = top_folders(mover.deleted);
  return std::ranges::any_of(top_folders(other.added),
                             [&](std::string_view folder) { return emptied.contains(folder); });
}

}  // namespace

void join(ChangedPaths& changed, const ChangedPaths& more) {
  const auto add = [](std::vector<std::string>& paths, const std::vector<std::string>& others) {
    paths.insert(paths.end(), others.begin(), others.end());
    std::ranges::sort(paths, by_component);
    const auto twice = std::ranges::unique(paths);
    paths.erase(twice.begin(), twice.end());
  };
  add(changed.all, more.all);
  add(changed.added, more.added);
  add(changed.deleted, more.deleted);
}

Result<std::vector<CommitChanges>> parse_commit_changes(std::string_view out) {
  std::vector<CommitChanges> commits;
  if (out.empty()) return commits;
  if (!out.ends_with('\0')) return fail(ErrorKind::internal, "git was cut short");
  out.remove_suffix(1);
  const std::vector<std::string_view> fields = split(out, '\0');
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string_view field = fields[i];
    if (field.starts_with('\n')) field.remove_prefix(1);  // log puts one after its own line
    // A status is one letter, a commit is longer.
    if (field.size() > 1) {
      commits.push_back({.commit = std::string(field), .paths = {}});
      continue;
    }
    if (commits.empty() || i + 1 == fields.size())
      return fail(ErrorKind::internal, "git told of changes in other words");
    std::string path(fields[++i]);
    ChangedPaths& paths = commits.back().paths;
    if (field == "A") paths.added.push_back(path);
    if (field == "D") paths.deleted.push_back(path);
    paths.all.push_back(std::move(path));
  }
  for (CommitChanges& commit : commits) std::ranges::sort(commit.paths.all, by_component);
  return commits;
}

bool may_collide(const ChangedPaths& one, const ChangedPaths& other) {
  return meet(one.all, other.all) || may_move_a_folder_of(one, other) ||
         may_move_a_folder_of(other, one);
}

}  // namespace dibs
