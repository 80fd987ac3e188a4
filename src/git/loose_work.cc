#include "git/loose_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "base/text.h"
#include "git/stored_objects.h"
#include "git/tree_object.h"

namespace dibs {

namespace {

constexpr std::size_t kWalkedMax = 256;  // of both sides
constexpr std::size_t kTreesReadMax = 1024;

struct WalkedCommit {
  std::string tree;
  std::vector<std::string> parents;
  std::int64_t unix_secs = 0;  // of its committer
};

std::optional<WalkedCommit> parse_commit(std::string_view text) {
  WalkedCommit commit;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;  // the headers end with the committer
    const std::string_view value = line.substr(space + 1);
    if (line.starts_with("tree ")) commit.tree = value;
    if (line.starts_with("parent ")) commit.parents.emplace_back(value);
    if (!line.starts_with("committer ")) continue;
    const std::vector<std::string_view> words = split(value, ' ');
    const auto secs = words.size() < 2 ? std::nullopt : parse_unsigned(words[words.size() - 2]);
    if (!secs || commit.tree.empty()) return std::nullopt;
    commit.unix_secs = static_cast<std::int64_t>(*secs);
    return commit;
  }
  return std::nullopt;
}

/// Two histories, walked from their ends, the newest commit first, until all that is left to look
/// at belongs to the others.
class CommitWalk {
 public:
  explicit CommitWalk(StoredObjects& objects) : objects_(objects) {}

  // The commits of `work` that the others lack.
  std::optional<std::vector<std::string>> between(const std::string& work,
                                                  const std::vector<std::string>& others) {
    for (const std::string& other : others) {
      if (!meet(other, Side::others)) return std::nullopt;
    }
    if (!meet(work, Side::work)) return std::nullopt;
    std::vector<std::string> lacking;
    while (of_work_ > 0) {
      const auto [age, side, name] = *next_.begin();
      next_.erase(next_.begin());
      passed_.insert(name);
      if (side == Side::work) {
        --of_work_;
        lacking.push_back(name);
      }
      for (const std::string& parent : commits_.at(name).parents) {
        if (!meet(parent, side)) return std::nullopt;
      }
    }
    return lacking;
  }
  [[nodiscard]] const WalkedCommit& at(const std::string& name) const { return commits_.at(name); }
  // One that was not met is read.
  const WalkedCommit* known(const std::string& name) {
    const auto found = commits_.find(name);
    if (found != commits_.end()) return &found->second;
    const std::optional<std::string> text = objects_.read("commit", name);
    std::optional<WalkedCommit> commit = text ? parse_commit(*text) : std::nullopt;
    if (!commit || commits_.size() == kWalkedMax) return nullptr;
    return &commits_.emplace(name, *std::move(commit)).first->second;
  }

 private:
  enum class Side { others, work };  // of one age, the others' come first

  // False when git has to be asked.
  bool meet(const std::string& name, Side side) {
    const WalkedCommit* commit = known(name);
    if (commit == nullptr) return false;
    const Side before = sides_.try_emplace(name, side).first->second;
    if (before == Side::others && side == Side::work) return true;
    if (passed_.contains(name)) return before == side;  // it was the others' all the time
    if (before == Side::work && side == Side::others) {
      --of_work_;
      next_.erase({-commit->unix_secs, Side::work, name});
      sides_[name] = Side::others;
    }
    if (next_.emplace(-commit->unix_secs, side, name).second && side == Side::work) ++of_work_;
    return true;
  }

  StoredObjects& objects_;
  std::map<std::string, WalkedCommit> commits_;
  std::map<std::string, Side> sides_;
  std::set<std::string> passed_;
  std::set<std::tuple<std::int64_t, Side, std::string>> next_;
  std::size_t of_work_ = 0;  // in next_
};

/// What trees have that others do not have in the same place.
class TreeComparison {
 public:
  TreeComparison(StoredObjects& objects, BroughtWork& brought)
      : objects_(objects), brought_(brought) {}

  // False when git has to be asked.
  bool add(const std::string& tree, const std::vector<std::string>& before) {
    if (std::ranges::find(before, tree) != before.end() || !seen_.insert(tree).second) return true;
    brought_.objects.push_back(tree);
    const std::optional<std::string> text = read(tree);
    if (!text) return false;
    std::vector<std::string> texts;
    std::unordered_set<std::string_view> there;  // entries, byte by byte
    for (const std::string& other : before) {
      std::optional<std::string> read = this->read(other);
      if (!read) return false;
      texts.push_back(*std::move(read));
    }
    const std::size_t object_bytes = tree.size() / 2;
    for (const std::string& other : texts) {
      const auto remember = [&](std::string_view bytes, const TreeEntry&) {
        there.insert(bytes);
        return true;
      };
      if (!each_entry(other, object_bytes, remember)) return false;
    }
    return each_entry(*text, object_bytes, [&](std::string_view bytes, const TreeEntry& entry) {
      return there.contains(bytes) || add_entry(entry, texts);
    });
  }

 private:
  template <class Visit>
  static bool each_entry(std::string_view tree, std::size_t object_bytes, const Visit& visit) {
    while (!tree.empty()) {
      const std::string_view from = tree;
      const std::optional<TreeEntry> entry = next_entry(tree, object_bytes);
      if (!entry || !visit(from.substr(0, from.size() - tree.size()), *entry)) return false;
    }
    return true;
  }

  bool add_entry(const TreeEntry& entry, const std::vector<std::string>& others) {
    if (!entry.is_folder()) {
      brought_.objects.push_back(entry.object_hex());
      return true;
    }
    std::vector<std::string> before;
    for (const std::string& other : others) {
      const TreeSearch search = find_entry(other, entry.name, entry.object.size());
      if (search.entry && search.entry->is_folder()) before.push_back(search.entry->object_hex());
    }
    return add(entry.object_hex(), before);
  }

  std::optional<std::string> read(const std::string& tree) {
    return ++read_ > kTreesReadMax ? std::nullopt : objects_.read("tree", tree);
  }

  StoredObjects& objects_;
  BroughtWork& brought_;
  std::set<std::string> seen_;
  std::size_t read_ = 0;
};

}  // namespace

std::optional<BroughtWork> brought_loose(FileSystem& files, const std::string& common_dir,
                                         const std::string& work,
                                         const std::vector<std::string>& others) {
  StoredObjects objects(files, common_dir);
  CommitWalk walk(objects);
  const std::optional<std::vector<std::string>> commits = walk.between(work, others);
  if (!commits) return std::nullopt;
  BroughtWork brought{.commits = commits->size(), .objects = *commits};
  TreeComparison trees(objects, brought);
  for (const std::string& name : *commits) {
    std::vector<std::string> before;
    for (const std::string& parent : walk.at(name).parents) {
      const WalkedCommit* commit = walk.known(parent);
      if (commit == nullptr) return std::nullopt;
      before.push_back(commit->tree);
    }
    if (!trees.add(walk.at(name).tree, before)) return std::nullopt;
  }
  return brought;
}

}  // namespace dibs
