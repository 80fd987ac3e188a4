// Where an item lies when its state is the folder that it is in:
//
//   {category}/{state}/{item}/…    newfeatures/indevelopment/userauth-b5c6d7e8/README.md
//   {category}/{state}/{item}.md
//   {state}/{item}/…               new/lostmypassword/notes.md
//   {state}-{item}/…               pending-userauth-b5c6d7e8/, of states that wait for an answer
//
// A state may be several folders (archive/production). Paths are below the folder of all work.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/workflow.h"

namespace dibs {

struct FolderPlace {
  enum class Shape { folder, file, joined };

  std::string category = {};  // empty: none
  std::string state = {};     // the folder's name, which is a state of the workflow
  std::string name = {};
  Shape shape = Shape::folder;

  // The folder with all of its files, or the one file.
  [[nodiscard]] std::string path() const;
  friend bool operator==(const FolderPlace&, const FolderPlace&) = default;
};

class FolderLayout {
 public:
  // The workflow must outlive it.
  explicit FolderLayout(const Workflow& workflow) : workflow_(&workflow) {}

  // The item that a file belongs to; nothing when it is no part of one.
  [[nodiscard]] std::optional<FolderPlace> place_of(std::string_view path) const;
  // For a file that lies where items do, but in no state: what would be the item. Work that nobody
  // sees because of a mistyped folder is lost work.
  [[nodiscard]] std::optional<FolderPlace> stray(std::string_view path) const;

  // The folder that stands for a state; for one that the workflow does not have, the nearest.
  [[nodiscard]] std::string folder_for(std::string_view state) const;
  // Work gets its category when it is sorted out; before that it has none.
  [[nodiscard]] bool has_category(std::string_view state) const;
  // The folder that stands for a type of work; empty when none can.
  [[nodiscard]] std::string category_for(std::string_view type) const;
  // What an id is called as a folder.
  [[nodiscard]] static std::string name_for(const ItemId& id);
  [[nodiscard]] const Workflow& workflow() const { return *workflow_; }

 private:
  [[nodiscard]] std::optional<FolderPlace> in_state(const std::vector<std::string_view>& parts,
                                                    std::size_t start) const;
  [[nodiscard]] std::optional<FolderPlace> joined(const std::vector<std::string_view>& parts,
                                                  std::size_t start) const;

  const Workflow* workflow_;
};

inline constexpr std::string_view kNoCategoryType = "task";  // what work without one is
inline constexpr std::string_view kMarkdown = ".md";
inline constexpr std::string_view kReadme = "README.md";

}  // namespace dibs
