// An item's file: whatever is read can be written, and reads the same then.
#include "fuzzing.h"
#include "model/item.h"

namespace dibs::fuzz {

void try_input(std::string_view input) {
  const Result<Item> item = item_from_json(input);
  if (!item) return;
  const Result<Item> again = item_from_json(item_file(*item));
  must(again.has_value(), "an item that was read can be written and read again");
  must(*again == *item, "and is the same then");
  (void)public_members(*item);
  const std::string card = item_card(*item);
  must(card.size() <= kCardBytesMax || item->is_shortened, "a card is short");
  must(item_from_json(card).has_value(), "a card can be read");
}

}  // namespace dibs::fuzz
