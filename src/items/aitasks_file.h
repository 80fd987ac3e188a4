// One task of aitasks: Markdown with front matter, named after its id.
// docs/formats/item-sources.md has the table of what becomes what.
#pragma once

#include <string>
#include <string_view>

#include "items/aitasks_name.h"
#include "items/foreign_text.h"
#include "items/front_matter.h"

namespace dibs {

class AitasksFile final : public ForeignText {
 public:
  // `aliases` is asked whenever dependencies are read or written, and must outlive this.
  [[nodiscard]] static Result<AitasksFile> parse(TaskName name, std::string_view text,
                                                 const TaskAliases& aliases);

  // The id that is carried for another task list's sake; nothing when it has only its own.
  [[nodiscard]] std::optional<ItemId> alias() const;
  [[nodiscard]] const TaskName& name() const { return name_; }
  [[nodiscard]] std::string text() const { return file_.text(); }
  // Whether that key is read into an item, or follows from one.
  [[nodiscard]] static bool is_read(std::string_view key);

  [[nodiscard]] Result<Item> said() const override;
  [[nodiscard]] std::string carried() const override;
  [[nodiscard]] std::string in_its_words(const Item& item, ItemField field) const override;
  void write(ItemField field, const Item& item) override;
  void carry(std::string_view json) override;

 private:
  AitasksFile(TaskName name, FrontMatter file, const TaskAliases& aliases)
      : name_(std::move(name)), file_(std::move(file)), aliases_(&aliases) {}
  [[nodiscard]] std::string state() const;
  [[nodiscard]] std::string body() const;
  void put(std::string_view key, std::string_view words);
  void put_state(const Item& item);
  void put_dependencies(const Item& item);
  void put_body(const std::string& body);

  TaskName name_;
  FrontMatter file_;
  const TaskAliases* aliases_;
};

}  // namespace dibs
