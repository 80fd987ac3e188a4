#include "items/catalog_image.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/crc32c.h"
#include "items/item_columns.h"

namespace dibs {

namespace {

constexpr std::array<char, 8> kMagic{'d', 'i', 'b', 's', 'i', 't', 'm', '1'};

template <class T>
std::string_view bytes_of(const std::vector<T>& column) {
  const auto bytes = std::as_bytes(std::span(column));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// All parts as they are gathered, item by item.
struct Columns {
  std::vector<std::uint32_t> id_ends;
  std::string ids;
  std::vector<std::uint8_t> states;
  std::vector<std::uint32_t> row_ends;
  std::vector<std::uint32_t> word_ends;
  std::string words;
  std::vector<std::uint32_t> file_ends;
  std::string files;
  std::vector<std::uint64_t> card_ends;
  std::string cards;
  std::vector<std::string> state_names;
  std::vector<std::string> dangling;
  ItemColumns for_order;
};

std::uint8_t state_number(std::vector<std::string>& names, const std::string& state) {
  const auto known = std::ranges::find(names, state);
  if (known != names.end()) return static_cast<std::uint8_t>(known - names.begin());
  // More names than a byte can tell apart: no table has them all, so they all mean the same.
  if (names.size() == UINT8_MAX) return UINT8_MAX - 1;
  names.push_back(state);
  return static_cast<std::uint8_t>(names.size() - 1);
}

std::uint32_t number_of(const std::vector<Item>& cards, const ItemId& id) {
  const auto found = std::ranges::lower_bound(cards, id, {}, &Item::id);
  const bool there = found != cards.end() && found->id == id;
  return there ? static_cast<std::uint32_t>(found - cards.begin()) : kNoItem;
}

void add_dependencies(Columns& columns, const std::vector<Item>& cards, const Item& item) {
  for (const ItemId& id : item.depends_on) {
    columns.for_order.depends_on.push_back(number_of(cards, id));
    if (columns.for_order.depends_on.back() == kNoItem) columns.dangling.push_back(id.text);
  }
  const auto end = static_cast<std::uint32_t>(columns.for_order.depends_on.size());
  columns.row_ends.push_back(end);
  columns.for_order.first.push_back(end);
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + '\n';
  return lines;
}

void add_card(Columns& columns, const CatalogContents& contents, std::size_t at) {
  const bool as_it_is = !contents.texts.empty() && contents.texts[at].size() <= kCardBytesMax;
  if (as_it_is) {
    columns.cards += contents.texts[at];
  } else {
    columns.cards += item_card(contents.items[at]);
  }
  columns.card_ends.push_back(columns.cards.size());
}

Columns columns_of(const CatalogContents& contents, const Workflow& workflow) {
  Columns columns;
  columns.for_order.first.push_back(0);
  for (std::size_t at = 0; at < contents.items.size(); ++at) {
    const Item& item = contents.items[at];
    columns.ids += item.id.text;
    columns.id_ends.push_back(static_cast<std::uint32_t>(columns.ids.size()));
    columns.states.push_back(state_number(columns.state_names, item.state));
    columns.for_order.kinds.push_back(workflow.kind_of(item.state));
    columns.for_order.priorities.push_back(static_cast<std::uint8_t>(item.priority));
    columns.for_order.estimates_min.push_back(
        static_cast<std::uint32_t>(item.estimate_min.value_or(0)));
    columns.for_order.created_unix_ms.push_back(item.created_unix_ms);
    add_dependencies(columns, contents.items, item);
    columns.words += item.type + '\n' + lines_of(item.labels);
    columns.word_ends.push_back(static_cast<std::uint32_t>(columns.words.size()));
    columns.files += lines_of(item.files);
    columns.file_ends.push_back(static_cast<std::uint32_t>(columns.files.size()));
    add_card(columns, contents, at);
  }
  return columns;
}

std::string lines_of(const std::vector<BrokenItem>& all) {
  std::string lines;
  for (const BrokenItem& broken : all) lines += to_json(broken) + '\n';
  return lines;
}

}  // namespace

std::string_view CatalogHeader::commit() const {
  const std::string_view text(made_from.data(), made_from.size());
  return text.substr(0, text.find('\0'));
}

std::uint32_t CatalogHeader::own_checksum() const {
  const std::size_t from = offsetof(CatalogHeader, workflow);
  return crc32c(0, {reinterpret_cast<const char*>(this) + from, sizeof *this - from});
}

bool CatalogHeader::is_sound() const {
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
  const Columns columns = columns_of(contents, workflow);
  const ItemColumns& order = columns.for_order;
  const Standings standings = standings_of(order);
  const std::vector<std::uint32_t> ready = ready_items(order, standings, contents.items.size());
  const std::string names = lines_of(columns.state_names);
  const std::string dangling = lines_of(columns.dangling);
  const std::string faults = lines_of(contents.broken);
  const std::array<std::string_view, kPartCount> parts{bytes_of(columns.id_ends),
                                                       columns.ids,
                                                       bytes_of(columns.states),
                                                       bytes_of(order.priorities),
                                                       bytes_of(order.estimates_min),
                                                       bytes_of(order.created_unix_ms),
                                                       bytes_of(columns.row_ends),
                                                       bytes_of(order.depends_on),
                                                       bytes_of(ready),
                                                       bytes_of(standings.path_lengths),
                                                       bytes_of(columns.word_ends),
                                                       columns.words,
                                                       bytes_of(columns.file_ends),
                                                       columns.files,
                                                       bytes_of(columns.card_ends),
                                                       columns.cards,
                                                       names,
                                                       dangling,
                                                       faults};
  CatalogHeader header{
      .magic = kMagic, .workflow = fingerprint(workflow), .items = contents.items.size()};
  std::ranges::copy(commit.substr(0, header.made_from.size()), header.made_from.begin());
  header.bytes = sizeof header;
  for (std::size_t i = 0; i < kPartCount; ++i) {
    header.parts[i] = {.offset = header.bytes, .bytes = parts[i].size()};
    header.bytes += parts[i].size();
  }
  header.checksum = header.own_checksum();
  std::string image(reinterpret_cast<const char*>(&header), sizeof header);
  image.reserve(header.bytes);
  for (const std::string_view part : parts) image += part;
  return image;
}

}  // namespace dibs
