#include "items/catalog.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "items/catalog_parts.h"

namespace dibs {

namespace {

/// An image in memory, as a file that is only read.
class BytesFile final : public File {
 public:
  explicit BytesFile(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) override {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(buffer.data(), buffer.size(), offset);
  }
  [[nodiscard]] Done append(std::string_view /*bytes*/) override { return read_only(); }
  [[nodiscard]] Done truncate(std::uint64_t /*size*/) override { return read_only(); }
  [[nodiscard]] Done sync() override { return {}; }
  [[nodiscard]] Result<std::uint64_t> size() override { return bytes_.size(); }
  [[nodiscard]] Result<std::string_view> contents() override { return bytes_; }

 private:
  static Done read_only() { return fail(ErrorKind::internal, "an image is only read"); }
  std::string bytes_;
};

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  lines.pop_back();  // what comes after the last newline
  return lines;
}

}  // namespace

Error damaged_catalog() {
  return {.kind = ErrorKind::internal,
          .message = "the index of items is damaged",
          .hint = "remove it, and it is made again: rm .git/dibs/items.index",
          .fields = {}};
}

Result<std::optional<Catalog>> Catalog::open(std::unique_ptr<File> image,
                                             const Workflow& workflow) {
  const Result<std::string_view> bytes = image->contents();
  if (!bytes) return fail(bytes.error());
  CatalogTable table;
  if (bytes->size() < sizeof table) return std::nullopt;
  const std::size_t parts_bytes = bytes->size() - sizeof table;
  std::memcpy(&table, bytes->data() + parts_bytes, sizeof table);
  if (!table.is_sound() || table.bytes != parts_bytes) return std::nullopt;
  return Catalog(std::move(image), *bytes, table, workflow);
}

Result<Catalog> Catalog::of(const std::vector<Item>& cards, const std::vector<BrokenItem>& broken,
                            const Workflow& workflow) {
  return of_image(catalog_image({.items = cards, .broken = broken}, workflow, {}), workflow);
}

Result<Catalog> Catalog::of_image(std::string image, const Workflow& workflow) {
  Result<std::optional<Catalog>> catalog =
      open(std::make_unique<BytesFile>(std::move(image)), workflow);
  if (!catalog) return fail(catalog.error());
  if (!catalog->has_value()) return fail(damaged_catalog());
  return **std::move(catalog);
}

Result<std::string_view> Catalog::text(Part part, std::uint64_t from, std::uint64_t to) const {
  const std::string_view all = this->part(part);
  if (from > to || to > all.size()) return fail(damaged_catalog());
  return all.substr(from, to - from);
}

std::vector<std::string> Catalog::texts(Part part) const {
  const std::vector<std::string_view> lines = lines_in(this->part(part));
  return {lines.begin(), lines.end()};
}

Result<std::string_view> Catalog::nth_text(Part ends, Part part, std::uint32_t item) const {
  using End = std::uint32_t;
  const Result<End> from = item == 0 ? Result<End>(0) : entry<End>(ends, item - 1);
  const Result<End> to = entry<End>(ends, item);
  if (!from) return fail(from.error());
  if (!to) return fail(to.error());
  return text(part, *from, *to);
}

Result<std::string_view> Catalog::id_in_image(std::uint32_t item) const {
  return nth_text(Part::id_ends, Part::ids, item);
}

std::uint32_t Catalog::size() const {
  return in_image() + static_cast<std::uint32_t>(by_number_.size());
}

const Catalog::Over* Catalog::over(std::uint32_t item) const {
  if (item >= in_image()) return by_number_[item - in_image()];
  for (const auto& [id, over] : over_) {
    if (over.number == item) return &over;
  }
  return nullptr;
}

bool Catalog::is_gone(std::uint32_t item) const {
  const Over* found = over(item);
  return found != nullptr && !found->card;
}

Result<std::string> Catalog::id(std::uint32_t item) const {
  if (item < in_image()) {
    const Result<std::string_view> id = id_in_image(item);
    return id ? Result<std::string>(*id) : fail(id.error());
  }
  for (const auto& [id, over] : over_) {
    if (over.number == item) return id;
  }
  return fail(damaged_catalog());
}

Result<Item> Catalog::card(std::uint32_t item) const {
  if (const Over* found = over(item); found != nullptr) {
    if (!found->card) return fail(ErrorKind::not_found, "the item is gone");
    return *found->card;
  }
  return card_in_image(item);
}

Result<Item> Catalog::card_in_image(std::uint32_t item) const {
  const Result<CardSpan> span = entry<CardSpan>(Part::card_spans, item);
  if (!span) return fail(span.error());
  const Result<std::string_view> json = text(Part::cards, span->begin, span->end);
  if (!json) return fail(json.error());
  Result<Item> card = item_from_json(*json);
  if (!card) return fail(damaged_catalog());
  return card;
}

