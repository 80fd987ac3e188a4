// Where an item lies in the tree of dibs' own items ref: "5e/fix-login-b5c6d7e8.json". In 256
// folders, so that a change rewrites a small list of files, however many items there are.
#pragma once

#include <string>
#include <string_view>

#include "model/item.h"

namespace dibs {

[[nodiscard]] std::string item_path(const ItemId& id);
// Whether a file with this path is meant to be an item; other files are nobody's business.
[[nodiscard]] bool is_item_path(std::string_view path);

}  // namespace dibs
