// How a catalog gets at the parts of its image. For the files of the catalog alone.
#pragma once

#include <algorithm>
#include <cstring>

#include "items/catalog.h"

namespace dibs {

[[nodiscard]] Error damaged_catalog();

template <class T>
Result<std::vector<T>> Catalog::column(Part part, std::size_t most) const {
  const std::string_view bytes = this->part(part);
  std::vector<T> entries(std::min<std::size_t>(bytes.size() / sizeof(T), most));
  if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(T));
  return entries;
}

template <class T>
Result<T> Catalog::entry(Part part, std::uint64_t at) const {
  const std::string_view bytes = this->part(part);
  T value{};
  if ((at + 1) * sizeof(T) > bytes.size()) return fail(damaged_catalog());
  std::memcpy(&value, bytes.data() + at * sizeof(T), sizeof(T));
  return value;
}

}  // namespace dibs
