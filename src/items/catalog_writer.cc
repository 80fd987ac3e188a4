#include "items/catalog_writer.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <span>

namespace dibs {

namespace {

constexpr std::size_t kHandedOnBytes = 256UL * 1024;

void add_lines(std::string& lines, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    lines += text;
    lines += '\n';
  }
}

std::uint32_t size_of(const std::string& text) { return static_cast<std::uint32_t>(text.size()); }

/// The numbers of ids. A table of numbers alone: a node for each of 100,000 would cost as much as
/// all the rest that is done when git is through.
class IdNumbers {
 public:
  // By their numbers.
  explicit IdNumbers(std::vector<std::string_view> ids)
      : ids_(std::move(ids)), places_(std::bit_ceil(2 * ids_.size() + 1), kNoItem) {
    for (std::uint32_t number = 0; number < ids_.size(); ++number)
      places_[place_of(ids_[number])] = number;
  }
  [[nodiscard]] std::uint32_t operator[](std::string_view id) const {
    return places_[place_of(id)];
  }

 private:
  // Where it is, or would be: the first free place behind the one that it should have.
  [[nodiscard]] std::size_t place_of(std::string_view id) const {
    std::size_t at = std::hash<std::string_view>()(id) & (places_.size() - 1);
    while (places_[at] != kNoItem && ids_[places_[at]] != id) at = (at + 1) & (places_.size() - 1);
    return at;
  }

  std::vector<std::string_view> ids_;
  std::vector<std::uint32_t> places_;  // at least half of them free
};

}  // namespace

/// Texts one after the other, and where each ends.
struct CatalogWriter::Texts {
  std::vector<std::uint32_t> ends;
  std::string all;
};

std::uint8_t CatalogWriter::state_number(const std::string& state) {
  const auto known = std::ranges::find(state_names_, state);
  if (known != state_names_.end()) return static_cast<std::uint8_t>(known - state_names_.begin());
  // More names than a byte can tell apart: no table has them all, so they all mean the same.
  if (state_names_.size() == UINT8_MAX) return UINT8_MAX - 1;
  state_names_.push_back(state);
  return static_cast<std::uint8_t>(state_names_.size() - 1);
}

void CatalogWriter::add(const Item& item, std::string_view json) {
  Row row;
  row.card.begin = table_.bytes;
  json.size() <= kCardBytesMax ? put(json) : put(item_card(item));
  row.card.end = table_.bytes;
  ids_ += item.id.text;
  row.id_end = size_of(ids_);
  words_ += item.type;
  words_ += '\n';
  add_lines(words_, item.labels);
  row.words_end = size_of(words_);
  add_lines(files_, item.files);
  row.files_end = size_of(files_);
  for (const ItemId& id : item.depends_on) {
    needs_ += id.text;
    needs_ += '\n';
  }
  row.needs_end = size_of(needs_);
  row.estimate_min = static_cast<std::uint32_t>(item.estimate_min.value_or(0));
  row.created_unix_ms = item.created_unix_ms;
  row.state = state_number(item.state);
  row.priority = static_cast<std::uint8_t>(item.priority);
  rows_.push_back(row);
}

std::string_view CatalogWriter::text(const std::string& all, std::uint32_t Row::* end,
                                     std::uint32_t row) const {
  const std::uint32_t begin = row == 0 ? 0 : rows_[row - 1].*end;
  return std::string_view(all).substr(begin, rows_[row].*end - begin);
}

std::vector<std::uint32_t> CatalogWriter::rows_by_id() const {
  std::vector<std::uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto id = [&](std::uint32_t row) { return text(ids_, &Row::id_end, row); };
  if (!std::ranges::is_sorted(order, {}, id)) std::ranges::sort(order, {}, id);
  return order;
}

CatalogWriter::Texts CatalogWriter::gathered(const std::string& all, std::uint32_t Row::* end,
                                             const std::vector<std::uint32_t>& order) const {
  Texts texts;
  texts.all.reserve(all.size());
  texts.ends.reserve(order.size());
  for (const std::uint32_t row : order) {
    texts.all += text(all, end, row);
    texts.ends.push_back(size_of(texts.all));
  }
  return texts;
}

