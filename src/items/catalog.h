// All items at one commit, ready to be asked: which is called so, which can be taken, what does
// this one wait for. An image (items/catalog_image) answers, with the few changes made since on
// top, so that an answer costs what changed and not what exists.
//
// Items are numbers here, by id; those that the image does not have come after.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "items/catalog_image.h"
#include "items/item_columns.h"
#include "sys/file_system.h"

namespace dibs {

/// What became of some items since the image was made.
struct CatalogChange {
  std::vector<Item> cards;  // new, or as they are now
  std::vector<ItemId> gone;
  std::vector<BrokenItem> broken;   // by file: now broken
  std::vector<std::string> mended;  // files that are not broken any more, or not there

  [[nodiscard]] bool empty() const {
    return cards.empty() && gone.empty() && broken.empty() && mended.empty();
  }
};

class Catalog {
 public:
  // Nothing when the image is none, or damaged: it is derived, so it is made again.
  [[nodiscard]] static Result<std::optional<Catalog>> open(std::unique_ptr<File> image,
                                                           const Workflow& workflow);
  // An image that nobody keeps.
  [[nodiscard]] static Result<Catalog> of(const std::vector<Item>& cards,
                                          const std::vector<BrokenItem>& broken,
                                          const Workflow& workflow);
  [[nodiscard]] static Result<Catalog> of_image(std::string image, const Workflow& workflow);
  [[nodiscard]] std::string commit() const { return std::string(table_.commit()); }
  [[nodiscard]] std::string_view boot() const { return table_.boot(); }  // as CatalogOrigin has it
  // Later changes win. Comes before any question.
  [[nodiscard]] Done apply(CatalogChange change);
  // Which commit it shows by now, for whoever made it to know again.
  [[nodiscard]] const std::string& shows() const { return shows_; }
  void now_shows(std::string commit) { shows_ = std::move(commit); }
  [[nodiscard]] std::size_t changed() const { return over_.size(); }

  // Numbers go up to this; some of them may be gone.
  [[nodiscard]] std::uint32_t size() const;
  [[nodiscard]] bool is_gone(std::uint32_t item) const;
  [[nodiscard]] Result<std::optional<std::uint32_t>> find(std::string_view id) const;
  // Those whose ids begin so, at most so many; by id.
  [[nodiscard]] Result<std::vector<std::uint32_t>> starting_with(std::string_view prefix,
                                                                 std::size_t most) const;
  [[nodiscard]] Result<std::string> id(std::uint32_t item) const;
  [[nodiscard]] Result<Item> card(std::uint32_t item) const;
  // Parts of a card, without reading the rest of it. The views last as long as the catalog.
  struct Words {
    std::string_view type;
    std::vector<std::string_view> labels;
  };
  [[nodiscard]] Result<Words> words(std::uint32_t item) const;
  [[nodiscard]] Result<std::vector<std::string_view>> files(std::uint32_t item) const;
  // By id, those that are gone left out.
  [[nodiscard]] Result<std::vector<Item>> cards() const;
  // What can be taken, best first; at most so many.
  [[nodiscard]] Result<std::vector<std::uint32_t>> ready(std::size_t most) const;
  // The same, all of them, with the column that their order goes by and no item says.
  struct ReadyOrder {
    std::vector<std::uint32_t> items;
    std::vector<std::uint32_t> path_lengths;  // of every item
  };
  [[nodiscard]] Result<ReadyOrder> ready_order() const;
  [[nodiscard]] Result<const ItemColumns*> columns() const;
  [[nodiscard]] Result<std::vector<BrokenItem>> broken() const;

 private:
  Catalog(std::unique_ptr<File> image, std::string_view bytes, const CatalogTable& table,
          const Workflow& workflow)
      : image_(std::move(image)), bytes_(bytes), table_(table), workflow_(&workflow) {}

  /// What stands over an item of the image, or beyond it.
  struct Over {
    std::uint32_t number = 0;
    std::optional<Item> card;  // none: it is gone
  };

  template <class T>
  [[nodiscard]] Result<std::vector<T>> column(Part part, std::size_t most = SIZE_MAX) const;
  template <class T>
  [[nodiscard]] Result<T> entry(Part part, std::uint64_t at) const;
  [[nodiscard]] std::string_view part(Part part) const {
    return bytes_.substr(table_[part].offset, table_[part].bytes);
  }
  [[nodiscard]] Result<std::string_view> text(Part part, std::uint64_t from,
                                              std::uint64_t to) const;
  [[nodiscard]] std::vector<std::string> texts(Part part) const;
  [[nodiscard]] Result<std::string_view> nth_text(Part ends, Part part, std::uint32_t item) const;
  [[nodiscard]] Result<std::string_view> id_in_image(std::uint32_t item) const;
  [[nodiscard]] Result<Item> card_in_image(std::uint32_t item) const;
  [[nodiscard]] Result<std::uint32_t> first_not_below(std::string_view id) const;
  [[nodiscard]] std::uint32_t in_image() const { return static_cast<std::uint32_t>(table_.items); }
  [[nodiscard]] const Over* over(std::uint32_t item) const;
  [[nodiscard]] Done place(Over over, const ItemId& id);
  [[nodiscard]] Result<ItemColumns> image_columns() const;
  [[nodiscard]] bool means_the_same() const;
  class FewChanges;
  [[nodiscard]] Done lay_rows(ItemColumns& columns) const;

  std::unique_ptr<File> image_;
  std::string_view bytes_;  // the image's
  std::string shows_;
  CatalogTable table_;
  const Workflow* workflow_;
  std::map<std::string, Over, std::less<>> over_;  // by id
  std::vector<const Over*> by_number_;             // in the order they came; for those beyond
  std::map<std::string, std::optional<BrokenItem>, std::less<>> faults_;  // by file
  mutable std::optional<ItemColumns> columns_;
};

}  // namespace dibs
