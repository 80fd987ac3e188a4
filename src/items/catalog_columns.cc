// The columns of a catalog: those of the image, with what changed since put over them.
#include <algorithm>

#include "items/catalog.h"
#include "items/catalog_parts.h"

namespace dibs {

namespace {

// An id that no item had when the image was made may be one by now, and the other way round.
void relink(std::vector<std::uint32_t>& depends_on, const std::vector<std::string>& dangling,
            const std::map<std::string, std::uint32_t, std::less<>>& come,
            const std::vector<std::uint32_t>& gone) {
  std::size_t nth = 0;
  for (std::uint32_t& item : depends_on) {
    if (item == kNoItem) {
      const auto now = nth < dangling.size() ? come.find(dangling[nth]) : come.end();
      ++nth;
      if (now != come.end()) item = now->second;
    } else if (std::ranges::find(gone, item) != gone.end()) {
      item = kNoItem;
    }
  }
}

void put_over(ItemColumns& columns, std::uint32_t number, const Item* card,
              const Workflow& workflow) {
  if (number >= columns.kinds.size()) {
    columns.kinds.resize(number + 1);
    columns.priorities.resize(number + 1);
    columns.estimates_min.resize(number + 1);
    columns.created_unix_ms.resize(number + 1);
  }
  columns.kinds[number] = card == nullptr ? StateKind::dropped : workflow.kind_of(card->state);
  if (card == nullptr) return;
  columns.priorities[number] = static_cast<std::uint8_t>(card->priority);
  columns.estimates_min[number] = static_cast<std::uint32_t>(card->estimate_min.value_or(0));
  columns.created_unix_ms[number] = card->created_unix_ms;
}

}  // namespace

Result<ItemColumns> Catalog::image_columns() const {
  const std::vector<std::string> names = texts(Part::state_names);
  Result<std::vector<std::uint8_t>> states = column<std::uint8_t>(Part::states);
  Result<std::vector<std::uint8_t>> priorities = column<std::uint8_t>(Part::priorities);
  Result<std::vector<std::uint32_t>> estimates = column<std::uint32_t>(Part::estimates);
  Result<std::vector<std::int64_t>> created = column<std::int64_t>(Part::created);
  Result<std::vector<std::uint32_t>> row_ends = column<std::uint32_t>(Part::row_ends);
  Result<std::vector<std::uint32_t>> depends_on = column<std::uint32_t>(Part::depends_on);
  const bool all = states && priorities && estimates && created && row_ends && depends_on;
  if (!all) return fail(damaged_catalog());
  std::vector<StateKind> kind_of;
  for (const std::string& name : names) kind_of.push_back(workflow_->kind_of(name));
  ItemColumns columns{.kinds = std::vector<StateKind>(in_image()),
                      .priorities = *std::move(priorities),
                      .estimates_min = *std::move(estimates),
                      .created_unix_ms = *std::move(created),
                      .first = std::vector<std::uint32_t>(row_ends->size() + 1),
                      .depends_on = *std::move(depends_on)};
  std::ranges::copy(*row_ends, columns.first.begin() + 1);
  const bool whole =
      states->size() == in_image() && columns.priorities.size() == in_image() &&
      columns.estimates_min.size() == in_image() && columns.created_unix_ms.size() == in_image() &&
      columns.first.size() == in_image() + std::size_t{1} &&
      columns.first.back() == columns.depends_on.size() && std::ranges::is_sorted(columns.first);
  const auto known = [&](std::uint32_t item) { return item < in_image() || item == kNoItem; };
  if (!whole || !std::ranges::all_of(columns.depends_on, known)) return fail(damaged_catalog());
  for (std::uint32_t i = 0; i < in_image(); ++i) {
    if ((*states)[i] >= kind_of.size()) return fail(damaged_catalog());
    columns.kinds[i] = kind_of[(*states)[i]];
  }
  return columns;
}

// Rows of other lengths cannot be put in place, so the lists are laid out anew.
Done Catalog::lay_rows(ItemColumns& columns) const {
  std::vector<const Item*> over(size(), nullptr);
  std::vector<bool> replaced(size(), false);
  for (const auto& [id, entry] : over_) {
    replaced[entry.number] = true;
    over[entry.number] = entry.card ? &*entry.card : nullptr;
  }
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> depends_on;
  first.reserve(size() + std::size_t{1});
  depends_on.reserve(columns.depends_on.size() + over_.size());
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (!replaced[i]) {
      depends_on.insert(depends_on.end(), columns.depends_on.begin() + columns.first[i],
                        columns.depends_on.begin() + columns.first[i + 1]);
    } else if (over[i] != nullptr) {
      for (const ItemId& id : over[i]->depends_on) {
        const Result<std::optional<std::uint32_t>> number = find(id.text);
        if (!number) return fail(number.error());
        depends_on.push_back(number->value_or(kNoItem));
      }
    }
    first.push_back(static_cast<std::uint32_t>(depends_on.size()));
  }
  columns.first = std::move(first);
  columns.depends_on = std::move(depends_on);
  return {};
}

Result<const ItemColumns*> Catalog::columns() const {
  if (columns_) return &*columns_;
  Result<ItemColumns> columns = image_columns();
  if (!columns) return fail(columns.error());
  if (!over_.empty()) {
    std::map<std::string, std::uint32_t, std::less<>> come;
    std::vector<std::uint32_t> gone;
    for (const auto& [id, entry] : over_) {
      if (!entry.card) gone.push_back(entry.number);
      if (entry.card && entry.number >= in_image()) come.emplace(id, entry.number);
      put_over(*columns, entry.number, entry.card ? &*entry.card : nullptr, *workflow_);
    }
    if (!come.empty() || !gone.empty()) {
      relink(columns->depends_on, texts(Part::dangling), come, gone);
    }
    if (Done laid = lay_rows(*columns); !laid) return fail(laid.error());
  }
  columns_ = *std::move(columns);
  return &*columns_;
}

}  // namespace dibs