// What is needed and not there is dangling, a line each.
ItemColumns CatalogWriter::columns(const std::vector<std::uint32_t>& order,
                                   const Workflow& workflow, std::string& dangling) const {
  std::vector<std::string_view> ids;
  ids.reserve(order.size());
  for (const std::uint32_t row : order) ids.push_back(text(ids_, &Row::id_end, row));
  const IdNumbers numbers(std::move(ids));
  std::vector<StateKind> kinds;
  for (const std::string& name : state_names_) kinds.push_back(workflow.kind_of(name));
  ItemColumns columns;
  columns.first.push_back(0);
  for (const std::uint32_t at : order) {
    const Row& row = rows_[at];
    columns.kinds.push_back(kinds[row.state]);
    columns.priorities.push_back(row.priority);
    columns.estimates_min.push_back(row.estimate_min);
    columns.created_unix_ms.push_back(row.created_unix_ms);
    std::string_view needs = text(needs_, &Row::needs_end, at);
    while (!needs.empty()) {
      const std::string_view id = needs.substr(0, needs.find('\n'));
      needs.remove_prefix(id.size() + 1);
      columns.depends_on.push_back(numbers[id]);
      if (columns.depends_on.back() == kNoItem) dangling.append(id).append("\n");
    }
    columns.first.push_back(static_cast<std::uint32_t>(columns.depends_on.size()));
  }
  return columns;
}

Done CatalogWriter::finish(const std::vector<BrokenItem>& broken, const Workflow& workflow,
                           const CatalogOrigin& origin) {
  table_[Part::cards] = {.offset = 0, .bytes = table_.bytes};
  const std::vector<std::uint32_t> order = rows_by_id();
  std::string dangling;
  const ItemColumns columns = this->columns(order, workflow, dangling);
  const Standings standings = standings_of(columns);
  const auto put_texts = [&](Part ends, Part part, const Texts& texts) {
    put_part(ends, texts.ends);
    put_part(part, texts.all);
  };
  put_texts(Part::id_ends, Part::ids, gathered(ids_, &Row::id_end, order));
  put_texts(Part::word_ends, Part::words, gathered(words_, &Row::words_end, order));
  put_texts(Part::file_ends, Part::files, gathered(files_, &Row::files_end, order));
  std::vector<std::uint8_t> states;
  std::vector<CardSpan> cards;
  for (const std::uint32_t row : order) states.push_back(rows_[row].state);
  for (const std::uint32_t row : order) cards.push_back(rows_[row].card);
  put_part(Part::states, states);
  put_part(Part::card_spans, cards);
  put_part(Part::priorities, columns.priorities);
  put_part(Part::estimates, columns.estimates_min);
  put_part(Part::created, columns.created_unix_ms);
  put_part(Part::row_ends, std::vector(columns.first.begin() + 1, columns.first.end()));
  put_part(Part::depends_on, columns.depends_on);
  put_part(Part::ready, ready_items(columns, standings, order.size()));
  put_part(Part::path_lengths, standings.path_lengths);
  std::string lines;
  add_lines(lines, state_names_);
  put_part(Part::state_names, lines);
  put_part(Part::dangling, dangling);
  lines.clear();
  for (const BrokenItem& one : broken) lines += to_json(one) + '\n';
  put_part(Part::broken, lines);
  table_.seal(origin, order.size(), workflow);
  waiting_.append(reinterpret_cast<const char*>(&table_), sizeof table_);
  hand_on();
  return good_;
}

void CatalogWriter::put(std::string_view bytes) {
  waiting_ += bytes;
  table_.bytes += bytes.size();
  if (waiting_.size() >= kHandedOnBytes) hand_on();
}

void CatalogWriter::put_part(Part part, std::string_view bytes) {
  table_[part] = {.offset = table_.bytes, .bytes = bytes.size()};
  put(bytes);
}

template <class T>
void CatalogWriter::put_part(Part part, const std::vector<T>& column) {
  const auto bytes = std::as_bytes(std::span(column));
  put_part(part, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void CatalogWriter::hand_on() {
  if (good_) good_ = sink_(waiting_);
  waiting_.clear();
}

CatalogWriter::Sink into(std::string& image) {
  return [&image](std::string_view bytes) -> Done {
    image += bytes;
    return {};
  };
}

}  // namespace dibs
