#include "items/item_tree_merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include "base/text.h"
#include "git/loose_object.h"
#include "items/item_path.h"
#include "items/items_at.h"
#include "rules/item_merge.h"

namespace dibs {

namespace {

constexpr std::size_t kFilesMax = 1'000'000;
constexpr std::size_t kFilesAtOnce = 512;  // whose contents are read together
constexpr std::size_t kSha256Digits = 64;

// git knows the tree without files even where it was never written.
std::string tree_of(const std::string& commit, const std::string& other) {
  if (!commit.empty()) return commit;
  const bool sha256 = other.size() == kSha256Digits;
  return loose_object(sha256 ? ObjectFormat::sha256 : ObjectFormat::sha1, "tree", "").name;
}

Result<std::vector<FileDifference>> all_between(const GitProgram& git, const std::string& git_dir,
                                                const std::string& from, const std::string& to) {
  Result<std::optional<std::vector<FileDifference>>> files =
      files_between(git, git_dir, tree_of(from, to), tree_of(to, from), kFilesMax);
  if (!files) return fail(files.error());
  if (files->has_value()) return **std::move(files);
  return fail(ErrorKind::internal,
              fmt::format("git cannot compare the items at {} and {}", from, to),
              "see whether the repository is whole: git fsck");
}

/// A file that both sides changed, and not to the same.
struct Clash {
  FileDifference ours;
  FileDifference theirs;
};

using Texts = std::map<std::string, std::string>;  // by object

// What git says at once is bounded; of many large files it is asked for fewer.
Result<Texts> texts_of(const BranchFiles& branch, std::span<const Clash> clashes) {
  std::vector<std::string> objects;
  for (const Clash& clash : clashes) {
    for (const std::string& object : {clash.ours.before, clash.ours.after, clash.theirs.after}) {
      if (!object.empty()) objects.push_back(object);
    }
  }
  Result<Texts> texts = branch.read(objects);
  if (texts || clashes.size() <= 1) return texts;
  const std::size_t half = clashes.size() / 2;
  Result<Texts> first = texts_of(branch, clashes.first(half));
  if (!first) return first;
  Result<Texts> second = texts_of(branch, clashes.subspan(half));
  if (!second) return second;
  first->merge(*second);
  return first;
}

class TreeMerge {
 public:
  TreeMerge(const ItemTrees& trees, ItemTreeMerge& merge) : trees_(trees), merge_(merge) {}

  void take(const FileDifference& theirs) {
    if (theirs.after.empty()) {
      merge_.changes.push_back({.path = theirs.path, .text = std::nullopt});
    } else {
      merge_.taken.push_back({.path = theirs.path, .mode = theirs.mode, .object = theirs.after});
    }
  }

  void settle(const Clash& clash, const Texts& texts) {
    if (clash.theirs.after.empty()) return;  // a change outlives a removal
    if (clash.ours.after.empty()) return take(clash.theirs);
    const std::optional<Item> ours = item_at(clash.ours, clash.ours.after, texts);
    const std::optional<Item> theirs = item_at(clash.theirs, clash.theirs.after, texts);
    if (!ours && theirs) {
      note(clash, trees_.ours, "what was here cannot be read");
      return take(clash.theirs);
    }
    if (!theirs) return note(clash, trees_.theirs, "what was there cannot be merged");
    merge(clash, *ours, *theirs, item_at(clash.ours, clash.ours.before, texts));
  }

 private:
  [[nodiscard]] static std::optional<Item> item_at(const FileDifference& file,
                                                   const std::string& object, const Texts& texts) {
    const auto text = texts.find(object);
    if (text == texts.end() || !is_item_path(file.path)) return std::nullopt;
    Result<Item> item = item_in(file.path, text->second);
    return item ? std::optional(*std::move(item)) : std::nullopt;
  }

  void merge(const Clash& clash, const Item& ours, const Item& theirs,
             const std::optional<Item>& base) {
    const Item item = merge_items(base, ours, theirs);
    std::string text = item_file(item);
    const bool fits = check_item(item).has_value() && text.size() <= kItemFileBytesMax;
    if (fits) {
      ++merge_.merged;
      merge_.changes.push_back({.path = clash.ours.path, .text = std::move(text)});
    } else if (ours.updated_unix_ms < theirs.updated_unix_ms) {
      note(clash, trees_.ours, "both together are more than an item may be, so the later stays");
      take(clash.theirs);
    } else {
      note(clash, trees_.theirs, "both together are more than an item may be, so the later stays");
    }
  }

  void note(const Clash& clash, const std::string& commit, std::string_view why) {
    merge_.notes.push_back(fmt::format("{} was changed on both sides: {}; the other is kept at {}",
                                       printable(clash.ours.path), why,
                                       shell_word(commit + ":" + clash.ours.path)));
  }

  const ItemTrees& trees_;
  ItemTreeMerge& merge_;
};

}  // namespace

Result<ItemTreeMerge> merge_item_trees(const GitProgram& git, const ItemTrees& trees) {
  Result<std::vector<FileDifference>> ours =
      all_between(git, trees.git_dir, tree_of(trees.base, trees.ours), trees.ours);
  if (!ours) return fail(ours.error());
  Result<std::vector<FileDifference>> theirs =
      all_between(git, trees.git_dir, tree_of(trees.base, trees.theirs), trees.theirs);
  if (!theirs) return fail(theirs.error());
  std::map<std::string_view, const FileDifference*> changed_here;
  for (const FileDifference& file : *ours) changed_here.emplace(file.path, &file);
  ItemTreeMerge merge;
  TreeMerge merging(trees, merge);
  std::vector<Clash> clashes;
  for (const FileDifference& file : *theirs) {
    const auto here = changed_here.find(file.path);
    if (here == changed_here.end()) {
      merging.take(file);
    } else if (here->second->after != file.after) {
      clashes.push_back({.ours = *here->second, .theirs = file});
    }
  }
  const BranchFiles branch(git, trees.git_dir);
  for (std::size_t at = 0; at < clashes.size(); at += kFilesAtOnce) {
    const std::span<const Clash> some =
        std::span(clashes).subspan(at, std::min(kFilesAtOnce, clashes.size() - at));
    const Result<Texts> texts = texts_of(branch, some);
    if (!texts) return fail(texts.error());
    for (const Clash& clash : some) merging.settle(clash, *texts);
  }
  return merge;
}

Result<std::size_t> count_between(const GitProgram& git, const std::string& git_dir,
                                  const std::string& from, const std::string& to) {
  if (from == to) return 0;
  const Result<std::vector<FileDifference>> files = all_between(git, git_dir, from, to);
  if (!files) return fail(files.error());
  return files->size();
}

}  // namespace dibs
