// Items as they lie in git: all of a commit, or what two commits differ in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/branch_files.h"
#include "items/broken_item.h"
#include "items/catalog.h"

namespace dibs {

struct ItemsAt {
  std::vector<Item> items;  // by id
  std::vector<BrokenItem> broken;
};
// Every item of a commit. What is broken hides nothing else.
[[nodiscard]] Result<ItemsAt> items_at(const BranchFiles& branch, const std::string& commit);

// The same, each as git hands it over with what it was read from, nearly always by id; what is
// broken comes at the end.
using TakeItem = std::function<void(const Item& item, std::string_view text)>;
[[nodiscard]] Result<std::vector<BrokenItem>> each_item_at(const BranchFiles& branch,
                                                           const std::string& commit,
                                                           const TakeItem& take);

// A file that should be an item, read as one. Its name must be the one that its id has.
[[nodiscard]] Result<Item> item_in(const std::string& path, std::string_view text);

/// A file that two commits do not have alike; an object is empty where there is none.
struct FileDifference {
  std::string path;
  std::string before;
  std::string after;
  std::string mode = {};  // of what is there after, as git writes it
};
// Of items alone. Nothing when there are more than `most`, or git does not have both commits.
[[nodiscard]] Result<std::optional<std::vector<FileDifference>>> differences_between(
    const GitProgram& git, const std::string& git_dir, const std::string& from,
    const std::string& to, std::size_t most);
// The same of all files, also of those that are no items.
[[nodiscard]] Result<std::optional<std::vector<FileDifference>>> files_between(
    const GitProgram& git, const std::string& git_dir, const std::string& from,
    const std::string& to, std::size_t most);
[[nodiscard]] Result<CatalogChange> change_of(const BranchFiles& branch,
                                              const std::vector<FileDifference>& differences);

}  // namespace dibs
