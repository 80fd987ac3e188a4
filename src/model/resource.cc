#include "model/resource.h"

#include <fmt/core.h>

#include <array>

#include "base/text.h"

namespace dibs {

namespace {
struct KindName {
  ResourceKind kind;
  std::string_view prefix;
};
constexpr std::array<KindName, 3> kKinds{{{ResourceKind::item, "item:"},
                                          {ResourceKind::branch, "branch:"},
                                          {ResourceKind::lock, "lock:"}}};

std::string_view prefix_of(ResourceKind kind) {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.prefix;
  }
  return {};
}

Done check_name(std::string_view name) {
  constexpr std::string_view kUseThis = "name an item (42), item:ID, branch:NAME or lock:NAME";
  if (name.empty()) return fail(ErrorKind::usage, "a resource needs a name", std::string(kUseThis));
  if (name.size() > kResourceNameMax) {
    return fail(ErrorKind::usage,
                fmt::format("the resource name is {} bytes long; at most {} are allowed",
                            name.size(), kResourceNameMax),
                std::string(kUseThis));
  }
  if (!is_printable(name)) {
    return fail(
        ErrorKind::usage,
        fmt::format("the resource name '{}' has characters that cannot be shown", printable(name)),
        std::string(kUseThis));
  }
  return {};
}
}  // namespace

Key Resource::key() const { return Key{std::string(prefix_of(kind)) + name}; }

Result<Resource> parse_resource(std::string_view text) {
  if (text.starts_with("file:")) {
    return fail(ErrorKind::usage, "file: resources are not available in this version",
                "hold the item or a lock instead, for example: dibs claim acquire lock:src-auth");
  }
  Resource resource{.kind = ResourceKind::item, .name = std::string(text)};
  for (const KindName& known : kKinds) {
    if (text.starts_with(known.prefix)) {
      resource = {.kind = known.kind, .name = std::string(text.substr(known.prefix.size()))};
    }
  }
  if (Done checked = check_name(resource.name); !checked) return fail(checked.error());
  return resource;
}

std::optional<Resource> resource_of(const Key& key) {
  for (const KindName& known : kKinds) {
    if (key.text.starts_with(known.prefix)) {
      return Resource{.kind = known.kind, .name = key.text.substr(known.prefix.size())};
    }
  }
  return std::nullopt;
}

}  // namespace dibs
