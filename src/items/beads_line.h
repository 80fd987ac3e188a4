// One issue of beads, as a line of its issues.jsonl. docs/formats/item-sources.md has the table of
// what becomes what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "items/foreign_text.h"
#include "items/json_line.h"

namespace dibs {

class BeadsLine final : public ForeignText {
 public:
  [[nodiscard]] static Result<BeadsLine> parse(std::string_view line);
  // The least that beads takes for an issue; write the rest with rewrite().
  [[nodiscard]] static BeadsLine empty(const ItemId& id);

  // Kept by beads so that a deletion reaches other clones; it is no item any more.
  [[nodiscard]] bool is_deleted() const;
  [[nodiscard]] ItemId id() const;
  // Of whom it is a part: when they wait, it waits with them.
  [[nodiscard]] std::vector<ItemId> parents() const;
  [[nodiscard]] const std::string& text() const { return line_.text(); }
  [[nodiscard]] const JsonLine& json() const { return line_; }
  // Whether a member of that name is read into an item, or follows from one.
  [[nodiscard]] static bool is_read(std::string_view name);

  [[nodiscard]] Result<Item> said() const override;
  [[nodiscard]] std::string carried() const override;
  [[nodiscard]] std::string in_its_words(const Item& item, ItemField field) const override;
  void write(ItemField field, const Item& item) override;
  void carry(std::string_view json) override;

 private:
  explicit BeadsLine(JsonLine line) : line_(std::move(line)) {}
  void put(std::string_view name, const std::string& json);
  void put_state(const Item& item);
  void put_dependencies(const Item& item);
  void put_comments(const Item& item);
  void put_unknown(const Item& item);
  void reread();

  JsonLine line_;
};

}  // namespace dibs
