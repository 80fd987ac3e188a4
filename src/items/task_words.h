// The words that front matter has for what an item is: aitasks' own, which files in state folders
// use too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "items/front_matter.h"
#include "model/item.h"

namespace dibs {

// low, medium, high; empty for nothing.
[[nodiscard]] std::string effort_of(std::optional<std::int64_t> minutes);
[[nodiscard]] std::optional<std::int64_t> minutes_of(std::string_view effort);
// high, medium, low.
[[nodiscard]] std::string priority_word(int priority);
[[nodiscard]] int priority_of(std::string_view word);
// As JSON, to be compared.
[[nodiscard]] std::string array_of(const std::vector<std::string>& texts);

// Keys with a scalar or a list that are none of `mapped`, and none that an item has a member of its
// own for: as members of an item.
[[nodiscard]] std::string unknown_keys(const FrontMatter& file,
                                       std::span<const std::string_view> mapped);
// Only those that are keys of the file already; new ones are carried.
void put_unknown_keys(FrontMatter& file, std::span<const std::string_view> mapped,
                      const Item& item);

}  // namespace dibs
