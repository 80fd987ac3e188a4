#include "items/found_items.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/sha.h"
#include "base/text.h"

namespace dibs {

namespace {

const ItemId& id_of(const FoundItem& found) { return found.stored.item.id; }

std::string place_of(const FoundItem& found) {
  return found.line == 0 ? found.stored.file : fmt::format("{}:{}", found.stored.file, found.line);
}

tl::unexpected<Error> refuse_broken(const BrokenItem& broken) {
  const std::string where = broken.line == 0
                                ? printable(broken.file)
                                : fmt::format("{}:{}", printable(broken.file), broken.line);
  return fail(ErrorKind::refused,
              fmt::format("{} cannot be read: {}", printable(broken.id.text), broken.why),
              fmt::format("correct {}", where));
}

}  // namespace

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    std::size_t end = newline == std::string_view::npos ? text.size() : newline;
    if (end > at && text[end - 1] == '\r') --end;
    lines.push_back({.begin = at, .end = end, .next = next});
    at = next;
  }
  return lines;
}

void set_duplicates_aside(std::vector<FoundItem>& found, std::vector<BrokenItem>& broken) {
  std::ranges::sort(found, [](const FoundItem& one, const FoundItem& other) {
    return std::tie(id_of(one), one.index) < std::tie(id_of(other), other.index);
  });
  std::vector<FoundItem> unique;
  for (auto first = found.begin(); first != found.end();) {
    const auto last = std::find_if(
        first, found.end(), [&](const FoundItem& other) { return id_of(other) != id_of(*first); });
    const bool alone = last - first == 1;
    for (auto one = first; !alone && one != last; ++one) {
      const FoundItem& other = one == first ? *(first + 1) : *first;
      broken.push_back({.file = one->stored.file,
                        .line = one->line,
                        .why = fmt::format("its id is also that of {}", printable(place_of(other))),
                        .id = id_of(*one)});
    }
    if (alone) unique.push_back(std::move(*first));
    first = last;
  }
  found = std::move(unique);
}

const FoundItem* find_item(const std::vector<FoundItem>& found, const ItemId& id) {
  const auto at = std::ranges::lower_bound(found, id, {}, id_of);
  return at == found.end() || id_of(*at) != id ? nullptr : &*at;
}

std::string version_of(std::string_view text) { return sha256_hex(text); }

Result<Comparison> standing_of(const ItemSource::Change& change,
                               const std::vector<FoundItem>& found,
                               const std::vector<BrokenItem>& broken) {
  if (Done checked = check_item(change.item); !checked) return fail(checked.error());
  const auto bad = std::ranges::find(broken, change.item.id, &BrokenItem::id);
  if (bad != broken.end()) return refuse_broken(*bad);
  const FoundItem* there = find_item(found, change.item.id);
  const bool fits = change.expected ? there != nullptr && there->stored.version == *change.expected
                                    : there == nullptr;
  return fits ? Comparison::as_expected : Comparison::moved;
}

Done check_batch(const std::vector<ItemSource::Change>& changes) {
  std::set<ItemId> ids;
  for (const ItemSource::Change& change : changes) {
    if (!ids.insert(change.item.id).second)
      return fail(ErrorKind::usage,
                  fmt::format("{} is changed twice at once", printable(change.item.id.text)));
  }
  return {};
}

ItemList listed(const std::vector<FoundItem>& found, std::vector<BrokenItem> broken) {
  ItemList list;
  list.items.reserve(found.size());
  for (const FoundItem& item : found) list.items.push_back(item.stored);
  list.broken = std::move(broken);
  return list;
}

Result<std::vector<StoredItem>> chosen(const ItemList& list, const std::vector<ItemId>& ids) {
  std::vector<StoredItem> items;
  for (const ItemId& id : ids) {
    const auto bad = std::ranges::find(list.broken, id, &BrokenItem::id);
    if (bad != list.broken.end()) return refuse_broken(*bad);
    const auto at = std::ranges::lower_bound(
        list.items, id, {}, [](const StoredItem& stored) { return stored.item.id; });
    if (at != list.items.end() && at->item.id == id) items.push_back(*at);
  }
  return items;
}

}  // namespace dibs
