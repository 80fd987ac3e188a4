#include "items/item_source.h"

#include <algorithm>
#include <set>

namespace dibs {

namespace {

// What is not there any more was finished; what is there and cannot be read may not have been.
void forget_what_is_done(std::vector<Item>& cards, const std::vector<BrokenItem>& broken) {
  std::set<ItemId> there;
  for (const Item& card : cards) there.insert(card.id);
  for (const BrokenItem& entry : broken) there.insert(entry.id);
  for (Item& card : cards)
    std::erase_if(card.depends_on, [&](const ItemId& id) { return !there.contains(id); });
}

}  // namespace

Result<Catalog> ItemSource::catalog(const Workflow& workflow) {
  Result<ItemList> list = read_all();
  if (!list) return fail(list.error());
  std::vector<Item> cards;
  for (StoredItem& stored : list->items) cards.push_back(std::move(stored.item));
  if (forgets_what_is_done()) forget_what_is_done(cards, list->broken);
  std::ranges::sort(cards, {}, &Item::id);
  return Catalog::of(cards, list->broken, workflow);
}

Result<bool> ItemSource::is_up_to_date(const Catalog& /*catalog*/) { return false; }

bool ItemSource::stand_on(const RefMove& /*landing*/) { return false; }

void ItemSource::moved(const Prepared& /*prepared*/, const Batch& /*batch*/) {}

}  // namespace dibs
