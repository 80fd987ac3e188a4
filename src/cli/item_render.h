// Items as people read them and as scripts parse them.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "verbs/item_view.h"
#include "verbs/items.h"

namespace dibs::cli {

// The members of the command contract, with the lease if somebody holds it.
[[nodiscard]] std::string item_json(const verbs::ShownItem& shown);
[[nodiscard]] std::string items_json(const std::vector<verbs::ShownItem>& items);
[[nodiscard]] std::string broken_json(const std::vector<BrokenItem>& broken);

// A list as both are told of it, with `none` for a person when it is empty.
void tell_listing(Terminal& terminal, const verbs::ItemListing& listing, std::string_view none);

void print_item(Terminal& terminal, const verbs::ShownItem& shown);
// One line an item.
void print_items(Terminal& terminal, const std::vector<verbs::ShownItem>& items);
void print_broken(Terminal& terminal, const std::vector<BrokenItem>& broken);

}  // namespace dibs::cli
