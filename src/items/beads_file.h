// A whole issues.jsonl of beads: which of its lines are items, and what it becomes when some of
// them change. Lines that nobody changes keep their bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "items/beads_line.h"
#include "items/found_items.h"

namespace dibs {

class BeadsFile {
 public:
  // `name` is what people are shown.
  BeadsFile(std::string text, std::string name);

  // As beads counts: a part waits for what its parent waits for.
  [[nodiscard]] ItemList list() const;
  // Each with the dependencies of its own line alone, in the order of the lines.
  [[nodiscard]] std::vector<FoundItem> in_order() const;
  [[nodiscard]] const std::vector<BrokenItem>& broken() const { return broken_; }

  // The text with the changes in it; nothing when something is not as expected.
  [[nodiscard]] Result<std::optional<std::string>> changed(
      const std::vector<ItemSource::Change>& changes) const;
  [[nodiscard]] const std::string& text() const { return text_; }

  [[nodiscard]] const std::vector<TextLine>& lines() const { return lines_; }

 private:
  struct Issue {
    FoundItem found;
    std::vector<ItemId> parents;
    std::vector<ItemId> inherited;  // dependencies that are its parents' and not its own
  };
  void read_line(std::size_t index);
  [[nodiscard]] std::vector<const Issue*> ancestors_of(const Issue& issue) const;
  void inherit();
  [[nodiscard]] const Issue* find(const ItemId& id) const;
  [[nodiscard]] std::string with_lines(const std::map<std::size_t, std::string>& replaced,
                                       const std::vector<std::string>& added) const;
  [[nodiscard]] Result<std::string> changed_line(const ItemSource::Change& change) const;

  std::string text_;
  std::string name_;
  std::vector<TextLine> lines_;
  std::vector<Issue> issues_;  // by id
  std::vector<ItemId> deleted_;
  std::vector<BrokenItem> broken_;
};

}  // namespace dibs
