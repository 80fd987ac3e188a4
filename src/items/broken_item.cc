#include "items/broken_item.h"

#include <nlohmann/json.hpp>

namespace dibs {

std::string to_json(const BrokenItem& broken) {
  JsonObject object;
  object.add("file", broken.file).add("line", std::uint64_t{broken.line}).add("why", broken.why);
  if (!broken.id.empty()) object.add("id", broken.id.text);
  return object.text();
}

Result<BrokenItem> broken_from_json(const Json& json) {
  const auto file = text_member(json, "file");
  const auto why = text_member(json, "why");
  if (!file || !why) return fail(ErrorKind::internal, "it does not say what is broken");
  return BrokenItem{.file = *file,
                    .line = unsigned_member(json, "line").value_or(0),
                    .why = *why,
                    .id = {text_member(json, "id").value_or("")}};
}

}  // namespace dibs