Result<Catalog::Words> Catalog::words(std::uint32_t item) const {
  if (const Over* found = over(item); found != nullptr) {
    if (!found->card) return Words{};
    return Words{.type = found->card->type,
                 .labels = {found->card->labels.begin(), found->card->labels.end()}};
  }
  const Result<std::string_view> text = nth_text(Part::word_ends, Part::words, item);
  if (!text) return fail(text.error());
  std::vector<std::string_view> lines = lines_in(*text);
  if (lines.empty()) return fail(damaged_catalog());
  const std::string_view type = lines.front();
  lines.erase(lines.begin());
  return Words{.type = type, .labels = std::move(lines)};
}

Result<std::vector<std::string_view>> Catalog::files(std::uint32_t item) const {
  if (const Over* found = over(item); found != nullptr) {
    if (!found->card) return std::vector<std::string_view>();
    return std::vector<std::string_view>(found->card->files.begin(), found->card->files.end());
  }
  const Result<std::string_view> text = nth_text(Part::file_ends, Part::files, item);
  if (!text) return fail(text.error());
  return lines_in(*text);
}

Result<std::uint32_t> Catalog::first_not_below(std::string_view id) const {
  std::uint32_t low = 0;
  std::uint32_t high = in_image();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const Result<std::string_view> there = id_in_image(middle);
    if (!there) return fail(there.error());
    if (*there < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Result<std::optional<std::uint32_t>> Catalog::find(std::string_view id) const {
  if (const auto found = over_.find(id); found != over_.end()) {
    if (!found->second.card) return std::nullopt;
    return found->second.number;
  }
  const Result<std::uint32_t> at = first_not_below(id);
  if (!at) return fail(at.error());
  if (*at == in_image()) return std::nullopt;
  const Result<std::string_view> there = id_in_image(*at);
  if (!there) return fail(there.error());
  return *there == id ? std::optional(*at) : std::nullopt;
}

Result<std::vector<std::uint32_t>> Catalog::starting_with(std::string_view prefix,
                                                          std::size_t most) const {
  std::map<std::string, std::uint32_t> found;
  for (auto entry = over_.lower_bound(prefix);
       entry != over_.end() && entry->first.starts_with(prefix) && found.size() < most; ++entry) {
    if (entry->second.card) found.emplace(entry->first, entry->second.number);
  }
  const Result<std::uint32_t> first = first_not_below(prefix);
  if (!first) return fail(first.error());
  std::size_t taken = 0;
  for (std::uint32_t at = *first; at < in_image() && taken < most; ++at) {
    const Result<std::string_view> id = id_in_image(at);
    if (!id) return fail(id.error());
    if (!id->starts_with(prefix)) break;
    if (over_.contains(*id)) continue;
    found.emplace(*id, at);
    ++taken;
  }
  std::vector<std::uint32_t> numbers;
  for (const auto& [id, number] : found) {
    if (numbers.size() < most) numbers.push_back(number);
  }
  return numbers;
}

Done Catalog::place(Over over, const ItemId& id) {
  const auto known = over_.find(id.text);
  if (known != over_.end()) {
    known->second.card = std::move(over.card);
    return {};
  }
  const Result<std::optional<std::uint32_t>> there = find(id.text);
  if (!there) return fail(there.error());
  over.number = there->value_or(size());
  const auto placed = over_.emplace(id.text, std::move(over)).first;
  if (!there->has_value()) by_number_.push_back(&placed->second);
  return {};
}

Done Catalog::apply(CatalogChange change) {
  columns_.reset();
  for (ItemId& id : change.gone) {
    if (Done placed = place({.number = 0, .card = std::nullopt}, id); !placed) return placed;
  }
  for (Item& card : change.cards) {
    const ItemId id = card.id;
    if (Done placed = place({.number = 0, .card = std::move(card)}, id); !placed) return placed;
  }
  for (std::string& file : change.mended) faults_[std::move(file)] = std::nullopt;
  for (BrokenItem& broken : change.broken) faults_[broken.file] = broken;
  return {};
}

Result<std::vector<Item>> Catalog::cards() const {
  std::vector<Item> cards;
  for (std::uint32_t item = 0; item < in_image(); ++item) {
    Result<Item> card = card_in_image(item);
    if (!card) return fail(card.error());
    if (!over_.contains(card->id.text)) cards.push_back(*std::move(card));
  }
  for (const auto& [id, over] : over_) {
    if (over.card) cards.push_back(*over.card);
  }
  if (!over_.empty()) std::ranges::sort(cards, {}, &Item::id);
  return cards;
}

Result<std::vector<BrokenItem>> Catalog::broken() const {
  std::vector<BrokenItem> all;
  for (const std::string& line : texts(Part::broken)) {
    const Result<Json> json = parse_json(line);
    if (!json) return fail(damaged_catalog());
    Result<BrokenItem> broken = broken_from_json(*json);
    if (!broken) return fail(damaged_catalog());
    if (!faults_.contains(broken->file)) all.push_back(*std::move(broken));
  }
  for (const auto& [file, broken] : faults_) {
    if (broken) all.push_back(*broken);
  }
  std::ranges::sort(all, {}, &BrokenItem::file);
  return all;
}

}  // namespace dibs
