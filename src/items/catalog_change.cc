#include "items/catalog_change.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace dibs {

namespace {

const Json::array_t* list_in(const Json& json, const char* name) {
  const auto member = json.find(name);
  if (member == json.end() || !member->is_array()) return nullptr;
  return &member->get_ref<const Json::array_t&>();
}

bool read_cards(const Json& json, CatalogChange& change) {
  const auto* cards = list_in(json, "cards");
  const auto* broken = list_in(json, "broken");
  if (cards == nullptr || broken == nullptr) return false;
  for (const Json& entry : *cards) {
    Result<Item> card = item_from_json(entry.dump());
    if (!card) return false;
    change.cards.push_back(*std::move(card));
  }
  for (const Json& entry : *broken) {
    Result<BrokenItem> fault = broken_from_json(entry);
    if (!fault) return false;
    change.broken.push_back(*std::move(fault));
  }
  return true;
}

bool read_names(const Json& json, CatalogChange& change) {
  const auto* gone = list_in(json, "gone");
  const auto* mended = list_in(json, "mended");
  if (gone == nullptr || mended == nullptr) return false;
  for (const Json& id : *gone) {
    if (!id.is_string()) return false;
    change.gone.push_back({id.get<std::string>()});
  }
  for (const Json& file : *mended) {
    if (!file.is_string()) return false;
    change.mended.push_back(file.get<std::string>());
  }
  return true;
}

}  // namespace

std::string to_line(const CatalogStep& step) {
  JsonArray cards;
  JsonArray gone;
  JsonArray broken;
  JsonArray mended;
  for (const Item& card : step.change.cards) cards.add_raw(item_card(card));
  for (const ItemId& id : step.change.gone) gone.add(id.text);
  for (const BrokenItem& fault : step.change.broken) broken.add_raw(to_json(fault));
  for (const std::string& file : step.change.mended) mended.add(file);
  return JsonObject()
             .add("from", step.from)
             .add("to", step.to)
             .add_raw("cards", cards.text())
             .add_raw("gone", gone.text())
             .add_raw("broken", broken.text())
             .add_raw("mended", mended.text())
             .text() +
         '\n';
}

std::optional<CatalogStep> step_from(std::string_view line) {
  const Result<Json> json = parse_json(line);
  if (!json || !json->is_object()) return std::nullopt;
  CatalogStep step{.from = text_member(*json, "from").value_or(""),
                   .to = text_member(*json, "to").value_or(""),
                   .change = {}};
  if (step.to.empty() || !read_cards(*json, step.change) || !read_names(*json, step.change))
    return std::nullopt;
  return step;
}

}  // namespace dibs
