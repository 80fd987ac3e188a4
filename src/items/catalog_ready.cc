// What can be taken, best first: as the image has it, or with a few changes over it.
#include <algorithm>
#include <map>
#include <set>

#include "items/catalog.h"
#include "items/catalog_parts.h"
#include "rules/ready_order.h"

namespace dibs {

namespace {

constexpr std::size_t kFewChanges = 64;

/// A part of an image as numbers, wherever it lies.
template <class T>
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size() / sizeof(T); }
  [[nodiscard]] T operator[](std::size_t at) const {
    T value{};
    std::memcpy(&value, bytes_.data() + at * sizeof(T), sizeof(T));
    return value;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

/// The answer of an image, mended where a few items have changed since.
///
/// What the image says of the others holds as long as no path behind an unfinished item has become
/// longer or shorter: as long as nobody's dependencies have changed, and whatever was finished or
/// came since waits for nothing unfinished. Then only the changed ones, and those that waited for
/// what is done now, can have become ready or ceased to be.
class Catalog::FewChanges {
 public:
  explicit FewChanges(const Catalog& catalog)
      : catalog_(catalog),
        states_(catalog.part(Part::states)),
        priorities_(catalog.part(Part::priorities)),
        estimates_(catalog.part(Part::estimates)),
        created_(catalog.part(Part::created)),
        row_ends_(catalog.part(Part::row_ends)),
        depends_on_(catalog.part(Part::depends_on)),
        ready_(catalog.part(Part::ready)),
        path_lengths_(catalog.part(Part::path_lengths)) {}

  // Nothing when the others have to be looked at too, or the image is damaged.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> ready(std::size_t most) {
    if (!is_sound() || !note_changes() || !holds_for_others()) return std::nullopt;
    note_who_waited();
    return merged(most);
  }

 private:
  struct Changed {
    const Item* card = nullptr;
    std::vector<std::uint32_t> depends_on;
  };

  [[nodiscard]] std::size_t items() const { return catalog_.in_image(); }

  [[nodiscard]] bool is_sound() {
    for (const std::string& name : catalog_.texts(Part::state_names))
      kinds_.push_back(catalog_.workflow_->kind_of(name));
    for (const std::size_t size : {states_.size(), priorities_.size(), estimates_.size(),
                                   created_.size(), row_ends_.size(), path_lengths_.size()})
      if (size != items()) return false;
    return true;
  }

  // False when one is gone, or depends on what is not there.
  [[nodiscard]] bool note_changes() {
    for (const auto& [id, over] : catalog_.over_) {
      if (!over.card) return false;
      Changed changed{.card = &*over.card, .depends_on = {}};
      for (const ItemId& needed : over.card->depends_on) {
        const auto number = catalog_.find(needed.text);
        if (!number || !number->has_value()) return false;
        changed.depends_on.push_back(**number);
      }
      changed_.emplace(over.number, std::move(changed));
    }
    return true;
  }

  [[nodiscard]] bool holds_for_others() {
    return std::ranges::all_of(changed_, [&](const auto& entry) {
      const auto& [number, changed] = entry;
      return number < items() ? was_only_edited_or_done(number, changed)
                              : is_only_new(number, changed);
    });
  }

  [[nodiscard]] bool was_only_edited_or_done(std::uint32_t number, const Changed& changed) {
    if (row(number) != changed.depends_on) return false;
    const std::optional<StateKind> before = kind_in_image(number);
    const StateKind now = catalog_.workflow_->kind_of(changed.card->state);
    if (!before) return false;
    if (*before == now || (!is_finished(*before) && !is_finished(now))) return true;
    if (is_finished(*before) || now != StateKind::done || !waits_for_nothing(changed)) return false;
    done_.insert(number);
    return true;
  }

  // That nobody has waited for it yet is known by the ids that no item had.
  [[nodiscard]] bool is_only_new(std::uint32_t number, const Changed& changed) const {
    const std::vector<std::string> awaited = catalog_.texts(Part::dangling);
    if (std::ranges::find(awaited, changed.card->id.text) != awaited.end()) return false;
    const bool among_changed = std::ranges::any_of(changed_, [&](const auto& entry) {
      return std::ranges::find(entry.second.depends_on, number) != entry.second.depends_on.end();
    });
    return !among_changed && (is_finished(*kind_of(number)) || waits_for_nothing(changed));
  }

  [[nodiscard]] bool waits_for_nothing(const Changed& changed) const {
    return std::ranges::all_of(changed.depends_on, [&](std::uint32_t needed) {
      const std::optional<StateKind> kind = kind_of(needed);
      return kind && is_finished(*kind);
    });
  }

  [[nodiscard]] std::optional<StateKind> kind_in_image(std::uint32_t item) const {
    const bool known = item < items() && states_[item] < kinds_.size();
    return known ? std::optional(kinds_[states_[item]]) : std::nullopt;
  }
  [[nodiscard]] std::optional<StateKind> kind_of(std::uint32_t item) const {
    const auto changed = changed_.find(item);
    if (changed == changed_.end()) return kind_in_image(item);
    return catalog_.workflow_->kind_of(changed->second.card->state);
  }

  [[nodiscard]] std::optional<std::vector<std::uint32_t>> row(std::uint32_t item) const {
    const std::size_t from = item == 0 ? 0 : row_ends_[item - 1];
    const std::size_t to = row_ends_[item];
    if (from > to || to > depends_on_.size()) return std::nullopt;
    std::vector<std::uint32_t> numbers;
    for (std::size_t at = from; at < to; ++at) numbers.push_back(depends_on_[at]);
    return numbers;
  }

  // Looks at every dependency there is, because an image has them one way only.
  void note_who_waited() {
    if (done_.empty()) return;
    std::vector<std::uint8_t> is_done(items());
    for (const std::uint32_t item : done_) is_done[item] = 1;
    std::uint32_t item = 0;
    for (std::size_t at = 0; at < depends_on_.size(); ++at) {
      const std::uint32_t needed = depends_on_[at];
      if (needed >= items() || is_done[needed] == 0) continue;
      while (item < items() && row_ends_[item] <= at) ++item;
      if (item < items()) waited_.insert(item);
    }
  }

  [[nodiscard]] bool is_touched(std::uint32_t item) const {
    return changed_.contains(item) || waited_.contains(item);
  }

  [[nodiscard]] bool is_ready(std::uint32_t item) const {
    if (kind_of(item) != StateKind::open) return false;
    const auto changed = changed_.find(item);
    const auto needs = changed == changed_.end() ? row(item) : changed->second.depends_on;
    return needs && std::ranges::all_of(*needs, [&](std::uint32_t needed) {
             return kind_of(needed) == StateKind::done;
           });
  }

  [[nodiscard]] Rank rank(std::uint32_t item) const {
    const auto changed = changed_.find(item);
    const std::uint32_t path_length = item < items() ? path_lengths_[item] : 0;
    if (changed == changed_.end())
      return rank_of({.priority = priorities_[item],
                      .path_length = path_length,
                      .estimate_min = estimates_[item],
                      .created_unix_ms = created_[item]},
                     item);
    const Item& card = *changed->second.card;
    return rank_of({.priority = static_cast<std::uint8_t>(card.priority),
                    .path_length = path_length,
                    .estimate_min = static_cast<std::uint32_t>(card.estimate_min.value_or(0)),
                    .created_unix_ms = card.created_unix_ms},
                   item);
  }

  [[nodiscard]] std::vector<Rank> ranks_of_touched() const {
    std::vector<Rank> ranks;
    for (const auto& [item, changed] : changed_)
      if (is_ready(item)) ranks.push_back(rank(item));
    for (const std::uint32_t item : waited_)
      if (!changed_.contains(item) && is_ready(item)) ranks.push_back(rank(item));
    std::ranges::sort(ranks);
    return ranks;
  }

  [[nodiscard]] std::optional<std::vector<std::uint32_t>> merged(std::size_t most) const {
    const std::vector<Rank> touched = ranks_of_touched();
    std::vector<std::uint32_t> all;
    auto next = touched.begin();
    for (std::size_t at = 0; at < ready_.size() && all.size() < most; ++at) {
      const std::uint32_t item = ready_[at];
      if (item >= items()) return std::nullopt;
      if (is_touched(item)) continue;
      const Rank ranked = rank(item);
      for (; next != touched.end() && *next < ranked; ++next) all.push_back(next->item);
      all.push_back(item);
    }
    for (; next != touched.end(); ++next) all.push_back(next->item);
    all.resize(std::min(all.size(), most));
    return all;
  }

  const Catalog& catalog_;
  Numbers<std::uint8_t> states_;
  Numbers<std::uint8_t> priorities_;
  Numbers<std::uint32_t> estimates_;
  Numbers<std::int64_t> created_;
  Numbers<std::uint32_t> row_ends_;
  Numbers<std::uint32_t> depends_on_;
  Numbers<std::uint32_t> ready_;
  Numbers<std::uint32_t> path_lengths_;
  std::vector<StateKind> kinds_;  // of the image's states
  std::map<std::uint32_t, Changed> changed_;
  std::set<std::uint32_t> done_;    // since
  std::set<std::uint32_t> waited_;  // for one of those
};

// The states are taken for what they were when the image was made.
bool Catalog::means_the_same() const { return table_.workflow == fingerprint(*workflow_); }

Result<std::vector<std::uint32_t>> Catalog::ready(std::size_t most) const {
  if (means_the_same() && over_.empty()) return column<std::uint32_t>(Part::ready, most);
  if (means_the_same() && over_.size() <= kFewChanges) {
    if (auto items = FewChanges(*this).ready(most)) return *std::move(items);
  }
  const Result<const ItemColumns*> columns = this->columns();
  if (!columns) return fail(columns.error());
  return ready_items(**columns, standings_of(**columns), most);
}

Result<Catalog::ReadyOrder> Catalog::ready_order() const {
  if (means_the_same() && over_.size() <= kFewChanges) {
    const Result<std::vector<std::uint32_t>> lengths = column<std::uint32_t>(Part::path_lengths);
    auto items = FewChanges(*this).ready(SIZE_MAX);
    if (lengths && items) {
      ReadyOrder order{.items = *std::move(items), .path_lengths = *lengths};
      order.path_lengths.resize(size());  // behind what came since, nothing waits
      return order;
    }
  }
  const Result<const ItemColumns*> columns = this->columns();
  if (!columns) return fail(columns.error());
  Standings standings = standings_of(**columns);
  std::vector<std::uint32_t> items = ready_items(**columns, standings, size());
  return ReadyOrder{.items = std::move(items), .path_lengths = std::move(standings.path_lengths)};
}

}  // namespace dibs
