// Makes the image of a catalog while its items are still coming. Their cards, which are nearly all
// of it, are handed on at once; what goes by columns follows at the end. So a first look at 100,000
// items works while git reads them, and holds none of them in memory.
//
//   CatalogWriter writer([&](std::string_view bytes) { return file.append(bytes); });
//   … writer.add(item) …
//   writer.finish(broken, workflow, {.commit = commit});
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "items/catalog_image.h"
#include "items/item_columns.h"

namespace dibs {

class CatalogWriter {
 public:
  // Takes the next bytes of the image. After it said no, it is not asked again.
  using Sink = std::function<Done(std::string_view bytes)>;
  explicit CatalogWriter(Sink sink) : sink_(std::move(sink)) {}

  // In any order, no id twice.
  void add(const Item& item) { add(item, item_card(item)); }
  // With the JSON that it was read from, which then is its card unless it is too long.
  void add(const Item& item, std::string_view json);
  [[nodiscard]] Done finish(const std::vector<BrokenItem>& broken, const Workflow& workflow,
                            const CatalogOrigin& origin);

 private:
  /// What an item is to the columns; its texts end there in those of all.
  struct Row {
    CardSpan card;
    std::uint32_t id_end = 0;
    std::uint32_t words_end = 0;
    std::uint32_t files_end = 0;
    std::uint32_t needs_end = 0;
    std::uint32_t estimate_min = 0;
    std::int64_t created_unix_ms = 0;
    std::uint8_t state = 0;
    std::uint8_t priority = 0;
  };
  struct Texts;

  [[nodiscard]] std::uint8_t state_number(const std::string& state);
  [[nodiscard]] std::string_view text(const std::string& all, std::uint32_t Row::* end,
                                      std::uint32_t row) const;
  [[nodiscard]] std::vector<std::uint32_t> rows_by_id() const;
  [[nodiscard]] Texts gathered(const std::string& all, std::uint32_t Row::* end,
                               const std::vector<std::uint32_t>& order) const;
  [[nodiscard]] ItemColumns columns(const std::vector<std::uint32_t>& order,
                                    const Workflow& workflow, std::string& dangling) const;
  void put(std::string_view bytes);
  void put_part(Part part, std::string_view bytes);
  template <class T>
  void put_part(Part part, const std::vector<T>& column);
  void hand_on();

  Sink sink_;
  Done good_;
  std::string waiting_;  // to be handed on
  CatalogTable table_;
  std::vector<Row> rows_;
  std::string ids_;
  std::string words_;
  std::string files_;
  std::string needs_;  // ids, a line each
  std::vector<std::string> state_names_;
};

// For an image in memory.
[[nodiscard]] CatalogWriter::Sink into(std::string& image);

}  // namespace dibs
