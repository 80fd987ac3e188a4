#include "verbs/field.h"

#include <fmt/core.h>

#include <algorithm>

#include "model/held_globs.h"
#include "verbs/item_view.h"

namespace dibs::verbs {

Done Field::open() {
  Result<Catalog::ReadyOrder> order = catalog_.ready_order();
  if (!order) return fail(order.error());
  order_ = *std::move(order);
  const Result<const ItemColumns*> columns = catalog_.columns();
  if (!columns) return fail(columns.error());
  columns_ = *columns;
  return {};
}

Result<Choice> Field::choose(const std::vector<Worker>& workers, const Schedule& schedule) {
  weighs_ = !workers.empty();
  const Candidates candidates{
      .order = order_.items,
      .columns = {.priority = columns_->priorities,
                  .path_length = order_.path_lengths,
                  .estimate_min = columns_->estimates_min,
                  .created_unix_ms = columns_->created_unix_ms},
      .is_taken = [this](ItemNumber item) { return is_taken(item); },
      .asked = [this](ItemNumber item, WorkerNumber worker) { return asked(item, worker); },
      .overlaps = [this](ItemNumber item) { return overlaps(item); },
      .window = weighs_ ? kWindow : kRunnersUpMax + 1};
  const std::vector<Worker> asking = weighs_ ? workers : std::vector<Worker>(1);
  Choice choice = dibs::choose(candidates, asking, schedule,
                               {.now_unix_ms = workspace_.system().clock.now().unix_ms,
                                .chance = workspace_.system().random.below(UINT32_MAX)});
  if (problem_) return fail(*problem_);
  return choice;
}

bool Field::is_close() {
  std::optional<ItemNumber> best;
  for (const ItemNumber item : order_.items) {
    if (is_taken(item)) continue;
    if (best) return columns_->priorities[*best] == columns_->priorities[item];
    best = item;
  }
  return false;
}

Done Field::know_files_of(WorkerNumber worker, const std::vector<ItemNumber>& items) {
  std::vector<std::string_view>& known = known_globs_[worker];
  for (const ItemNumber item : items) {
    const Result<std::vector<std::string_view>> files = catalog_.files(item);
    if (!files) return fail(files.error());
    known.insert(known.end(), files->begin(), files->end());
  }
  return {};
}

bool Field::is_taken(ItemNumber item) {
  const auto known = taken_.find(item);
  if (known != taken_.end()) return known->second;
  look_ahead(item);
  return taken_[item];
}

// One question to the store for the next few; more of them when many of the best are held.
void Field::look_ahead(ItemNumber item) {
  const auto at = std::ranges::find(order_.items, item);
  std::vector<std::uint32_t> numbers;
  for (auto next = at; next != order_.items.end() && numbers.size() < look_; ++next) {
    if (!taken_.contains(*next)) numbers.push_back(*next);
  }
  look_ *= 2;
  const Taken held = noted(taken_of(workspace_, catalog_, numbers, 0), Taken{});
  for (const std::uint32_t number : numbers) {
    const std::string id = noted(catalog_.id(number), std::string());
    taken_[number] = is_unwanted(number) || held.contains(id);
  }
}

bool Field::is_unwanted(ItemNumber item) {
  if (labels_.empty()) return false;
  const Catalog::Words words = noted(catalog_.words(item), Catalog::Words{});
  return std::ranges::any_of(labels_, [&](const std::string& label) {
    return std::ranges::find(words.labels, label) == words.labels.end();
  });
}

// Where workers are alike, nothing about an item can speak for one of them.
Asked Field::asked(ItemNumber item, WorkerNumber worker) {
  if (!weighs_) return {};
  const Catalog::Words words = noted(catalog_.words(item), Catalog::Words{});
  return {.type = words.type,
          .needs = needs_of(words.labels),
          .same_files = touches_known_files(item, worker)};
}

bool Field::touches_known_files(ItemNumber item, WorkerNumber worker) {
  const auto known = known_globs_.find(worker);
  if (known == known_globs_.end() || known->second.empty()) return false;
  const std::optional<GlobSet> wanted = globs_of(item);
  return wanted && first_overlap(known->second, *wanted).has_value();
}

// Nothing when it names no files, or nobody can say what it means.
std::optional<GlobSet> Field::globs_of(ItemNumber item) {
  const auto files = noted(catalog_.files(item), std::vector<std::string_view>());
  if (files.empty()) return std::nullopt;
  Result<GlobSet> globs = GlobSet::parse(std::vector<std::string>(files.begin(), files.end()));
  return globs ? std::optional(*std::move(globs)) : std::nullopt;
}

std::optional<std::string> Field::overlaps(ItemNumber item) {
  const std::optional<GlobSet> wanted = globs_of(item);
  if (!wanted) return std::nullopt;
  learn_held();
  std::vector<std::string_view> texts;
  for (const HeldGlob& held : *held_) texts.push_back(held.glob);
  for (std::size_t from = 0; from < texts.size();) {
    const std::optional<HeldOverlap> found = first_overlap(texts, *wanted, from);
    if (!found) return std::nullopt;
    const HeldGlob& held = (*held_)[found->index];
    if (const std::optional<std::string> agent = holder_of(held.item))
      return fmt::format("{} ({}, held by {})",
                         found->overlap.path.value_or(std::string(held.glob)), held.item, *agent);
    from = found->index + 1;
  }
  return std::nullopt;
}

// What the items that somebody works on say they touch. Whether a lease has ended is asked of
// those alone that matter: reading one costs more than all globs together.
void Field::learn_held() {
  if (held_) return;
  held_.emplace();
  const Result<Ledger*> ledger = workspace_.ledger();
  if (!ledger) return;
  const View view = noted((*ledger)->store().read(Selection::everything()), View{});
  for (const Record& record : view.records) {
    const std::optional<Resource> resource = resource_of(record.key);
    if (!resource || resource->kind != ResourceKind::item) continue;
    const auto number = noted(catalog_.find(resource->name), std::optional<std::uint32_t>());
    if (!number) continue;
    for (const std::string_view glob :
         noted(catalog_.files(*number), std::vector<std::string_view>()))
      held_->push_back({.glob = glob, .item = resource->name});
  }
}

std::optional<std::string> Field::holder_of(const std::string& item) {
  const auto leases = noted(held_among(workspace_, {{"item:" + item}}), std::vector<ListedLease>());
  if (leases.empty()) return std::nullopt;
  return leases.front().lease.agent.text;
}

}  // namespace dibs::verbs
