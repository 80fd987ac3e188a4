#include "items/item_source.h"

namespace dibs {

Result<Catalog> ItemSource::catalog(const Workflow& workflow) {
  Result<ItemList> list = read_all();
  if (!list) return fail(list.error());
  std::vector<Item> cards;
  for (StoredItem& stored : list->items) cards.push_back(std::move(stored.item));
  return Catalog::of(cards, list->broken, workflow);
}

Result<bool> ItemSource::is_up_to_date(const Catalog& /*catalog*/) { return false; }

Result<std::optional<ItemSource::Prepared>> ItemSource::prepare(const Batch& /*batch*/) {
  return std::nullopt;
}

void ItemSource::moved(const Prepared& /*prepared*/, const Batch& /*batch*/) {}

}  // namespace dibs
