// The main file of an item that lies in a state folder, with the place where it lies: the place
// says id, state and category, the file the rest. docs/formats/item-sources.md has the table.
#pragma once

#include <string>
#include <string_view>

#include "items/folder_layout.h"
#include "items/foreign_text.h"
#include "items/front_matter.h"
#include "items/headed_text.h"

namespace dibs {

class FolderFile final : public ForeignText {
 public:
  // The layout must outlive it. An error knows its line: line_of().
  [[nodiscard]] static Result<FolderFile> parse(const FolderLayout& layout, FolderPlace place,
                                                std::string_view text);

  [[nodiscard]] const FolderPlace& place() const { return place_; }
  [[nodiscard]] std::string text() const { return file_.text(); }
  [[nodiscard]] bool notes_changes() const { return file_.find("updated_at") != nullptr; }
  [[nodiscard]] bool is_titled() const;  // otherwise it is called as it is named
  void rename(std::string name) { place_.name = std::move(name); }

  [[nodiscard]] Result<Item> said() const override;
  [[nodiscard]] std::string carried() const override;
  [[nodiscard]] std::string in_its_words(const Item& item, ItemField field) const override;
  void write(ItemField field, const Item& item) override;
  void carry(std::string_view json) override;

 private:
  FolderFile(const FolderLayout& layout, FolderPlace place, FrontMatter file)
      : layout_(&layout), place_(std::move(place)), file_(std::move(file)) {}
  [[nodiscard]] HeadedText headed() const;
  void put(std::string_view key, std::string_view words);
  void put_list(std::string_view key, const std::vector<std::string>& entries);
  void put_title(const Item& item);
  void put_state(const Item& item);
  void put_updated(const Item& item);
  void drop_empty_head();

  const FolderLayout* layout_;
  FolderPlace place_;
  FrontMatter file_;
};

}  // namespace dibs
