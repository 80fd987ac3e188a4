// What can be held: item:42, branch:main (the merge slot), lock:anything. Its text is also the key
// of the record that says who holds it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/record.h"

namespace dibs {

inline constexpr std::size_t kResourceNameMax = 200;

enum class ResourceKind { item, branch, lock };

struct Resource {
  ResourceKind kind = ResourceKind::item;
  std::string name;

  [[nodiscard]] Key key() const;
  friend auto operator<=>(const Resource&, const Resource&) = default;
};

// A bare id means an item. Any printable name is taken as it is; names become file or ref names
// only through encode_name.
[[nodiscard]] Result<Resource> parse_resource(std::string_view text);

// The way back from a record's key; nothing when the record is no resource (a guard).
[[nodiscard]] std::optional<Resource> resource_of(const Key& key);

}  // namespace dibs
