// A text in another tool's form that says what one item is: a line of JSON, a Markdown file. Each
// form says how to read and write its own fields; what it has no words for travels in one field of
// ours (`dibs`), and only there. So an item comes back from any form as it was, and a text is
// changed only where the item was.
//
//   Result<Item> item = meant_by(text);    // what it says, and what it carries
//   … change …
//   rewrite(text, changed);
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/item.h"

namespace dibs {

enum class ItemField {
  id,
  title,
  body,
  state,
  priority,
  labels,
  depends_on,
  files,
  estimate_min,
  type,
  created_at,
  updated_at,
  created_by,
  came_from,
  tries,
  comments,
  unknown,
};
inline constexpr std::array kItemFields{
    ItemField::id,         ItemField::title,      ItemField::body,       ItemField::state,
    ItemField::priority,   ItemField::labels,     ItemField::depends_on, ItemField::files,
    ItemField::type,       ItemField::created_at, ItemField::updated_at, ItemField::estimate_min,
    ItemField::created_by, ItemField::came_from,  ItemField::tries,      ItemField::comments,
    ItemField::unknown};

// Its name in an item's file.
[[nodiscard]] std::string_view name_of(ItemField field);
// Members that dibs does not know have no order here.
[[nodiscard]] bool same(const Item& one, const Item& other, ItemField field);
// Whether a member of that name would be taken for one of an item's own, or for our origin.
[[nodiscard]] bool is_item_member(std::string_view name);

class ForeignText {
 public:
  virtual ~ForeignText() = default;

  // By its own fields alone.
  [[nodiscard]] virtual Result<Item> said() const = 0;
  // The JSON object in our field; empty when there is none.
  [[nodiscard]] virtual std::string carried() const = 0;
  // What the form makes of that field; the same for values that it cannot tell apart. What it has
  // no words for is empty.
  [[nodiscard]] virtual std::string in_its_words(const Item& item, ItemField field) const = 0;
  // Only called where the words differ.
  virtual void write(ItemField field, const Item& item) = 0;
  virtual void carry(std::string_view json) = 0;  // empty: takes our field away
};

// Something carried counts for as long as the text still says what it would be written as: when the
// other tool has changed a field, ours is out of date.
[[nodiscard]] Result<Item> meant_by(const ForeignText& text);

// Changes the text so that it means the item, or says which field it cannot be made to mean.
[[nodiscard]] Done rewrite(ForeignText& text, const Item& item);

}  // namespace dibs
