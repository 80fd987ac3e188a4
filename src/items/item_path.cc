#include "items/item_path.h"

#include "base/crc32c.h"
#include "base/name_encoding.h"
#include "base/text.h"

namespace dibs {

std::string item_path(const ItemId& id) {
  std::string path;
  append_hex(path, static_cast<std::uint8_t>(crc32c(0, id.text)));
  return path + "/" + encode_name(id.text) + ".json";
}

bool is_item_path(std::string_view path) {
  return path.size() > 3 && path[2] == '/' && hex_digit(path[0]) >= 0 && hex_digit(path[1]) >= 0 &&
         path.find('/', 3) == std::string_view::npos && path.ends_with(".json");
}

}  // namespace dibs
