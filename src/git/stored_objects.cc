#include "git/stored_objects.h"

#include "git/loose_object.h"
#include "git/tree_object.h"

namespace dibs {

namespace {

/// What the trees of one commit lead to, each read once.
class TreeWalk {
 public:
  using Found = BranchFiles::Found;

  TreeWalk(StoredObjects& objects, std::string root) : objects_(objects), root_(std::move(root)) {}

  enum class Step { found, absent, unknown };
  // `found` is filled as the step says.
  Step go(const std::string& path, Found& found) {
    if (path.empty()) return take("tree", root_, found);
    const std::size_t slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
    auto tree = trees_.find(above);
    if (tree == trees_.end()) {
      Found read;
      if (const Step step = go(above, read); step != Step::found) return step;
      tree = trees_.emplace(above, std::move(read.text)).first;
    }
    const std::string_view name = std::string_view(path).substr(slash + 1);  // npos + 1 is 0
    const TreeSearch search = find_entry(tree->second, name, root_.size() / 2);
    if (!search.entry) return search.is_whole ? Step::absent : Step::unknown;
    return take(search.entry->is_folder() ? "tree" : "blob", search.entry->object_hex(), found);
  }

 private:
  Step take(std::string_view type, std::string name, Found& found) {
    std::optional<std::string> text = objects_.read(type, name);
    if (!text) return Step::unknown;
    found = {.object = std::move(name), .text = *std::move(text)};
    return Step::found;
  }

  StoredObjects& objects_;
  std::string root_;
  std::map<std::string, std::string> trees_;  // by path
};

}  // namespace

std::optional<std::string> StoredObjects::read(std::string_view type, const std::string& name) {
  if (name.size() < 3) return std::nullopt;
  const std::string path = common_dir_ + "/objects/" + name.substr(0, 2) + "/" + name.substr(2);
  const Result<std::optional<std::string>> bytes = files_.read_file(path, kObjectMax);
  if (!bytes || !bytes->has_value()) return std::nullopt;
  return unwrapped(**bytes, type, name);
}

std::optional<std::string> StoredObjects::tree_of(const std::string& commit) {
  constexpr std::string_view kTree = "tree ";
  const std::optional<std::string> text = read("commit", commit);
  const std::size_t end = text ? text->find('\n') : std::string::npos;
  if (end == std::string::npos || !text->starts_with(kTree)) return std::nullopt;
  return text->substr(kTree.size(), end - kTree.size());
}

std::optional<std::map<std::string, BranchFiles::Found>> StoredObjects::read_at(
    const std::string& commit, const std::vector<std::string>& paths) {
  const std::optional<std::string> root = tree_of(commit);
  if (!root) return std::nullopt;
  TreeWalk walk(*this, *root);
  std::map<std::string, BranchFiles::Found> all;
  for (const std::string& path : paths) {
    BranchFiles::Found found;
    const TreeWalk::Step step = walk.go(path, found);
    if (step == TreeWalk::Step::unknown) return std::nullopt;
    if (step == TreeWalk::Step::found) all.emplace(path, std::move(found));
  }
  return all;
}

}  // namespace dibs
