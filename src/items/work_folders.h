// All items of a folder of work: which files belong to which item, and what moves and changes when
// items do. Knows nothing of git or of directories: it is told paths, says which of them have to
// be read, and is given their texts.
//
//   WorkFolders work(workflow, paths);
//   work.read(texts of work.main_files());
//   work.list();  work.changes(…);
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "items/folder_file.h"
#include "items/found_items.h"

namespace dibs {

struct FolderEntry {
  std::string path;                 // below the folder of all work
  std::string unreadable_why = {};  // empty: it can be read
};

class WorkFolders {
 public:
  // The workflow must outlive it.
  WorkFolders(const Workflow& workflow, const std::vector<FolderEntry>& entries);

  // Of each item the file that says what it is.
  [[nodiscard]] std::vector<std::string> main_files() const;
  // Their texts, by path; one that is too large is left out.
  void read(const std::map<std::string, std::string>& texts);

  [[nodiscard]] ItemList list() const { return listed(found_, broken_); }
  [[nodiscard]] const std::vector<FoundItem>& found() const { return found_; }

  struct Move {
    std::string from;  // a folder or a file
    std::string to;

    friend bool operator==(const Move&, const Move&) = default;
  };
  struct Text {
    std::string path;  // where it lies after the moves
    std::string was;   // and before them; the same when it is new
    std::string text;
  };
  struct Writes {
    std::vector<Move> moves;  // one after the other
    std::vector<Text> files;

    // Where a file lies after the moves.
    [[nodiscard]] std::string moved(std::string path) const;
  };
  // Nothing when something is not as expected.
  [[nodiscard]] Result<std::optional<Writes>> changes(
      const std::vector<ItemSource::Change>& changes, Precision precision) const;

 private:
  /// One item, wherever it lies.
  struct Work {
    FolderPlace place;
    std::string main = {};  // below the place, with its slash; empty when the place is the file
    bool has_main = false;
    std::string unreadable_why = {};
    std::string text = {};

    [[nodiscard]] std::string main_path() const { return place.path() + main; }
  };
  void take(const FolderEntry& entry);
  void take_main(Work& work, const FolderEntry& entry);
  void read(std::size_t index);
  [[nodiscard]] Result<Comparison> standing(const ItemSource::Change& change) const;
  // Null when it is new.
  [[nodiscard]] const FoundItem* found_for(const ItemSource::Change& change) const;
  [[nodiscard]] Work work_of(const ItemSource::Change& change) const;
  [[nodiscard]] Result<FolderFile> rewritten(const Work& work, const ItemSource::Change& change,
                                             Precision precision) const;
  [[nodiscard]] Done add(const ItemSource::Change& change, Precision precision,
                         std::set<std::string>& taken, Writes& writes) const;
  [[nodiscard]] Done check_place(const Work& work, const ItemId& id,
                                 std::set<std::string>& taken) const;

  FolderLayout layout_;
  std::vector<Work> work_;
  std::map<std::string, std::size_t> by_path_;
  std::vector<FoundItem> found_;
  std::vector<BrokenItem> broken_;
};

// Work that began before its item was moved puts files where the item lay then, and a merge leaves
// them there: half an item, twice. Which files have to follow the rest, by paths before and after.
[[nodiscard]] std::vector<WorkFolders::Move> torn_apart(const FolderLayout& layout,
                                                        const std::vector<std::string>& before,
                                                        const std::vector<std::string>& after);

}  // namespace dibs
