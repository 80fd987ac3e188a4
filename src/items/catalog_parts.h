// How a catalog gets at the parts of its image. For the files of the catalog alone.
#pragma once

#include <algorithm>
#include <span>

#include "items/catalog.h"

namespace dibs {

[[nodiscard]] Error damaged_catalog();

template <class T>
Result<std::vector<T>> Catalog::column(Part part, std::size_t most) const {
  const CatalogHeader::Place& place = header_[part];
  std::vector<T> entries(std::min<std::size_t>(place.bytes / sizeof(T), most));
  const std::span buffer(reinterpret_cast<char*>(entries.data()), entries.size() * sizeof(T));
  const Result<std::size_t> got = image_->read_at(place.offset, buffer);
  if (!got) return fail(got.error());
  if (*got < buffer.size()) return fail(damaged_catalog());
  return entries;
}

template <class T>
Result<T> Catalog::entry(Part part, std::uint64_t at) const {
  const CatalogHeader::Place& place = header_[part];
  T value{};
  if ((at + 1) * sizeof(T) > place.bytes) return fail(damaged_catalog());
  const Result<std::size_t> got = image_->read_at(place.offset + at * sizeof(T),
                                                  {reinterpret_cast<char*>(&value), sizeof value});
  if (!got) return fail(got.error());
  if (*got < sizeof value) return fail(damaged_catalog());
  return value;
}

}  // namespace dibs
