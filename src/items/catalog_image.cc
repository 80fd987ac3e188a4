#include "items/catalog_image.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "base/crc32c.h"
#include "items/catalog_writer.h"

namespace dibs {

namespace {

constexpr std::array<char, 8> kMagic{'d', 'i', 'b', 's', 'i', 't', 'm', '2'};

template <std::size_t kMax>
std::string_view text_in(const std::array<char, kMax>& bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  return text.substr(0, text.find('\0'));
}

template <std::size_t kMax>
void put_in(std::array<char, kMax>& bytes, std::string_view text) {
  std::ranges::copy(text.substr(0, kMax), bytes.begin());
}

}  // namespace

std::string_view CatalogTable::commit() const { return text_in(made_from); }

std::string_view CatalogTable::boot() const { return text_in(made_in); }

void CatalogTable::seal(const CatalogOrigin& origin, std::uint64_t count, const Workflow& table) {
  magic = kMagic;
  workflow = fingerprint(table);
  items = count;
  put_in(made_from, origin.commit);
  put_in(made_in, origin.boot);
  checksum = own_checksum();
}

std::uint32_t CatalogTable::own_checksum() const {
  const std::size_t from = offsetof(CatalogTable, workflow);
  return crc32c(0, {reinterpret_cast<const char*>(this) + from, sizeof *this - from});
}

bool CatalogTable::is_sound() const {
  if (magic != kMagic || checksum != own_checksum() || items > kItemsMax) return false;
  return std::ranges::all_of(parts, [&](const Place& place) {
    return place.offset <= bytes && place.bytes <= bytes - place.offset;
  });
}

std::uint32_t fingerprint(const Workflow& workflow) {
  std::string text = workflow.initial();
  for (const WorkState& state : workflow.states())
    text += fmt::format("\n{}:{}", state.name, static_cast<int>(state.kind));
  return crc32c(0, text);
}

std::string catalog_image(const CatalogContents& contents, const Workflow& workflow,
                          std::string_view commit) {
  std::string image;
  CatalogWriter writer(into(image));
  for (const Item& item : contents.items) writer.add(item);
  (void)writer.finish(contents.broken, workflow, {.commit = commit});  // memory does not say no
  return image;
}

}  // namespace dibs
