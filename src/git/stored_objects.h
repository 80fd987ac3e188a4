// Objects read without git: as long as nobody has packed them they are files of their own. To start
// git for one costs more than to change an item.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/branch_files.h"
#include "sys/file_system.h"

namespace dibs {

class StoredObjects {
 public:
  StoredObjects(FileSystem& files, std::string common_dir)
      : files_(files), common_dir_(std::move(common_dir)) {}

  // Nothing where git has to be asked.
  [[nodiscard]] std::optional<std::string> read(std::string_view type, const std::string& name);
  // The tree of a commit; nothing where git has to be asked.
  [[nodiscard]] std::optional<std::string> tree_of(const std::string& commit);
  // As BranchFiles::read_at, for the root (""), folders in it and files in those. Nothing where git
  // has to be asked about one of them.
  [[nodiscard]] std::optional<std::map<std::string, BranchFiles::Found>> read_at(
      const std::string& commit, const std::vector<std::string>& paths);

 private:
  FileSystem& files_;
  std::string common_dir_;
};

}  // namespace dibs
